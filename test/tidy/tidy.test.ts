/**
 * The repository obeys its own rules (test/tidy/rules.ts), and the checker can see a breach: each rule is shown
 * an example that it must refuse and one that it must let pass.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findCircles, importFaults, ROOMS } from "./imports.ts";
import { ambiguousNames, unimportedExports } from "./names.ts";
import { decisionFaults, faultsOf, RULES, type SourceFile, undecidedDependencies } from "./rules.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const FOLDERS = ["src", "test", "bench", "bin", "scripts", "docs", "python", "agents"];

function filesUnder(folder: string): SourceFile[] {
  if (!existsSync(root + folder)) return [];
  return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return /^(node_modules|dist|output|__pycache__)$/.test(entry.name) ? [] : filesUnder(path);
    return [{ path, text: readFileSync(root + path, "utf8") }];
  });
}

function read(path: string): SourceFile {
  return { path, text: readFileSync(root + path, "utf8") };
}

// What a link leads to counts: in a copy of the repository for a fault the large folders are links.
const atRoot = readdirSync(root)
  .filter((name) => !statSync(root + name).isDirectory())
  .map(read);
const files = [...FOLDERS.flatMap(filesUnder), ...atRoot];

for (const rule of RULES) {
  test(`tidy: ${rule.name}`, () => {
    const faults = files.flatMap((file) => faultsOf(rule, file));
    assert.deepEqual(faults, [], `\n${faults.join("\n")}`);
  });
}

const decisions = files.filter(({ path }) => path.startsWith("docs/decisions/"));

test("tidy: every decision page has a status, a date and the next number, is in the index, and is superseded only by a page that exists", () => {
  const faults = decisionFaults(decisions);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}`);
});

test("tidy: docs/ARCHITECTURE.md shows the import table", () => {
  const shown = new Map<string, string>();
  for (const row of read("docs/ARCHITECTURE.md").text.matchAll(/^\| (`(?:src|bench).*?) \|.*\| (.*) \|$/gm)) {
    for (const [, name] of row[1].matchAll(/`(?:src\/)?([^`]+?)(?:\.ts|\/)?`/g)) shown.set(name, row[2]);
  }
  const table = Object.entries(ROOMS).map(([name, { rooms }]) => {
    const names = rooms.join(", ").replace("store/*", "store");
    return [name, names === "" ? "nothing" : names] as const;
  });
  assert.deepEqual(shown, new Map(table));
});

test("tidy: no files import each other in a circle", () => {
  assert.deepEqual(findCircles(files), []);
  const circle = [
    { path: "src/a/one.ts", text: 'import { two } from "./two.ts";' },
    { path: "src/a/two.ts", text: 'import type { Three } from "../b/three.ts";' },
    { path: "src/b/three.ts", text: 'import { one } from "../a/one.ts";' },
    { path: "src/b/four.ts", text: 'import { one } from "../a/one.ts";' },
  ];
  assert.deepEqual(findCircles(circle), ["src/a/one.ts → src/a/two.ts → src/b/three.ts → src/a/one.ts"]);
});

test("tidy: a name has one meaning", () => {
  const faults = ambiguousNames(files);
  assert.deepEqual(faults, [], `rename all but one of each:\n${faults.join("\n")}`);
  const twice = [
    { path: "src/a/one.ts", text: "export class Call {}\nconst SIZE = 1;" },
    { path: "src/a/two.ts", text: "interface Call {}\nconst SIZE = 2;" },
    { path: "src/a/in/three.ts", text: "export function sizeOf() {}" },
    { path: "src/a/four.ts", text: "function sizeOf() {}" },
    { path: "src/b/one.ts", text: "export class Call {}\nfunction sizeOf() {}" },
    { path: "src/store/lmdb/five.ts", text: "export function addKey() {}" },
    { path: "src/store/postgres/six.ts", text: "export function addKey() {}" },
  ];
  assert.deepEqual(ambiguousNames(twice), [
    "Call: src/a/one.ts, src/a/two.ts",
    "sizeOf: src/a/in/three.ts, src/a/four.ts",
  ]);
});

test("tidy: what a file of src exports is imported by another file, or exported by a package", () => {
  const faults = unimportedExports(files, read("package.json").text);
  assert.deepEqual(faults, [], `leave out "export", or what nobody uses:\n${faults.join("\n")}`);
  const some = [
    { path: "src/a/one.ts", text: "export type One = 1;\nexport const two = 2;\nconst three = 3;" },
    { path: "src/a/loaded.ts", text: "export const four = 4;" },
    { path: "src/a/all.ts", text: "export const five = 5;" },
    { path: "src/a/door.ts", text: "export const six = 6;" },
    { path: "test/a.ts", text: 'import { type One } from "../src/a/one.ts";\nimport("../src/a/loaded.ts");' },
    { path: "bench/a.ts", text: 'import * as all from "../src/a/all.ts";' },
  ];
  assert.deepEqual(unimportedExports(some, '"default": "./dist/src/a/door.js"'), ["src/a/one.ts: two"]);
});

test("tidy: every runtime dependency has its page in docs/decisions", () => {
  const faults = undecidedDependencies(read("package.json").text, decisions);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}`);
});

test("tidy: .ci/run sets CI before it runs a test, so that a skipped test is a failure", () => {
  assert.match(read(".ci/run").text, /^export CI=1\n(?:.*\n)*?npm ci && npm test$/m);
});

test("tidy: AGENTS.md has a line for every folder at the root and in src", () => {
  const foldersIn = (folder: string) =>
    readdirSync(root + folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !/^(\..*|node_modules|dist|data|coverage)$/.test(entry.name))
      .map((entry) => `${folder}${entry.name}/`);
  const map = read("AGENTS.md").text;
  const missing = [...foldersIn(""), ...foldersIn("src/")].filter((folder) => !map.includes(`\`${folder}`));
  assert.deepEqual(missing, [], `AGENTS.md: map: add a line for ${missing.join(", ")}`);
});

const header = "/** What it is. */\n";
/** For each rule what it must refuse and what it must let pass. The words are cut so that this file is tidy. */
const EXAMPLES: Record<string, { bad: SourceFile[]; good: SourceFile[] }> = {
  "known file": {
    bad: [
      { path: "isolate-0x1-2-v8.log", text: "" },
      { path: "agents/notes.md", text: "" },
      { path: "agents/codex/config.toml.orig", text: "" },
    ],
    good: [
      { path: "README.md", text: "" },
      { path: ".git", text: "" },
      { path: "agents/codex/config.toml", text: "" },
      { path: "docs/notes.md", text: "" },
    ],
  },
  "import table": {
    bad: [
      { path: "src/base/bytes.ts", text: 'import { x } from "../codec/field.ts";' },
      { path: "src/base/bytes.ts", text: 'import { sha256 } from "@noble/hashes/sha2.js";' },
      { path: "src/codec/seal.ts", text: 'import { randomBytes } from "node:crypto";' },
      { path: "src/codec/seal.ts", text: 'export {\n  a,\n  b,\n} from "../reader/weights.ts";' },
      { path: "src/store/lmdb/store.ts", text: 'import type { Row } from "../postgres/rows.ts";' },
      { path: "src/sdk/client.ts", text: 'const x = await import("../memory/read.ts");' },
      { path: "src/http/routes/read.ts", text: 'import "../../store/lmdb/store.ts";' },
      { path: "src/http/request/answer.ts", text: 'import { x } from "../access/access.ts";' },
      { path: "src/http/request/answer.ts", text: 'import { x } from "../attic/old.ts";' },
      { path: "src/memory/read.ts", text: 'import { test } from "../../test/all.ts";' },
      { path: "src/memory/read.ts", text: 'new Worker(new URL("../http/worker.ts", import.meta.url));' },
      { path: "src/attic/old.ts", text: "" },
      { path: "src/cli/commands/bench.ts", text: 'import "../../../bench/codec.ts";' },
      { path: "src/main/serve.ts", text: 'import "../../bench/codec.ts";' },
      { path: "bench/http.ts", text: 'import { Progress } from "../src/cli/printed.ts";' },
    ],
    good: [
      {
        path: "src/codec/seal.ts",
        text: 'import { gcmsiv } from "@noble/ciphers/aes.js";\nimport "./field.ts";',
      },
      { path: "src/store/lmdb/store.ts", text: 'import type { Store } from "../../memory/ports.ts";' },
      {
        path: "src/cli/commands/serve.ts",
        text: 'import { start } from "../../main/serve.ts";\nimport "../main.ts";',
      },
      { path: "src/main/serve.ts", text: 'import { server } from "../http/server.ts";' },
      { path: "bench/http.ts", text: 'import { openCore } from "../src/main/core.ts";' },
    ],
  },
  "file name": {
    bad: ["src/codec/rangeCoder.ts", "test/unit/Codec/field.test.ts"].map(empty),
    good: ["src/codec/range-coder.ts", "test/unit/codec/field.test.ts", "bin/sideband.js"].map(empty),
  },
  "catch-all name": {
    bad: ["src/codec/utils.ts", "test/helpers/store.ts", "src/misc/a.ts", "bench/common.ts"].map(empty),
    good: [empty("src/web/common-questions.ts")],
  },
  "file length": {
    bad: [{ path: "src/codec/long.ts", text: "x;\n".repeat(451) }],
    good: [
      { path: "src/codec/long.ts", text: "x;\n".repeat(450) },
      { path: "test/vectors/long.ts", text: "x;\n".repeat(451) },
    ],
  },
  leftover: {
    bad: ["TO", "FIX", "XX", "HAC"].map((word, i) => {
      const path = i === 0 ? "python/a/b.py" : "src/codec/a.ts";
      return { path, text: `x; // ${word}${["DO", "ME", "X", "K"][i]}: later` };
    }),
    good: [{ path: "src/codec/a.ts", text: "const todos = XXXL;" }],
  },
  "skipped or lone test": {
    bad: ["skip", "only"].flatMap((word) => [
      { path: "test/unit/a.test.ts", text: `test.${word}("x", () => {});` },
      { path: "test/unit/a.test.ts", text: `test("x", { ${word}: true }, () => {});` },
    ]),
    good: [
      { path: "test/unit/a.test.ts", text: 'test("x", () => list.skip(1));' },
      { path: "test/mutants/a.ts", text: 'const mutant = { tests: ["a"], only: "the name of a test" };' },
    ],
  },
  "header comment": {
    bad: [
      { path: "src/codec/a.ts", text: "export const A = 1;" },
      { path: "src/codec/a.ts", text: `/**\n${" * word\n".repeat(13)} */` },
      { path: "src/store/postgres/migrations/0001-facts.sql", text: "CREATE TABLE facts ();" },
    ],
    good: [{ path: "src/codec/a.ts", text: `${header}export const A = 1;` }],
  },
  "default export": {
    bad: [{ path: "src/codec/a.ts", text: `${header}export ${"default"} 1;` }],
    good: [{ path: "src/codec/a.ts", text: `${header}export const defaults = 1;` }],
  },
  "passed on": {
    bad: [
      { path: "src/main/agent.ts", text: "export { openProject };" },
      { path: "src/main/agent.ts", text: 'export * from "../agents/project.ts";' },
    ],
    good: [
      { path: "src/main/move.ts", text: 'export type { MoveReport } from "../memory/move.ts";' },
      { path: "src/sdk/index.ts", text: 'export { label } from "./labels.ts";' },
    ],
  },
  environment: {
    bad: [
      { path: "src/http/server.ts", text: "const port = process.env.PORT;" },
      { path: "src/http/server.ts", text: 'import { env } from "node:process";' },
    ],
    good: [{ path: "src/config.ts", text: "const port = process.env.PORT;" }],
  },
  "value now or later": {
    bad: [
      { path: "src/memory/encode.ts", text: 'import { andThen } from "../base/maybe-promise.ts";' },
      { path: "src/mcp/watch.ts", text: "function read(): MaybePromise<string>" },
    ],
    good: [{ path: "src/memory/decode.ts", text: "function decode(): MaybePromise<string>" }],
  },
  "data of all languages": {
    bad: [
      { path: "src/cli/printed.ts", text: 'limit.toLocaleString("en")' },
      { path: "src/base/clock.ts", text: "new Intl.DateTimeFormat()" },
    ],
    good: [
      { path: "src/web/parts/quota-meter.tsx", text: 'used.toLocaleString("en")' },
      { path: "src/cli/printed.ts", text: "withThousands(limit)" },
    ],
  },
  "secret comparison": {
    bad: [
      "if (record.hash !== hash.toString()) throw invalid();",
      "return digest(token).equals(this.#adminDigest);",
      "return given === this.#adminToken;",
      "if (mac === expected) return;",
    ].map((text) => ({ path: "src/http/access/a.ts", text })),
    good: [
      "return timingSafeEqual(digest(token), this.#adminDigest);",
      'if (token === undefined || token === "" || typeof token !== "string") return;',
    ].map((text) => ({ path: "src/http/access/a.ts", text })),
  },
  "link from the root": {
    bad: [{ path: "docs/API.md", text: "See the [playground](/playground)." }],
    good: [
      {
        path: "docs/API.md",
        text: "See [the block](FORMAT.md) and [agents](agents/README.md#person-and-project).",
      },
    ],
  },
  "browser storage": {
    bad: [
      { path: "src/web/pages/a.tsx", text: 'localStorage.setItem("key", key);' },
      { path: "src/web/api/a.ts", text: "document.cookie = key;" },
    ],
    good: [{ path: "src/web/pages/a.tsx", text: 'const [key, setKey] = useState("");' }],
  },
  "lock file": {
    bad: [{ path: "package-lock.json", text: '{ "resolved": "https://registry.example/a.tgz" }' }],
    good: [{ path: "package-lock.json", text: '{ "integrity": "sha512-…" }' }],
  },
};

