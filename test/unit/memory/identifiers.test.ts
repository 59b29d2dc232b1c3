/** The rules for texts from outside, each at its edge. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  accountFrom,
  checkAccount,
  checkIdempotencyKey,
  checkIdentifier,
  checkValue,
  checkWriter,
  isIdentifier,
  unusedAccounts,
} from "../../../src/memory/identifiers.ts";

/** The first and the last of each range of control characters, and their neighbours that are none. */
const CONTROLS = ["\u0000", "\u001f", "\u007f", "\u0080", "\u009f", "\u2028", "\u2029"];
const NO_CONTROLS = [" ", "~", "\u00a0", "\u2027", "\u202a", "\ufeff"];
const LONE_SURROGATES = ["\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d"];
/** One code point, two UTF-16 units, four bytes. */
const ASTRAL = "😀";

const invalid = (param: string, message: RegExp) => ({ code: "invalid_request", extra: { param }, message });

test("an identifier has 1 to 128 code points", () => {
  for (const one of ["a", "é", ASTRAL]) {
    checkIdentifier(one.repeat(128), "user_id");
    assert.throws(() => checkIdentifier(one.repeat(129), "user_id"), invalid("user_id", /at most 128/));
  }
  assert.throws(() => checkIdentifier("", "user_id"), invalid("user_id", /not be empty/));
});

test("a writer's name has 1 to 64 code points", () => {
  checkWriter(ASTRAL.repeat(64));
  for (const name of ["", ASTRAL.repeat(65)])
    assert.throws(() => checkWriter(name), { code: "invalid_request", extra: { param: "written_by" } });
});

test("an identifier holds no control character, and any other character", () => {
  for (const control of CONTROLS)
    assert.throws(() => checkIdentifier(`a${control}`, "user_id"), invalid("user_id", /control characters/));
  for (const other of NO_CONTROLS) checkIdentifier(other, "user_id");
});

test("an identifier holds no lone surrogate", () => {
  for (const text of LONE_SURROGATES)
    assert.throws(() => checkIdentifier(text, "user_id"), invalid("user_id", /lone surrogates/));
});

test("a refused identifier is named", () => {
  assert.throws(() => checkIdentifier("", "session_id"), invalid("session_id", /^session_id /));
  assert.deepEqual([isIdentifier("ada"), isIdentifier("")], [true, false]);
});

test("a value has 1 to 1024 bytes of UTF-8", () => {
  for (const value of ["a".repeat(1024), "é".repeat(512), `a${"€".repeat(341)}`, ASTRAL.repeat(256)]) {
    assert.equal(Buffer.byteLength(value), 1024);
    checkValue(value);
    assert.throws(() => checkValue(`a${value}`), { code: "invalid_value", message: /at most 1024 bytes/ });
  }
  assert.throws(() => checkValue(""), { code: "invalid_value", extra: { param: "value" } });
});

test("a value may be limited to fewer bytes", () => {
  checkValue("é".repeat(64), 128);
  assert.throws(() => checkValue(`a${"é".repeat(64)}`, 128), {
    code: "invalid_value",
    message: /at most 128 bytes/,
  });
});

test("a value holds no control character, and any other character", () => {
  for (const control of CONTROLS)
    assert.throws(() => checkValue(`a${control}`), { code: "invalid_value", message: /control characters/ });
  for (const other of NO_CONTROLS) checkValue(other);
});

test("a value holds no lone surrogate", () => {
  for (const text of LONE_SURROGATES)
    assert.throws(() => checkValue(text), { code: "invalid_value", message: /lone surrogates/ });
});

test("an idempotency key has 1 to 255 characters", () => {
  for (const key of ["a", "a".repeat(255)]) checkIdempotencyKey(key);
  for (const key of ["", "a".repeat(256)])
    assert.throws(() => checkIdempotencyKey(key), invalid("Idempotency-Key", /1 to 255/));
});

test("an idempotency key holds visible ASCII alone", () => {
  checkIdempotencyKey("!~");
  for (const key of ["a b", "\u007f", "é", "a\n", "\t"])
    assert.throws(() => checkIdempotencyKey(key), invalid("Idempotency-Key", /visible ASCII/));
});

test("an account has 1 to 64 characters", () => {
  for (const account of ["a", "a".repeat(64)]) checkAccount(account);
  for (const account of ["", "a".repeat(65)])
    assert.throws(() => checkAccount(account), invalid("account", /1 to 64/));
});

test("an account begins with a letter or digit, and holds lower-case letters, digits, dot, underscore and hyphen", () => {
  for (const account of ["0", "a.b_c-d", "z9"]) checkAccount(account);
  for (const account of [".a", "_a", "-a", "A", "@demo", "a@b", "a b", "é", "a\n", "a/b"])
    assert.throws(() => checkAccount(account), invalid("account", /beginning with/), account);
});

test("an account's name is made of the address with letters that it may have", () => {
  assert.equal(accountFrom("Grace.Hopper+x@Navy.example"), "navy-grace.hopper-x");
  assert.equal(accountFrom("root@localhost"), "root");
  assert.equal(accountFrom("a&&b@x.example"), "x-a-b");
  assert.equal(accountFrom(`${"a".repeat(300)}@x.example`), `x-${"a".repeat(62)}`);
  const odd = [`${"ü".repeat(300)}@x.example`, "_@ü.example", "ü@ü.ü", `${"x".repeat(64)}@-.example`];
  for (const email of odd) checkAccount(accountFrom(email));
  assert.equal(accountFrom("ü@ü.ü"), "account");
});

test("a name is one that nobody has, also where it has its full length", () => {
  const full = "x".repeat(64);
  const taken = new Set(["b-default", "b-default-2", "b-default-4", full, `${"x".repeat(62)}-2`]);
  const names = unusedAccounts("default@b.example", taken);
  assert.deepEqual([names.next().value, names.next().value], ["b-default-3", "b-default-5"]);
  assert.equal(unusedAccounts("other@b.example", taken).next().value, "b-other");
  assert.equal(unusedAccounts(`${full}@b`, taken).next().value, `${"x".repeat(62)}-3`);
});
