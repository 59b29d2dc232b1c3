/** The store passes the conformance suite on a Citus cluster, with nodes on the coordinator and on workers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { grantConformance } from "../conformance/grants.ts";
import { keyRequestConformance } from "../conformance/key-requests.ts";
import { storeConformance } from "../conformance/store.ts";
import { storeAnswersConformance } from "../conformance/store-answers.ts";
import { storeAuditConformance } from "../conformance/store-audit.ts";
import { storeClearsConformance } from "../conformance/store-clears.ts";
import { storeCountsConformance } from "../conformance/store-counts.ts";
import { storeLifeConformance } from "../conformance/store-life.ts";
import { storeLimitsConformance } from "../conformance/store-limits.ts";
import { storeOperatorsConformance } from "../conformance/store-operators.ts";
import { storePlacesConformance } from "../conformance/store-places.ts";
import { storeRightsConformance } from "../conformance/store-rights.ts";
import { storeSharedConformance } from "../conformance/store-shared.ts";
import { NOW, write } from "../conformance/store-under-test.ts";
import { labelAt } from "../fixtures/views.ts";
import { openEmptiedStore } from "../postgres/server.ts";

storeConformance("citus", openEmptiedStore);
storeAnswersConformance("citus", openEmptiedStore);
storeCountsConformance("citus", openEmptiedStore);
storeLifeConformance("citus", openEmptiedStore);
storePlacesConformance("citus", openEmptiedStore);
keyRequestConformance("citus", openEmptiedStore);
grantConformance("citus", openEmptiedStore);
storeOperatorsConformance("citus", openEmptiedStore);
storeAuditConformance("citus", openEmptiedStore);
storeLimitsConformance("citus", openEmptiedStore);
storeClearsConformance("citus", openEmptiedStore);
storeRightsConformance("citus", openEmptiedStore);
storeSharedConformance("citus", openEmptiedStore);

test("citus: a write of more rows than a statement has parameters for is stored and forgotten", async () => {
  const { store, end } = await openEmptiedStore();
  const places = Array.from({ length: 60 }, (_, i) => `p${i}`);
  const changes = places.flatMap((place) =>
    Array.from({ length: 100 }, (_, i) => ({ place, label: labelAt(i), value: `${place} ${i}` })),
  );
  const request = { ...write("ada", [[0, "x"]]), changes };
  assert.equal((await store.write(request)).outcome, "stored");
  assert.equal((await store.readLife("acme", "ada", { nowMs: NOW }))?.facts.length, changes.length);
  await store.write({ ...request, changes: [{ kind: "erase", within: null }] });
  assert.equal(await store.readLife("acme", "ada", { nowMs: NOW }), undefined);
  await end();
});
