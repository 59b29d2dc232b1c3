/** What every store must do with the people who operate the service. */

import assert from "node:assert/strict";
import type { OperatorRecord } from "../../src/memory/records.ts";
import { until } from "../fixtures/waiting.ts";
import { checksOf, NOW, type StoreUnderTest } from "./store-under-test.ts";

const operator = (name: string): OperatorRecord => ({
  name,
  access: "write",
  hash: name.padEnd(64, "0"),
  createdAtMs: NOW,
});

export function storeOperatorsConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("an operator is added once, listed by name, and gone after being removed", async (under) => {
    let { store } = under;
    for (const name of ["grace", "ada"]) assert.equal(await store.operators.add(operator(name)), true);
    assert.equal(await store.operators.add({ ...operator("ada"), access: "read" }), false);
    assert.deepEqual(await store.operators.list(), [operator("ada"), operator("grace")]);
    store = await under.reopen();
    assert.deepEqual(await store.operators.list(), [operator("ada"), operator("grace")]);
    assert.equal(await store.operators.remove("ada"), true);
    assert.equal(await store.operators.remove("ada"), false);
    assert.deepEqual(await store.operators.list(), [operator("grace")]);
  });

  check(
    "the version of the keys changes with every operator, here at once and elsewhere soon",
    async (under) => {
      const { store } = under;
      const other = await under.second?.();
      for (const change of [
        () => store.operators.add(operator("ada")),
        () => store.operators.remove("ada"),
      ]) {
        const [before, there] = [await store.keysVersion(), await other?.keysVersion()];
        assert.equal(await change(), true);
        assert.notEqual(await store.keysVersion(), before);
        if (other !== undefined) await until(async () => (await other.keysVersion()) !== there);
      }
      await other?.close();
    },
  );
}
