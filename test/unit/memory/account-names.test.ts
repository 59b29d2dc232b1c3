/** The names of accounts that an approval makes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { accountFrom, unusedAccounts } from "../../../src/memory/account-names.ts";
import { checkAccount } from "../../../src/memory/identifiers.ts";

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
