// Makes frontend/dist from the compiled dashboard: splits the WASM, puts the page together, gives each file a name with
// its hash, and compresses it. Run by scripts/frontend.sh.
//
//   node scripts/dist.mjs COMPILED.wasm DIST [--dev]      (--dev: neither shrinks nor compresses)
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { split } from "./split.mjs";

const [compiled, dist, mode] = process.argv.slice(2);
const isDev = mode === "--dev";
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = (name) => readFileSync(join(root, name), "utf8");
const staging = `${dist}.new`;

/** `text` with `old` replaced, which has to be there. */
function put(text, old, now) {
  if (!text.includes(old)) throw new Error(`what should be replaced is not there: ${old}`);
  return text.replaceAll(old, () => now);
}

/** CSS without its comments and indentation. */
const plainCss = (css) => css.replace(/\/\*.*?\*\//gs, "").replace(/\s*\n\s*/g, "\n");

/** A script of ours or of wasm-bindgen without the lines that are comments, and without indentation. */
const plainJs = (js) => js.replace(/^\s*(\/\/|\/\*|\*).*\n/gm, "").replace(/^\s+/gm, "");

/** Writes a file, and beside it what a browser gets of it. */
function write(name, bytes) {
  writeFileSync(join(staging, name), bytes);
  if (isDev) return;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  writeFileSync(join(staging, `${name}.br`), brotliCompressSync(bytes, { params }));
}

/** Writes a file under a name that changes with its bytes, so that a browser may keep it for ever. Returns the name. */
function writeHashed(stem, ending, bytes) {
  const name = `${stem}-${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}.${ending}`;
  write(name, Buffer.from(bytes));
  return name;
}

/** The bindings, with the loader of parts in the place of the import that asks for it. */
function script({ bindings, canary, parts }, table) {
  const asks = /^import \* as import\d+ from "\.\/__wasm_split\.js";?\n/gm;
  if (!asks.test(bindings)) throw new Error("the bindings do not import the loader of parts");
  let loader = put(source("frontend/parts.js"), "const PARTS = {};", `const PARTS = ${JSON.stringify(table)};`);
  if (isDev) loader = put(loader, "{ shared }", `{ __wasm_split: { ...shared, ${canary}: ~0xdead } }`);
  const loaders = parts.map((part) => `__wasm_split_load_${part}: partLoader("${part}")`);
  loader += `\nconst partLoaders = { ${loaders.join(", ")} };\n`;
  return loader + bindings.replace(asks, "").replace(/("\.\/__wasm_split\.js"): import\d+/g, "$1: partLoaders");
}

rmSync(staging, { recursive: true, force: true });
mkdirSync(staging, { recursive: true });
const dir = mkdtempSync(join(tmpdir(), "skillopt-dist-"));
try {
  const built = await split(compiled, dir, isDev);
  const table = Object.fromEntries(built.parts.toSorted().map((part) => [part, []]));
  for (const { stem, users, bytes } of built.files) {
    const name = writeHashed(stem, "wasm", bytes);
    for (const part of users) table[part].push(name);
  }
  let page = source("frontend/index.html");
  page = put(page, "skillopt.wasm", writeHashed("skillopt", "wasm", built.first));
  page = put(page, "skillopt.js", writeHashed("skillopt", "js", plainJs(script(built, table))));
  page = put(page, "boot.js", writeHashed("boot", "js", plainJs(source("frontend/boot.js"))));
  page = put(page, "style.css", writeHashed("style", "css", plainCss(source("frontend/generated.css"))));
  page = put(page, "/favicon.svg", `data:image/svg+xml,${encodeURIComponent(source("frontend/favicon.svg").trim())}`);
  page = put(page, "<!-- icons -->", source("style/icons.svg"));
  write("index.html", Buffer.from(page));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
rmSync(dist, { recursive: true, force: true });
renameSync(staging, dist);
