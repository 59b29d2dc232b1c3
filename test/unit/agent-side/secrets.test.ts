/** What an agent may not keep: secrets by their form, and private parts. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SECRET_PATTERNS } from "../../../src/agent-side/secret-patterns.ts";
import { sanitizeValue } from "../../../src/agent-side/secrets.ts";
import { HIDDEN_CHARACTERS } from "../../../src/base/letters.ts";
import { hermesCalls } from "../../agents/hermes-calls.ts";
import { growthFault } from "../../tidy/expressions.ts";
import {
  filledSecrets,
  HARMLESS_TEXTS,
  harmlessLines,
  secretLines,
  type WrittenLine,
} from "./secret-texts.ts";

/** Put together here, so that no tool that looks for secrets takes this file for one. */
const random = "a1B2c3D4e5F6g7H8i9J0";
const SECRETS = [
  `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----`,
  `sb_live_${random}`,
  `sbt_${random}${random}.${random}`,
  `sk-ant-api03-${random}`,
  `sk-${random}${random}`,
  `AKIA${"IOSFODNN7EXAMPLE"}`,
  `ghp_${random}${random}`,
  `github_pat_${random}${random}`,
  `glpat-${random}`,
  `xoxb-${random}`,
  `npm_${random}${random}`,
  `hf_${random}${random}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${random}`,
  `Authorization: Bearer ${random}`,
  "postgres://ada:hunter2@db.example/app",
  "the password is hunter2",
  "Password: correct-horse",
  "db_url ok, pwd=abc",
  "api_key = 12345",
  "API key: abcdef0123",
  "mein Passwort lautet geheim99",
];
const FACTS = [
  "Ada Lovelace",
  "the password is rotated every month",
  "uses a password manager",
  "token budget 200,000",
  "secret santa on 2026-12-20",
  "https://github.com/ada/loom.git",
  "git@github.com:ada/loom.git",
  "skips the tests at night",
  "ask before you print an API key",
  "tokens are kept in 1Password",
  "2f6c1d0e9b8a7f6c5d4e3f2a1b0c9d8e7f6a5b4c",
];

/** It has the figures. */
const GUIDE = readFileSync(new URL("../../../docs/agents/README.md", import.meta.url), "utf8").replace(
  /\s+/g,
  " ",
);

test("keys, tokens and passwords are refused with a line that says what to do", () => {
  for (const secret of SECRETS) {
    assert.throws(
      () => sanitizeValue(`deploys with ${secret}`),
      (error: Error & { code: string }) =>
        error.code === "secret_refused" && /^This looks like an? .*Leave the secret out/.test(error.message),
      secret,
    );
    assert.equal(sanitizeValue(secret, true), secret, "allowed");
  }
});

test("facts that only speak of secrets are kept as they are", () => {
  for (const fact of FACTS) assert.equal(sanitizeValue(fact), fact);
});

function isRefused(value: string, label?: string): boolean {
  try {
    sanitizeValue(value, false, label);
    return false;
  } catch {
    return true;
  }
}

test("of 60 forms of secrets all are found, and of 200 harmless texts at most 2 are refused", (t) => {
  const secrets = filledSecrets(1);
  assert.deepEqual([secrets.length, new Set(HARMLESS_TEXTS).size], [60, 200]);
  const missed = secrets.filter((secret) => !isRefused(secret));
  const wrong = HARMLESS_TEXTS.filter((text) => isRefused(text));
  t.diagnostic(`${missed.length} of 60 secrets missed, ${wrong.length} of 200 texts refused wrongly`);
  assert.deepEqual(missed, []);
  assert.ok(wrong.length <= 2, wrong.join("\n"));
  const told = `finds ${60 - missed.length} of 60 forms of real secrets and refuses ${wrong.length} of 200 harmless texts`;
  assert.ok(GUIDE.includes(told), told);
});

