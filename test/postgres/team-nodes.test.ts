/** A shared project on two nodes with one database: who was removed at the one, and what is done at both at once. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../fixtures/waiting.ts";
import { ok } from "../http/memory-calls.ts";
import { databaseSettings, problemCode, type Running, startRunning } from "../http/running-service.ts";
import { newDatabase } from "./server.ts";

const ROUNDS = 8;
let a: Running;
let b: Running;
before(async () => {
  const settings = databaseSettings(await newDatabase());
  a = await startRunning(settings);
  b = await startRunning(settings);
});
after(async () => void (await Promise.all([a?.end(), b?.end()])));

function put(node: Running, project: string, body: object) {
  return node.call("PUT", `/projects/${project}`, { body });
}

function encode(node: Running, user_id: string, project: string, value: string, more: object = {}) {
  const body = { user_id, project, label: "PROJ.goal", value, details: true, ...more };
  return node.call("POST", "/encode", { body });
}

function get(node: Running, path: string, user_id: string, project: string, more: object = {}) {
  return node.call("GET", `${path}?${new URLSearchParams({ user_id, project, ...more })}`);
}

async function sharedValues(node: Running, user: string, project: string): Promise<string[]> {
  const { revisions } = (
    await get(node, "/facts/history", user, project, { label: "PROJ.goal", scope: "shared" })
  ).json;
  return ((revisions ?? []) as { value: string }[]).map(({ value }) => value);
}

test("who is removed at one node reads and writes nothing at the other from the next request on", async () => {
  ok(await put(a, "left", { shared: true, members: ["ada", "bo"] }));
  ok(await encode(b, "ada", "left", "ours"));
  ok(await encode(a, "bo", "left", "bo's"));
  assert.match((await get(b, "/facts", "ada", "left")).text, /bo's/);
  ok(await put(a, "left", { shared: true, members: ["bo"] }));
  for (const [path, more] of [
    ["/facts", { details: "true" }],
    ["/context", { include: "both" }],
    ["/decode", { label: "PROJ.goal" }],
    ["/facts/history", { label: "PROJ.goal" }],
    ["/users/history", {}],
    ["/facts/find", { q: "goal" }],
  ] as const)
    assert.doesNotMatch((await get(b, path, "ada", "left", more)).text, /ours|bo's/, path);
  assert.equal(problemCode(await encode(b, "ada", "left", "late", { scope: "shared" })), "403 not_a_member");
  const restored = { user_id: "ada", project: "left", label: "PROJ.goal", revision: 140737488355329 };
  assert.notEqual((await b.call("POST", "/facts/restore", { body: restored })).status, 200);
  assert.deepEqual(await sharedValues(a, "bo", "left"), ["bo's", "ours"]);
});

test("a write at one node beside a removal at the other came before it, or is refused", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const project = `removed-${round}`;
    ok(await put(a, project, { shared: true, members: ["ada", "bo"] }));
    // The other node knows within a second that it is shared.
    await until(async () => (await encode(b, "ada", project, "first", { scope: "shared" })).status === 200);
    const writes = Array.from({ length: 6 }, (_, i) =>
      encode(b, "ada", project, `w${i}`, { scope: "shared" }),
    );
    const removal = put(a, project, { shared: true, members: ["bo"] });
    const answers = await Promise.all(writes);
    ok(await removal);
    assert.equal(
      problemCode(await encode(b, "ada", project, "late", { scope: "shared" })),
      "403 not_a_member",
    );
    const done = answers.flatMap((answer, i) => (answer.status === 200 ? [`w${i}`] : []));
    for (const answer of answers)
      if (answer.status !== 200) assert.equal(problemCode(answer), "403 not_a_member");
    assert.deepEqual(new Set(await sharedValues(a, "bo", project)), new Set(["first", ...done]));
  }
});

test("what is taken along at one node beside writes at the other is taken once, and none of it is lost", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const project = `taken-${round}`;
    ok(await encode(a, "ada", project, "mine"));
    const take = { user_id: "ada" };
    const [shared, ...writes] = await Promise.all([
      put(a, project, { shared: true, members: ["ada", "bo"], take }),
      ...["w0", "w1", "w2"].map((value) => encode(b, "ada", project, value)),
    ]);
    ok(shared!);
    for (const write of writes) ok(write);
    const own = (await get(b, "/facts/history", "ada", project, { label: "PROJ.goal", scope: "own" })).json;
    const kept = await sharedValues(a, "bo", project);
    const values = [...kept, ...((own.revisions ?? []) as { value: string }[]).map(({ value }) => value)];
    assert.deepEqual([...new Set(values)].sort(), ["mine", "w0", "w1", "w2"]);
    // A value that was shared before the taking, and later than what it took, is written again behind just that.
    const again = values.filter((value, i) => values.indexOf(value) < i);
    assert.ok(again.length <= 1, values.join());
    for (const value of again) {
      const taken = writes.flatMap(({ json }) => (json.place === "shared" ? [] : [json.value]));
      const between = kept.slice(kept.indexOf(value) + 1, kept.lastIndexOf(value));
      assert.deepEqual(between.sort(), ["mine", ...taken].sort(), values.join());
    }
  }
});

test("sharing at one node beside the end of it at the other leaves no fact that nobody shares", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const project = `ended-${round}`;
    ok(await put(a, project, { shared: true, members: null }));
    ok(await encode(a, "ada", project, "ours"));
    const [ended, written, again] = await Promise.all([
      put(a, project, { shared: false, give_to: "ada" }),
      encode(b, "bo", project, "bo's", { scope: "shared" }),
      put(b, project, { shared: true, members: ["ada", "bo"] }),
    ]);
    ok(again);
    assert.ok(ended.status === 200 || problemCode(ended) === "409 project_has_facts", ended.text);
    assert.ok(written.status === 200 || problemCode(written) === "403 not_a_member", written.text);
    // Shared again, or not at all: whatever is there is seen by a member.
    ok(await put(b, project, { shared: true, members: ["ada", "bo"] }));
    const own = await get(b, "/facts/history", "ada", project, { label: "PROJ.goal", scope: "own" });
    const values = [
      ...(await sharedValues(b, "ada", project)),
      ...(own.json.revisions ?? []).map(({ value }: { value: string }) => value),
    ];
    assert.deepEqual([...values].sort(), written.status === 200 ? ["bo's", "ours"] : ["ours"]);
  }
});
