/** sideband verify-receipt: a genuine receipt, one that was changed, and what is none. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { makeHost } from "./host.ts";

test("verify-receipt tells a genuine receipt from one that was changed, beside the running service", async (t) => {
  const running = endAfter(t, await startRunning());
  for (const [label, value] of [
    ["USER.name", "Ada"],
    ["USER.name", "Ada Lovelace"],
    ["USER.os", "Plan 9"],
  ]) {
    const body = { user_id: "ada", label, value };
    assert.equal((await running.call("POST", "/encode", { body })).status, 200);
  }
  const { json } = await running.call("DELETE", "/users?user_id=ada&details=true");
  const host = makeHost(t);
  const verify = async (content: string) => {
    const file = join(host.home, "receipt.json");
    writeFileSync(file, content);
    return host.sideband(`verify-receipt ${file} --data ${running.folder}`);
  };
  const genuine = await verify(JSON.stringify(json));
  assert.equal(genuine.status, 0, genuine.stderr);
  assert.match(
    genuine.stdout,
    /^genuine: 2 facts and 1 earlier value, 2 labels at 1 place, 0 connected applications of ada \(acme\) were erased, [\dTZ.:-]+; left: tokens until [\dTZ.:-]+, no backups of the service's own\n$/,
  );
  const changed = await verify(JSON.stringify({ ...json.receipt, facts: 0 }));
  assert.deepEqual([changed.status, changed.stdout.startsWith("not genuine: ")], [1, true]);
  const none = await verify("{}");
  assert.equal(none.status, 1);
  assert.match(none.stderr, /there is no receipt in it/);
});
