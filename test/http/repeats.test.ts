/** Requests that are repeated under their Idempotency-Key. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryService, ok } from "./memory-calls.ts";

const memory = memoryService(Date.UTC(2026, 10, 30, 23, 59, 50));
const { clock, post, get, encode } = memory;

/** Sends a request, lets time and facts go on, and sends it again. */
async function repeated(path: string, body: object, meanwhile: () => Promise<unknown>) {
  const headers = {
    "idempotency-key": `${path} ${JSON.stringify(body).length} ${clock.ms}`.replaceAll(" ", "-"),
  };
  const first = await post(path, body, headers);
  ok(first);
  clock.ms += 1_000;
  await meanwhile();
  const again = await post(path, body, headers);
  assert.equal(again.headers.get("idempotency-replayed"), "true", again.text);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("etag"), first.headers.get("etag"));
  return first.json;
}

test("every write that is repeated under its Idempotency-Key is answered as before, byte by byte", async () => {
  const user_id = "repeating";
  const details = true;
  const usedUp = async () => (await memory.running.call("GET", "/usage")).json.used;
  await post("/channels", { label: "ONCE.short", description: "Lives for a minute", ttl_s: 60 });
  ok(await encode(user_id, "USER.name", "Ada", { written_by: "codex" }));
  for (const item of ["jq", "npm", "git"])
    ok(await post("/facts/append", { user_id, label: "PREF.tools", item }));
  const other = async () => {
    ok(await encode(user_id, "USER.name", `later ${clock.ms}`));
    ok(await post("/facts/append", { user_id, label: "PREF.tools", item: `later ${clock.ms}` }));
  };
  const nothing = async () => {};

  const fact = { user_id, label: "USER.name", value: "Grace", ttl_s: 3_600, details };
  const written = await repeated("/encode", fact, other);
  assert.equal(written.previous.value, "Ada");
  await repeated("/encode", { ...fact, value: "without details", details: false }, other);
  const until = new Date(clock.ms + 500).toISOString();
  const passed = { user_id, label: "TASK.next", value: "soon", expires_at: until, details };
  assert.equal((await repeated("/encode", passed, nothing)).expires_at, until);
  await repeated("/encode", { user_id, label: "ONCE.short", value: "x", details }, () =>
    memory.running.call("PATCH", "/channels/ONCE.short", { body: { ttl_s: 7, one_of: ["a", "b"] } }),
  );
  const facts = [
    { label: "USER.name", value: "Grace" },
    { label: "USER.os", value: "Debian", ttl_s: 60 },
  ];
  const batch = await repeated("/encode/batch", { user_id, facts, details }, other);
  assert.deepEqual(
    batch.facts.map(({ previous }: { previous: object | null }) => previous === null),
    [false, true],
  );
  ok(await encode(user_id, "TASK.owner", "Grace", { ttl_s: 1 }));
  clock.ms += 2_000;
  const overEnded = [
    { label: "TASK.current", value: "tests" },
    { label: "TASK.owner", value: "Ada" },
  ];
  await repeated("/encode/batch", { user_id, facts: overEnded, details }, other);
  const list = { user_id, label: "PREF.tools", details };
  const added = await repeated("/facts/append", { ...list, item: "cargo", ttl_s: 600 }, other);
  assert.match(added.value, /^jq; npm; git; later \d+; .*cargo$/);
  const removed = await repeated("/facts/remove", { ...list, item: "jq" }, other);
  assert.match(removed.value, /^npm; git;/);
  const single = { user_id, label: "PREF.avoid" };
  ok(await post("/facts/append", { ...single, item: "only" }));
  assert.equal((await repeated("/facts/remove", { ...single, item: "only", details }, nothing)).value, "");
  const { revisions } = ok(await get("/facts/history", { user_id, label: "USER.name" }));
  const restore = { user_id, label: "USER.name", revision: revisions.at(-1).revision, details };
  const used = await usedUp();
  await repeated("/facts/restore", restore, async () => {
    // Until the history has no such revision any more.
    for (let i = 0; i < 12; i++) ok(await encode(user_id, "USER.name", `value ${i}`));
  });
  assert.equal(await usedUp(), used + 13);
});

