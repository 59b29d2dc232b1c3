/** What every store must keep of the answer to a request with an Idempotency-Key, and for how long. */

import assert from "node:assert/strict";
import type { FactChange, Store, WriteRequest } from "../../src/memory/ports.ts";
import { checksOf, NOW, type StoreUnderTest, write } from "./store.ts";

const DAY_MS = 86_400_000;

function keyed(key: string, changes: FactChange[], more: Partial<WriteRequest> = {}, answer?: string) {
  const idempotency = {
    keyId: "key1",
    key,
    fingerprint: Buffer.alloc(32, 1),
    expiresAtMs: NOW + DAY_MS,
    ...(answer === undefined ? {} : { answer }),
  };
  return { ...write("ada", [], { changes, ...more }), idempotency };
}

const set = (channel: number, value: string, place = ""): FactChange => ({ place, channel, value });

/** What a repeated request gets, by a write and by a read alike. */
async function repeated(store: Store, request: ReturnType<typeof keyed>) {
  const outcome = await store.write(request);
  assert.ok(outcome.outcome === "replayed", outcome.outcome);
  const { outcome: _, used: __, ...replay } = outcome;
  assert.deepEqual(await store.readReplay(request), replay);
  return replay;
}

const FORGETTINGS: Record<string, (store: Store) => Promise<unknown>> = {
  "a fact": (store) => store.write(write("ada", [], { changes: [{ place: "", channel: 9, value: null }] })),
  "a place": (store) => store.forgetUser("acme", "ada", "loom"),
  "the user": (store) => store.forgetUser("acme", "ada"),
};

export function storeAnswersConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("a repeated request gets what was there before it, and the answer that was given", async (under) => {
    const { store } = under;
    await store.write(write("ada", [[0, "Ada"]], { writtenBy: "codex" }));
    const request = keyed("once", [set(0, "Grace"), set(1, "new")], { nowMs: NOW + 5 }, '["a \u{1F9E0}"]');
    const first = await store.write(request);
    assert.ok(first.outcome === "stored");
    await store.write(write("ada", [[0, "later"]]));
    const replay = await repeated(store, request);
    const [before] = first.previous;
    assert.ok(before !== undefined);
    const { value, revision, updatedAtMs, writtenBy } = before;
    assert.deepEqual(replay, {
      channelCount: first.channelCount,
      revision: first.revision,
      answer: '["a \u{1F9E0}"]',
      previous: [{ value, revision, updatedAtMs, writtenBy }, undefined],
    });
    assert.deepEqual([value, updatedAtMs, writtenBy], ["Ada", NOW, "codex"]);
    const silent = keyed("silent", [set(0, "Hopper")]);
    await store.write(silent);
    assert.equal("answer" in (await repeated(store, silent)), false);
    const again = await under.reopen();
    assert.deepEqual(await again.readReplay(request), replay);
    const other = { ...request.idempotency, fingerprint: Buffer.alloc(32, 2) };
    assert.equal(await again.readReplay({ ...request, idempotency: other }), undefined);
    assert.equal(await again.readReplay({ ...request, nowMs: NOW + DAY_MS }), undefined);
    assert.equal(await again.readReplay(keyed("another", [])), undefined);
  });

  for (const [what, forget] of Object.entries(FORGETTINGS)) {
    check(
      `forgetting ${what} leaves no value in what was answered, and the request stays answered`,
      async (under) => {
        const { store } = under;
        await store.write(write("ada", [[9, "x"]]));
        await store.write(write("ada", [], { changes: [set(1, "y", "loom")] }));
        await store.write(write("ada", [[0, "secret"]]));
        const request = keyed("once", [set(0, "Grace")], {}, '["secret"]');
        // Another's stays.
        const another = { ...keyed("other", [set(0, "Bob")], {}, '["bob"]'), userId: "bob" };
        const { channelCount, revision } = (await store.write(request)) as {
          channelCount: number;
          revision: number;
        };
        await store.write(another);
        await forget(store);
        assert.deepEqual(await repeated(store, request), { channelCount, revision, previous: [] });
        assert.equal((await repeated(store, another)).answer, '["bob"]');
      },
    );
  }

  check("a fact that is forgotten with its history kept leaves what was answered", async ({ store }) => {
    await store.write(write("ada", [[0, "Ada"]]));
    const request = keyed("once", [{ place: "", channel: 0, value: null, keepHistory: true }], {}, "[]");
    await store.write(request);
    const { answer, previous } = await repeated(store, request);
    assert.deepEqual([answer, previous], ["[]", [undefined]]);
  });

  check("what was answered goes after a day; a request that is made anew has its own", async ({ store }) => {
    await store.write(write("ada", [[0, "first"]]));
    const request = keyed("once", [set(0, "Grace")], {}, "one");
    await store.write(request);
    const later = { nowMs: NOW + DAY_MS };
    const { idempotency } = request;
    const anew = { ...request, ...later, idempotency: { ...idempotency, expiresAtMs: NOW + 2 * DAY_MS } };
    const { answer: _, ...silent } = anew.idempotency;
    const changes = [set(7, "nothing was there")];
    await store.write({ ...anew, changes, idempotency: silent });
    const replay = await repeated(store, { ...anew, changes });
    assert.deepEqual([replay.previous.filter(Boolean), "answer" in replay], [[], false]);
    await store.sweep(NOW + 4 * DAY_MS);
    assert.equal(await store.readReplay(request), undefined);
  });
}
