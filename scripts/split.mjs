// Splits the compiled dashboard into a first module and files that are fetched when a part is shown. Used by dist.mjs.
//
// wasm-split-cli cuts at the functions marked `wasm_split` and makes one module for each set of parts that share
// something: hundreds of small ones. Here they are joined into few files, so that a page asks for little, and seldom.
import { execFile } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { BESIDE } from "./beside.mjs";
import { CODE, DATA, renameImports, sections } from "./wasm.mjs";

// What a request is worth, in bytes of a module before it is shrunk: so much more may a page load to save one. The tabs
// of a page are near the budget and have less to spare.
const REQUEST_BYTES = { page: 7_000, inner: 850 };
// What a page loads counts the more the heavier the page is, with this power: heavy ones are near the budget.
const EMPHASIS = 5.5;
// How much counts what is loaded by a part beside a page; what follows a run that goes on comes with the page.
const BESIDE_SHARE = 0.1;
const LIVE_SHARE = 0.5;
const FEATURES = ["bulk-memory", "mutable-globals", "multivalue", "nontrapping-float-to-int", "reference-types", "sign-ext"].map(
  (feature) => `--enable-${feature}`,
);
// No address that code counts from lies in the first kilobyte: that is the far end of the stack.
const SHRINK = ["-Oz", "--low-memory-unused", "--strip-debug", "--strip-producers", "--strip-target-features"];
const FIRST = "first";
const LINK = "__wasm_split.js";
// Where the modules of parts import memory, table and stack pointer from.
const SHARED = "__wasm_split";

const run = promisify(execFile);

/** The bindings of the first module, the names of all parts, and the modules with the parts that need them. */
async function cut(compiled, dir) {
  await run("wasm-split-cli", [compiled, dir, "--out-name", FIRST]);
  const link = readFileSync(join(dir, LINK), "utf8");
  const bind = ["--target=web", "--keep-lld-exports", "--no-demangle", "--no-typescript"];
  await run("wasm-bindgen", [...bind, `--out-name=${FIRST}`, `--out-dir=${dir}`, join(dir, `${FIRST}.wasm`)]);
  const parts = [...link.matchAll(/^export const __wasm_split_load_(\w+) /gm)].map(([, name]) => name);
  const sharers = new Map();
  for (const [, names, number] of link.matchAll(/^\/\* (.+) \*\/\nconst __chunk_(\d+) /gm)) {
    sharers.set(`chunk_${number}`, names.split(", "));
  }
  const modules = readdirSync(dir).flatMap((file) => {
    const [, name, part] = file.match(/^(chunk_\d+|split_(\w+))\.wasm$/) ?? [];
    if (!name) return [];
    const users = part ? [part] : sharers.get(name);
    if (!users?.every((user) => parts.includes(user))) throw new Error(`wasm-split-cli does not say which part needs ${file}`);
    return [{ name, users: new Set(users), weight: weightOf(readFileSync(join(dir, file))) }];
  });
  return {
    bindings: shorten(dir, readFileSync(join(dir, `${FIRST}.js`), "utf8")),
    // In a debug build modules check with it that they belong together.
    canary: link.match(/__canary_\w+/)?.[0],
    parts,
    modules,
  };
}

/** How many bytes of a module are code and data. The rest, most of it imports, is shared or gone once modules are joined. */
function weightOf(bytes) {
  const weighty = sections(bytes).filter(({ kind }) => kind === CODE || kind === DATA);
  return Math.max(weighty.reduce((sum, { body }) => sum + body.length, 0), 1);
}

/**
 * The first module and its bindings with short names for what the one imports from the other: the 16 digits that
 * wasm-bindgen adds to each cannot be compressed, and stand in both.
 */
function shorten(dir, bindings) {
  const file = join(dir, `${FIRST}_bg.wasm`);
  const short = new Map();
  for (const [long, plain] of bindings.matchAll(/\b(__wbg_\w+_)[0-9a-f]{16}\b/g)) {
    if (!short.has(long)) short.set(long, `${plain}${short.size.toString(36)}`);
  }
  writeFileSync(file, renameImports(readFileSync(file), `./${FIRST}_bg.js`, (name) => short.get(name) ?? name));
  return bindings.replace(/\b__wbg_\w+_[0-9a-f]{16}\b/g, (long) => short.get(long));
}

/**
 * Which modules become one file. Again and again those two files are joined where it costs least: what parts then load
 * without needing it, less what a request is worth to each part that loads both. All parts load the first file.
 */
