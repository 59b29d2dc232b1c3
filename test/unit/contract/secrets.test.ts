/** What an agent may not keep: secrets by their form, and private parts. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { keptValue, SECRET_PATTERNS } from "../../../src/contract/secrets.ts";

/** Put together here, so that no tool that looks for secrets takes this file for one. */
const random = "a1B2c3D4e5F6g7H8i9J0";
const SECRETS = [
  `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----`,
  `sb_live_${random}`,
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

test("keys, tokens and passwords are refused with a line that says what to do", () => {
  for (const secret of SECRETS) {
    assert.throws(
      () => keptValue(`deploys with ${secret}`),
      (error: Error & { code: string }) =>
        error.code === "secret_refused" && /^This looks like an? .*Leave the secret out/.test(error.message),
      secret,
    );
    assert.equal(keptValue(secret, true), secret, "allowed");
  }
});

test("facts that only speak of secrets are kept as they are", () => {
  for (const fact of FACTS) assert.equal(keptValue(fact), fact);
});

test("private parts are never kept, not even where secrets are allowed", () => {
  assert.equal(keptValue("lives in <private>12 St James's Square, </private>London"), "lives in London");
  assert.equal(keptValue("Ada <PRIVATE>King", true), "Ada");
  assert.equal(keptValue("a <private>password=abc</private> b"), "a  b");
  for (const value of ["<private>all</private>", " <private>a</private> <private>b"]) {
    assert.throws(() => keptValue(value, true), { code: "private_refused" });
  }
});

test("long values are looked at in no time", () => {
  const startMs = performance.now();
  for (const part of ["a.", "eyJ", "password ", "x://", "sk-", "a:", "-----BEGIN A ", "bearer "]) {
    keptValue(part.repeat(1024).slice(0, 1024));
  }
  assert.ok(performance.now() - startMs < 500);
});

test("the Hermes provider has the same patterns", () => {
  const copy = readFileSync(new URL("../../../agents/hermes/sideband/secrets.json", import.meta.url), "utf8");
  assert.deepEqual(JSON.parse(copy), SECRET_PATTERNS);
});