test("of secrets as people and agents write them none is kept, and at most 2 of 300 harmless lines are refused", (t) => {
  const isRefusedLine = ({ label, value }: WrittenLine) => isRefused(value, label);
  const [secrets, harmless] = [secretLines(6), harmlessLines()];
  const missed = secrets.filter((line) => !isRefusedLine(line));
  const wrong = harmless.filter(isRefusedLine);
  const told = `${secrets.length - missed.length} of ${secrets.length} secrets as people write them, and refuses ${wrong.length} of ${harmless.length} harmless lines`;
  t.diagnostic(told);
  assert.deepEqual(missed, []);
  assert.ok(wrong.length <= (2 * harmless.length) / 300, JSON.stringify(wrong));
  assert.ok(GUIDE.includes(told), told);
});

test("the examples of doubt in the guide are in doubt", () => {
  const [, ...examples] = /only may be a secret \("([^"]+)", "([^"]+)"\)/.exec(GUIDE) ?? [];
  assert.equal(examples.length, 2);
  for (const example of examples) {
    assert.throws(() => sanitizeValue(example), { code: "secret_doubted" }, example);
    assert.equal(sanitizeValue(example, "doubtful"), example);
  }
});

test("a label says what its value is", () => {
  assert.ok(isRefused("Sommer2019!", "WIFI.password") && isRefused("4711", "HOME.door_code"));
  assert.ok(!isRefused("Sommer2019!", "TRIP.photos") && !isRefused("4711", "ORDER.number"));
});

test("a secret with invisible characters in it, or in other letters, is found as well", () => {
  for (const hidden of ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\ufe0f", "\u{e0041}"]) {
    const missed = filledSecrets(2)
      .map((secret) => [...secret].join(hidden))
      .filter((secret) => !isRefused(secret));
    assert.deepEqual(missed, [], `with ${hidden.codePointAt(0)?.toString(16)}`);
  }
  // Wide letters, as Japanese keyboards write them.
  const wide = (text: string) =>
    text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
  const missed = filledSecrets(3).filter((secret) => !isRefused(wide(secret)));
  assert.deepEqual(missed, []);
});

test("private parts are never kept, not even where secrets are allowed", () => {
  assert.equal(sanitizeValue("lives in <private>12 St James's Square, </private>London"), "lives in London");
  assert.equal(sanitizeValue("Ada <PRIVATE>King", true), "Ada");
  assert.equal(sanitizeValue("a <private>password=abc</private> b"), "a  b");
  for (const value of ["<private>all</private>", " <private>a</private> <private>b"]) {
    assert.throws(() => sanitizeValue(value, true), { code: "private_refused" });
  }
});

test("a long value is looked at in proportion to its length, whatever it is made of", () => {
  for (const unit of [
    "a.",
    "-eyJaaaaaaaa",
    "password ",
    "x://",
    "a:",
    "-----BEGIN A ",
    "bearer ",
    "<private>",
  ]) {
    assert.equal(
      growthFault(isRefused, (length) => unit.repeat(length / 2)),
      undefined,
      unit,
    );
  }
});

test("the Hermes provider has the same patterns, and they find the same", () => {
  const copy = readFileSync(new URL("../../../agents/hermes/sideband/secrets.json", import.meta.url), "utf8");
  assert.deepEqual(JSON.parse(copy), { patterns: SECRET_PATTERNS });
  assert.deepEqual(hermesCalls([["HIDDEN_CHARACTERS", []]]), [HIDDEN_CHARACTERS]);
  const values = [
    ...SECRETS,
    ...FACTS,
    ...filledSecrets(4),
    ...filledSecrets(5).map((secret) => [...secret].join("\u200b")),
    ...HARMLESS_TEXTS,
  ].map((value): WrittenLine => ({ label: undefined, value }));
  const lines = [...values, ...secretLines(7), ...harmlessLines()];
  const kept = hermesCalls(lines.map(({ label = "", value }) => ["_kept_value", [value, label]]));
  for (const [i, { label, value }] of lines.entries()) {
    const { refused = "" } = Object(kept[i]) as { refused?: string };
    assert.equal(/^secret_(?:refused|doubted): /.test(refused), isRefused(value, label), value);
    if (refused === "") assert.equal(kept[i], value);
  }
});
