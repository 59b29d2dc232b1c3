/** What every store must keep of the answer to a request with an Idempotency-Key, and for how long. */

import assert from "node:assert/strict";
import type { Change, Store, WriteRequest } from "../../src/memory/ports.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { changesOf, labelAt } from "../fixtures/views.ts";
import { beforeIn, checksOf, NOW, type StoreUnderTest, set, write } from "./store-under-test.ts";

const DAY_MS = 86_400_000;

function keyed(key: string, changes: Change[], more: Partial<WriteRequest> = {}) {
  const idempotency = { keyId: "key1", key, fingerprint: Buffer.alloc(32, 1), expiresAtMs: NOW + DAY_MS };
  return { ...write("ada", [], { changes, ...more }), idempotency };
}

/** What a repeated request gets. */
async function repeated(store: Store, request: ReturnType<typeof keyed>) {
  const outcome = await store.write(request);
  assert.ok(outcome.outcome === "replayed", outcome.outcome);
  const { outcome: _, used: __, ...replay } = outcome;
  return replay;
}

const FORGETTINGS: Record<string, (store: Store) => Promise<unknown>> = {
  "a fact": (store) => store.write(write("ada", [], { changes: changesOf([[9, null]]) })),
  "a place": (store) => store.forgetUser("acme", "ada", "loom"),
  "the user": (store) => store.forgetUser("acme", "ada"),
};

export function storeAnswersConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check(
    "a repeated request gets what was there before it, and what the request does not say",
    async (under) => {
      const { store } = under;
      await store.write(write("ada", [[0, "Ada"]], { writtenBy: "codex" }));
      const facts = [set(0, "Grace"), { ...set(1, "new"), expiresAtMs: NOW + 60_000 }];
      const request = keyed("once", facts, { nowMs: NOW + 5 });
      const first = await store.write(request);
      assert.ok(first.outcome === "stored");
      await store.write(write("ada", [[0, "later"]]));
      const replay = await repeated(store, request);
      const [before] = beforeIn(first);
      assert.ok(before !== undefined);
      const { value, revision, updatedAtMs, writtenBy } = before;
      const [grace, fresh] = first.changes.map(({ before: _, found: __, ...change }) => change);
      assert.deepEqual(replay, {
        channelCount: first.channelCount,
        revision: first.revision,
        changes: [
          { ...grace, previous: { value, revision, updatedAtMs, writtenBy } },
          { ...fresh, previous: null },
        ],
      });
      assert.deepEqual([value, updatedAtMs, writtenBy], ["Ada", NOW, "codex"]);
      const silent = keyed("silent", [set(7, "nothing was there")]);
      await store.write(silent);
      assert.equal("changes" in (await repeated(store, silent)), false);
      const again = await under.reopen();
      assert.deepEqual(await repeated(again, request), replay);
      const other = { ...request.idempotency, fingerprint: Buffer.alloc(32, 2) };
      assert.equal((await again.write({ ...request, idempotency: other })).outcome, "mismatch");
      const late = { ...request, nowMs: NOW + DAY_MS, changes: [set(0, "Grace")] };
      assert.equal((await again.write(late)).outcome, "stored");
    },
  );

  check("a request whose condition no longer holds gets its first answer", async ({ store }) => {
    const terms = { label: "USER.name", oneOf: null, maxBytes: null };
    const item = { label: terms.label, places: [""], item: "a", terms, expiresAtMs: null };
    const append = keyed("append", [{ ...item, kind: "append" }]);
    const remove = keyed("remove", [{ ...item, kind: "remove" }]);
    for (const request of [append, remove]) assert.equal((await store.write(request)).outcome, "stored");
    assert.deepEqual(fieldsOf((await repeated(store, append)).changes, "value"), ["a"]);
    assert.deepEqual((await repeated(store, remove)).changes, []);
    await assert.rejects(store.write(keyed("another", [{ ...item, kind: "remove" }])), {
      code: "fact_not_found",
    });
    // What was refused is not kept.
    await store.write(write("ada", [[0, "a"]]));
    assert.equal((await store.write(keyed("another", [{ ...item, kind: "remove" }]))).outcome, "stored");
  });

  for (const [what, forget] of Object.entries(FORGETTINGS)) {
    check(
      `forgetting ${what} leaves no value in what was answered, and the request stays answered`,
      async (under) => {
        const { store } = under;
        await store.write(write("ada", [[9, "x"]]));
        await store.write(write("ada", [], { changes: [set(1, "y", { place: "loom" })] }));
        await store.write(write("ada", [[0, "secret"]]));
        const request = keyed("once", [set(0, "Grace")]);
        // Another's stays.
        await store.write(write("bob", [[0, "Robert"]]));
        const another = { ...keyed("other", [set(0, "Bob")]), userId: "bob" };
        const { channelCount, revision } = (await store.write(request)) as {
          channelCount: number;
          revision: number;
        };
        await store.write(another);
        await forget(store);
        assert.deepEqual(await repeated(store, request), { channelCount, revision });
        assert.equal((await repeated(store, another)).changes?.[0].previous?.value, "Robert");
      },
    );
  }

  check(
    "a value that is forgotten at once with the request that replaces it is in no answer",
    async ({ store }) => {
      await store.write(write("ada", [[9, "x"]]));
      await store.write(write("ada", [[0, "secret"]]));
      const request = keyed("once", [set(0, "Grace")]);
      const forgetting = write("ada", [], { changes: changesOf([[0, null]]) });
      await Promise.all([store.write(request), store.write(forgetting)]);
      assert.equal((await repeated(store, request)).changes, undefined);
    },
  );

  check("a fact that is forgotten with its history kept leaves what was answered", async ({ store }) => {
    await store.write(write("ada", [[0, "Ada"]]));
    const request = keyed("once", [{ place: "", label: labelAt(0), value: null, keepHistory: true }]);
    const kept = keyed("kept", [set(0, "Grace")]);
    for (const write of [kept, request]) await store.write(write);
    assert.equal((await repeated(store, kept)).changes?.[0].previous?.value, "Ada");
  });

  check(
    "who erases a project without facts erases what was answered: its last facts may have ended",
    async ({ store }) => {
      await store.write(write("ada", [[0, "Ada"]]));
      const request = keyed("once", [set(0, "Grace")]);
      await store.write(request);
      assert.equal(await store.forgetUser("acme", "ada", "loom"), undefined);
      assert.equal((await repeated(store, request)).changes, undefined);
    },
  );

  check("what was answered goes after a day; a request that is made anew has its own", async ({ store }) => {
    await store.write(write("ada", [[0, "first"]]));
    const request = keyed("once", [set(0, "Grace")]);
    await store.write(request);
    const later = { nowMs: NOW + DAY_MS };
    const { idempotency } = request;
    const anew = { ...request, ...later, idempotency: { ...idempotency, expiresAtMs: NOW + 2 * DAY_MS } };
    const changes = [set(7, "nothing was there")];
    await store.write({ ...anew, changes });
    assert.equal("changes" in (await repeated(store, { ...anew, changes })), false);
    await store.sweep(NOW + 4 * DAY_MS);
    assert.equal((await store.write(request)).outcome, "stored");
  });
}