function empty(path: string): SourceFile {
  return { path, text: "" };
}

for (const rule of RULES) {
  test(`the checker sees a breach of: ${rule.name}`, () => {
    const { bad, good } = EXAMPLES[rule.name];
    for (const file of bad) {
      const faults = faultsOf(rule, file);
      assert.equal(faults.length, 1, `must refuse ${file.path}: ${file.text}`);
      for (const part of [file.path, rule.name, rule.remedy]) assert.ok(faults[0].includes(part));
    }
    for (const file of good) assert.deepEqual(faultsOf(rule, file), []);
  });
}

test("the checker sees a runtime dependency without its page", () => {
  const manifest = '{ "dependencies": { "@noble/ciphers": "2", "left-pad": "1" } }';
  const page = { path: "docs/decisions/0002-noble.md", text: "We use `@noble/ciphers`." };
  const faults = undecidedDependencies(manifest, [page]);
  assert.equal(faults.length, 1);
  assert.match(faults[0], /left-pad/);
});

test("the checker sees a decision page without status, date, index entry or successor", () => {
  const page = (text: string) => ({ path: "docs/decisions/0007-a.md", text });
  const index = { path: "docs/decisions/README.md", text: "[0007](0007-a.md), [0008](0008-b.md)" };
  const next = { path: "docs/decisions/0008-b.md", text: "- Status: accepted\n- Date: 2026-11-15\n" };
  const head = "- Status: superseded by [0008](0008-b.md)\n- Date: 2026-11-15\n";
  assert.deepEqual(decisionFaults([page(head), next, index]), []);
  assert.equal(decisionFaults([page(head), next]).length, 2);
  const far = { ...next, path: "docs/decisions/0009-c.md" };
  assert.equal(decisionFaults([next, far, { ...index, text: `${index.text}, [0009](0009-c.md)` }]).length, 0);
  assert.equal(
    decisionFaults([page(next.text), far, { ...index, text: "](0007-a.md) ](0009-c.md)" }]).length,
    1,
  );
  for (const wrong of [
    head.replace("Date", "Day"),
    head.replace("superseded", "replaced"),
    head.replace("0008-b.md", "0009-c.md"),
    head.replace("[0008]", "[0009]"),
    `${head}superseded by 0008\n`,
  ]) {
    assert.equal(decisionFaults([page(wrong), next, index]).length, 1, wrong);
  }
});

test("the import table names only rooms that it has, and no two rooms import each other", () => {
  for (const [name, { rooms }] of Object.entries(ROOMS)) {
    for (const other of rooms) {
      assert.ok(ROOMS[other] !== undefined, `${name} may import ${other}, which is no room`);
      assert.ok(!ROOMS[other].rooms.includes(name), `${name} and ${other} import each other`);
    }
  }
  assert.deepEqual(importFaults({ path: "src/base/assert.ts", text: "" }), []);
});