test("a repeated write does not bring back what was forgotten, nor show it", async () => {
  const user_id = "repeating-forgotten";
  const secret = "a value that was forgotten";
  const send = (path: string, body: object, key: string) =>
    post(path, { user_id, details: true, ...body }, { "idempotency-key": key });
  const name = { label: "USER.name", value: "Ada" };
  const append = { label: "PREF.tools", item: "npm" };
  const all = async () => [await send("/encode", name, "f1"), await send("/facts/append", append, "f2")];
  ok(await encode(user_id, "USER.name", secret));
  ok(await post("/facts/append", { user_id, label: "PREF.tools", item: secret }));
  for (const answer of await all()) assert.ok(answer.text.includes(secret));
  for (const answer of await all()) assert.ok(answer.text.includes(secret));
  ok(await memory.running.call("DELETE", `/facts?user_id=${user_id}&label=PREF.tools`));
  const [encoded, appended] = (await all()).map(ok);
  assert.deepEqual([encoded.value, encoded.previous, appended.value], ["Ada", null, ""]);
  ok(await memory.running.call("DELETE", `/users?user_id=${user_id}`));
  for (const answer of await all()) {
    ok(answer);
    assert.ok(!answer.text.includes(secret));
  }
  assert.deepEqual(ok(await get("/facts", { user_id })).facts, []);
});

test("a repeated write in a shared project shows nothing that was forgotten there, nor what its caller does not share any more", async () => {
  const secret = "a value of the team that was forgotten";
  const share = (project: string, members: string[]) =>
    memory.running.call("PUT", `/projects/${project}`, { body: { shared: true, members } });
  const ways: Record<string, (project: string) => Promise<unknown>> = {
    forgotten: async (project) => {
      for (const label of ["PROJ.goal", "PROJ.stack", "PROJ.status"])
        ok(await memory.remove("/facts", { user_id: "ada", label, project }));
    },
    erased: async (project) => ok(await memory.running.call("DELETE", `/projects/${project}`)),
    given: async (project) => {
      ok(
        await memory.running.call("PUT", `/projects/${project}`, { body: { shared: false, give_to: "ada" } }),
      );
      ok(await memory.remove("/users", { user_id: "ada" }));
    },
    removed: async (project) => ok(await share(project, ["ada"])),
  };
  for (const [way, go] of Object.entries(ways)) {
    const project = `repeats-${way}`;
    const at = { user_id: "bo", project, details: true };
    ok(await share(project, ["ada", "bo"]));
    for (const label of ["PROJ.goal", "PROJ.status"]) ok(await encode("ada", label, secret, { project }));
    ok(await post("/facts/append", { user_id: "ada", project, label: "PROJ.stack", item: secret }));
    ok(await encode("bo", "USER.name", "Robert"));
    ok(await encode("bo", "USER.os", "Plan 9"));
    const facts = [
      { label: "USER.name", value: "Bo" },
      { label: "PROJ.status", value: "open" },
    ];
    const bodies: [string, object][] = [
      ["/encode", { ...at, label: "PROJ.goal", value: "mine" }],
      ["/facts/append", { ...at, label: "PROJ.stack", item: "mine" }],
      ["/encode/batch", { ...at, facts }],
    ];
    const all = async () => {
      const answers = [];
      for (const [path, body] of bodies)
        answers.push(await post(path, body, { "idempotency-key": `${way}${path}`.replaceAll("/", "-") }));
      return answers.map((answer) => [answer.status, answer.text]);
    };
    for (const [, text] of await all()) assert.ok(String(text).includes(secret), way);
    // Without the name of whoever has written the value before.
    const repeated = await all();
    for (const [, text] of repeated) assert.ok(String(text).includes(secret), way);
    // What bo forgets of his own is not what the project's answers say; the batch has both.
    ok(await memory.remove("/facts", { user_id: "bo", label: "USER.os" }));
    assert.deepEqual((await all()).slice(0, 2), repeated.slice(0, 2), way);
    await go(project);
    for (const [status, text] of await all()) {
      assert.equal(status, 200, way);
      assert.ok(!String(text).includes(secret), `${way}: ${text}`);
    }
    assert.deepEqual(
      (await memory.factsOf("bo", { project })).map(({ value }) => value).includes(secret),
      false,
    );
  }
});
