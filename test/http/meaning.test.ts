/** GET /facts/find by meaning: with an embedding service, without its answer in time, and after every end of a fact. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type EmbeddingStandIn, startEmbeddings } from "../fixtures/embedding-stand-in.ts";
import { until } from "../fixtures/waiting.ts";
import { type Running, startPortless } from "./running-service.ts";

const START = Date.UTC(2026, 10, 18, 12);
const clock = { ms: START, now: () => clock.ms };

let embeddings: EmbeddingStandIn;
let running: Running;
before(async () => {
  embeddings = await startEmbeddings();
  const settings = {
    SIDEBAND_DEMO: "0",
    SIDEBAND_EMBEDDINGS_URL: embeddings.url,
    SIDEBAND_EMBEDDINGS_MODEL: "pieces",
    SIDEBAND_EMBEDDINGS_KEY: "secret",
  };
  running = await startPortless(settings, undefined, { warm: false, clock });
});
after(async () => {
  await running?.end();
  await embeddings?.close();
});

async function write(user_id: string, label: string, value: string, more: object = {}): Promise<void> {
  const body = { user_id, label, value, new_label: "certain", ...more };
  const { status, text } = await running.call("POST", "/encode", { body });
  assert.equal(status, 200, text);
}

const find = async (user_id: string, q: string, more: Record<string, string> = {}) =>
  (await running.call("GET", `/facts/find?${new URLSearchParams({ user_id, q, ...more })}`)).json;

const vectorsOf = async (userId: string) => {
  const vectors = await running.service.core.store.readVectors("acme", userId);
  return vectors.map(({ place, label }) => (place === "" ? label : `${label} ${place}`)).sort();
};

const untilVectors = (userId: string, ...names: string[]) =>
  until(async () => (await vectorsOf(userId)).join() === [...names].sort().join());

test("a fact is found by what it means, after its vector was made in the background", async () => {
  await write("ada", "FAMILY.wife", "Grace");
  await write("ada", "GARDEN.roses", "Tuesday");
  await write("ada", "TASK.next", "paint", { project: "loom" });
  await untilVectors("ada", "FAMILY.wife", "GARDEN.roses", "TASK.next loom");
  const found = await find("ada", "spouse");
  assert.deepEqual([found.by, found.facts[0].label], ["words+meaning", "FAMILY.wife"]);
  assert.ok(found.facts[0].score > 0 && found.facts[0].score <= 1);
  assert.deepEqual((await find("ada", "roses")).facts[0].label, "GARDEN.roses");
  assert.deepEqual((await find("ada", "paint", { everywhere: "true" })).facts[0].project, "loom");
  assert.deepEqual([...embeddings.keys], ["Bearer secret"]);
  assert.ok(embeddings.texts.includes("family wife: Grace"));
});

test("a service that is slow or fails holds up neither a write nor a search: by words then, and `by` says so", async () => {
  await write("bo", "CAR.plate", "X1");
  await untilVectors("bo", "CAR.plate");
  assert.equal((await find("bo", "automobile")).by, "words+meaning");
  let release = (_?: unknown) => {};
  embeddings.held = new Promise((resolve) => {
    release = resolve;
  });
  await write("bo", "CAR.colour", "red");
  const slow = await find("bo", "car colour");
  assert.deepEqual([slow.by, slow.facts[0].label], ["words", "CAR.colour"]);
  release();
  for (const failure of [
    { status: 500, body: "{}" },
    { status: 200, body: "not JSON" },
    { status: 200, body: '{"data":[]}' },
    { status: 200, body: '{"data":[{"index":0,"embedding":["x"]}]}' },
  ]) {
    embeddings.failure = failure;
    assert.equal((await find("bo", "automobile")).by, "words", failure.body);
  }
  embeddings.failure = undefined;
  await untilVectors("bo", "CAR.colour", "CAR.plate");
  assert.equal((await find("bo", "automobile")).by, "words+meaning");
});

test("a vector never outlives its fact: changed, renamed, forgotten, moved, expired, rolled back, erased", async () => {
  const call = async (method: string, path: string, body?: object) => {
    const { status, text } = await running.call(method, path, body === undefined ? {} : { body });
    assert.equal(status, 200, text);
  };
  for (const label of ["NOTE.a", "NOTE.b", "NOTE.c", "NOTE.d"]) await write("eve", label, "the old barn");
  await write("eve", "NOTE.e", "the barn", { ttl_s: 60 });
  await write("eve", "TASK.next", "mend the barn", { project: "loom" });
  await untilVectors("eve", "NOTE.a", "NOTE.b", "NOTE.c", "NOTE.d", "NOTE.e", "TASK.next loom");
  const before = clock.ms;
  // From here on nothing is made anew.
  embeddings.failure = { status: 500, body: "" };
  clock.ms += 1_000;
  await write("eve", "NOTE.a", "the new barn");
  await call("POST", "/facts/rename", { user_id: "eve", label: "NOTE.b", to: "NOTE.f" });
  await call("DELETE", "/facts?user_id=eve&label=NOTE.c&keep_history=true");
  assert.deepEqual(await vectorsOf("eve"), ["NOTE.d", "NOTE.e", "TASK.next loom"]);
  clock.ms += 60_000;
  await running.service.core.store.endFacts(clock.ms);
  await call("DELETE", "/users?user_id=eve&project=loom");
  assert.deepEqual(await vectorsOf("eve"), ["NOTE.d"]);
  await write("eve", "NOTE.d", "a stable");
  await call("POST", "/users/rollback", {
    user_id: "eve",
    to: new Date(before).toISOString(),
    partial: true,
  });
  assert.deepEqual(await vectorsOf("eve"), []);
  embeddings.failure = undefined;
  await find("eve", "barn");
  await until(async () => (await vectorsOf("eve")).includes("NOTE.d"));
  await call("DELETE", "/users?user_id=eve");
  assert.deepEqual(await vectorsOf("eve"), []);
  assert.equal((await find("eve", "barn")).by, "words");
});

test("facts that another model, or none, has made vectors of get new ones when they are looked for", async () => {
  await write("ida", "HEALTH.doctor", "Visser");
  await untilVectors("ida", "HEALTH.doctor");
  const { store } = running.service.core;
  const [known] = await store.readVectors("acme", "ida");
  await store.saveVectors("acme", "ida", [{ ...known, vector: new Uint8Array(40) }]);
  await store.saveVectors("acme", "ida", [
    { ...known, revision: known.revision - 1, vector: new Uint8Array(9) },
  ]);
  assert.equal(
    (await store.readVectors("acme", "ida"))[0].vector.length,
    40,
    "that of another revision is not kept",
  );
  await write("ida", "NOTE.x", "y");
  await until(async () => (await find("ida", "physician")).facts[0]?.label === "HEALTH.doctor");
});
