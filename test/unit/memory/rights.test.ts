/** What a caller may do whose key is bound to one user, or for reading only. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { allowedUser, requireWholeAccount, requireWriteAccess } from "../../../src/memory/rights.ts";

test("who is bound to a user may name it or leave it out, and may name no other", () => {
  const bound = { user: "ada" };
  assert.deepEqual([allowedUser(bound, "ada"), allowedUser(bound, undefined)], ["ada", "ada"]);
  const refused = { code: "user_not_allowed", extra: { param: "user_id" } };
  for (const other of ["eve", "", null, 5]) assert.throws(() => allowedUser(bound, other), refused);
  for (const named of ["eve", undefined]) assert.equal(allowedUser({ user: null }, named), named);
});

test("what concerns the account is not for who is bound to a user, and writing not for who reads", () => {
  assert.throws(() => requireWholeAccount({ user: "ada" }), { code: "user_not_allowed" });
  requireWholeAccount({ user: null });
  assert.throws(() => requireWriteAccess({ access: "read" }), { code: "read_only_key" });
  requireWriteAccess({ access: "write" });
});
