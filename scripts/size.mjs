// Prints what the dashboard weighs on the wire, file by file and page by page, and fails if a page is over its budget.
//
//   node scripts/size.mjs DIST
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BESIDE } from "./beside.mjs";

const dist = process.argv[2];
// What opening a page may load, whichever page is opened first.
const BUDGET = 300_000;

if (!existsSync(join(dist, "index.html"))) {
  console.error("error: no dashboard in frontend/dist: build it first (make frontend)");
  process.exit(1);
}
const names = readdirSync(dist).filter((name) => !name.endsWith(".br"));
const sent = new Map(
  names.map((name) => {
    const file = [`${name}.br`, name].map((one) => join(dist, one)).find(existsSync);
    return [name, statSync(file).size];
  }),
);
const kb = (bytes) => `${(bytes / 1000).toFixed(1).padStart(7)} kB`;
const sum = (files) => [...files].reduce((total, name) => total + sent.get(name), 0);

for (const name of names.toSorted()) console.log(`${kb(sent.get(name))}  ${kb(statSync(join(dist, name)).size)} raw  ${name}`);

const script = names.find((name) => /^skillopt-\w+\.js$/.test(name));
const parts = JSON.parse(readFileSync(join(dist, script), "utf8").match(/^const PARTS = (\{.*\});/m)[1]);
const later = new Set(Object.values(parts).flat());
const first = names.filter((name) => !later.has(name));
const withParents = (part) => Object.keys(parts).filter((other) => part === other || part.startsWith(`${other}_`));
const filesOf = (part) => new Set(withParents(part).flatMap((one) => parts[one]));

console.log(`\n${kb(sum(first))}  ${String(first.length).padStart(2)} files  what every page loads`);
let over = 0;
for (const part of Object.keys(parts)) {
  const more = filesOf(part);
  if (BESIDE.has(part)) continue;
  const weight = sum(first) + sum(more);
  over += weight > BUDGET ? 1 : 0;
  const word = weight > BUDGET ? "  OVER THE BUDGET" : "";
  console.log(`${kb(weight)}  ${String(first.length + more.size).padStart(2)} files  page ${part}${word}`);
}
// A run that goes on needs more on each of its tabs. No budget holds it, but it should not grow unseen.
const live = Object.keys(parts).filter((part) => part.startsWith("run_") && !BESIDE.has(part));
const heaviest = Math.max(...live.map((part) => sum(first) + sum(new Set([...filesOf(part), ...filesOf("run_live")]))));
console.log(`${kb(heaviest)}            the heaviest tab of a run that goes on`);
for (const [part, when] of BESIDE) {
  if (!parts[part]) throw new Error(`scripts/beside.mjs names the part ${part}, which is not there`);
  if (part === "run") continue;
  const parents = new Set(withParents(part).filter((one) => one !== part).flatMap((one) => parts[one]));
  const more = parts[part].filter((name) => !parents.has(name));
  console.log(`${kb(sum(more))}  ${String(more.length).padStart(2)} files  more for ${part}: ${when}`);
}
console.log(`dashboard: ${kb(sum(names)).trim()} in brotli in all; ${over} pages over the budget of ${BUDGET / 1000} kB a page`);
if (over > 0) {
  console.error(`error: ${over} pages are over ${BUDGET / 1000} kB; "A light page" in ARCHITECTURE.md says what to do`);
  process.exit(1);
}