function group(parts, modules) {
  // A part whose name begins with that of another, as run_steps, is shown inside of that one.
  const parent = (part) => parts.filter((other) => part.startsWith(`${other}_`)).toSorted((a, b) => b.length - a.length)[0];
  const withParents = (part) => (part ? [part, ...withParents(parent(part))] : []);
  const sumOf = (modules) => modules.reduce((sum, module) => sum + module.weight, 0);
  const file = (isFirst, users, modules) => ({
    isFirst,
    users,
    modules,
    loads: parts.map((part) => isFirst || withParents(part).some((one) => users.has(one))),
    weight: sumOf(modules),
  });
  const besideShare = (part) => (part === "run_live" ? LIVE_SHARE : BESIDE_SHARE);
  const prices = parts.map((part) => (parent(part) ? REQUEST_BYTES.inner : REQUEST_BYTES.page) * (BESIDE.has(part) ? besideShare(part) : 1));
  const needs = parts.map((part) => sumOf(modules.filter((module) => withParents(part).some((one) => module.users.has(one)))));
  const heaviest = Math.max(...needs.filter((_, at) => !BESIDE.has(parts[at])));
  const shares = parts.map((part, at) => (BESIDE.has(part) ? besideShare(part) : (needs[at] / heaviest) ** EMPHASIS));
  const cost = (a, b) => {
    let sum = 0;
    for (let at = 0; at < parts.length; at++) {
      if (a.loads[at] && b.loads[at]) sum -= prices[at];
      else if (a.loads[at]) sum += b.weight * shares[at];
      else if (b.loads[at]) sum += a.weight * shares[at];
    }
    return sum;
  };
  const joined = (a, b) => file(a.isFirst, new Set([...a.users, ...b.users]), [...a.modules, ...b.modules]);
  // What the same parts load is one file at no cost.
  const same = new Map();
  for (const one of modules.map((module) => file(false, module.users, [module]))) {
    const key = one.loads.join();
    same.set(key, same.has(key) ? joined(same.get(key), one) : one);
  }
  const files = [file(true, new Set(), []), ...same.values()];
  const costs = files.map((a) => files.map((b) => (a === b ? 0 : cost(a, b))));
  for (;;) {
    let [least, at, other] = [0, -1, -1];
    for (let a = 0; a < files.length; a++) {
      for (let b = a + 1; b < files.length; b++) if (costs[a][b] < least) [least, at, other] = [costs[a][b], a, b];
    }
    if (at < 0) return files;
    files[at] = joined(files[at], files[other]);
    for (const rows of [files, costs, ...costs]) rows.splice(other, 1);
    for (let b = 0; b < files.length; b++) costs[at][b] = costs[b][at] = b === at ? 0 : cost(files[at], files[b]);
  }
}

/** A module that hands on what the modules of parts import, so that joined modules import it once. */
async function makeHub(dir, modules) {
  const importsOf = ({ name }) => WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(join(dir, `${name}.wasm`))));
  const [biggest] = modules.toSorted((a, b) => b.weight - a.weight);
  const known = new Set(importsOf(biggest).map(({ name }) => name));
  const odd = modules.find((module) => importsOf(module).some(({ module: from, name }) => from !== SHARED || !known.has(name)));
  if (odd) throw new Error(`${odd.name} imports something else than the other modules of parts`);
  const { stdout } = await run("wasm-dis", [...FEATURES, join(dir, `${biggest.name}.wasm`)], { maxBuffer: 2 ** 30 });
  const hub = [...stdout.matchAll(/^ \(import "\w+" ("\w+") \((\w+) (\S+) .+\)\)$/gm)].map(
    ([line, name, kind, id]) => `${line}\n (export ${name} (${kind} ${id}))`,
  );
  if (hub.length !== known.size) throw new Error("wasm-dis writes imports in another form than expected");
  writeFileSync(join(dir, "hub.wat"), `(module\n${hub.join("\n").replaceAll(`"${SHARED}"`, '"shared"')}\n)\n`);
  await run("wasm-as", [...FEATURES, join(dir, "hub.wat"), "-o", join(dir, "hub.wasm")]);
}

/** One module of all modules of a file, as small as can be. */
async function joinModules(dir, file, number) {
  const at = (name) => join(dir, `${name}.wasm`);
  const base = file.isFirst ? `${FIRST}_bg` : "hub";
  const others = file.modules.flatMap(({ name }) => [at(name), name]);
  // Validity is looked at before the memories have become one.
  if (others.length > 0) await run("wasm-merge", [...FEATURES, "--enable-multimemory", at(base), SHARED, ...others, "-o", at(`joined_${number}`)]);
  const joined = others.length > 0 ? at(`joined_${number}`) : at(base);
  await run("wasm-opt", [...FEATURES, ...SHRINK, joined, "-o", at(`small_${number}`)]);
  return readFileSync(at(`small_${number}`));
}

/** Runs `work` on every item, on as many at once as there are processors. */
async function eachAtOnce(items, work) {
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/**
 * Splits `compiled`, working in the folder `dir`. Returns the bindings, the first module's bytes, and the files: each
 * with a stem for its name, its bytes, and the parts that need it. With `isDev` nothing is joined or shrunk: quick.
 */
export async function split(compiled, dir, isDev) {
  const { bindings, canary, parts, modules } = await cut(compiled, dir);
  if (isDev) {
    const bytesOf = (name) => readFileSync(join(dir, `${name}.wasm`));
    const files = modules.map(({ name, users }) => ({ stem: name, users, bytes: bytesOf(name) }));
    return { bindings, canary, parts, first: bytesOf(`${FIRST}_bg`), files };
  }
  await makeHub(dir, modules);
  const files = group(parts, modules);
  await eachAtOnce(files, async (file, number) => {
    file.bytes = await joinModules(dir, file, number);
    // Named after the part whose own code it holds, if there is one.
    const own = file.modules.filter(({ name }) => name.startsWith("split_"));
    file.stem = own.length === 1 ? own[0].name.slice("split_".length) : `shared_${number}`;
  });
  return { bindings, canary, parts, first: files.find((file) => file.isFirst).bytes, files: files.filter((file) => !file.isFirst) };
}
