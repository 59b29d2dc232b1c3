/** Who hears of what is shared, and what is done at the same time as a member writes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { rowsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import { type HeardEvent, listenTo } from "./event-stream.ts";
import { type Answer, problemCode, sharedRunning, startRunning } from "./running-service.ts";

const running = sharedRunning(() => startRunning({ SIDEBAND_DEMO: "0" }, undefined, { warm: false }));

const call = (method: string, path: string, body?: object) =>
  running.call(method, path, { ...(body && { body }) });
const encode = (user_id: string, project: string, value: string, more: object = {}) =>
  call("POST", "/encode", { user_id, label: "PROJ.goal", value, project, ...more });
const share = (project: string, members: string[] | null) =>
  call("PUT", `/projects/${project}`, { shared: true, members });
function ok(answer: Answer) {
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}

test("an event of a shared fact reaches each member once, with who wrote it, and nobody who was removed", async () => {
  ok(await share("heard", ["ada", "bo"]));
  const listen = (query: string, key = running.key) => listenTo(running.url, query, key);
  const [ada, bo, eve, all] = await Promise.all([
    listen("?user_id=ada"),
    listen("?user_id=bo&project=heard"),
    listen("?user_id=eve"),
    listen(""),
  ]);
  ok(await encode("bo", "heard", "one", { written_by: "codex" }));
  const seen = (heard: readonly HeardEvent[]) =>
    heard.map(({ user_id, project, place, kind }) => [user_id, project, place, kind]);
  const expected = [["bo", "heard", "shared", "written"]];
  for (const listener of [ada, bo, all]) assert.deepEqual(seen(await listener.until(1)), expected);
  ok(await share("heard", ["ada"]));
  ok(await encode("ada", "heard", "two"));
  ok(await encode("bo", "heard", "bo's own"));
  assert.deepEqual(seen(await ada.until(2)).at(-1), ["ada", "heard", "shared", "written"]);
  // What bo hears next is of bo alone.
  assert.deepEqual(seen(await bo.until(2)).at(-1), ["bo", "heard", undefined, "written"]);
  assert.equal((await all.until(3)).length, 3);
  ok(await call("DELETE", "/projects/heard"));
  const gone = (await ada.until(3)).at(-1);
  assert.deepEqual(
    [gone?.user_id, gone?.project, gone?.label, gone?.kind],
    [null, "heard", null, "forgotten"],
  );
  ok(await encode("eve", "heard", "eve's"));
  assert.deepEqual(seen(await eve.until(1)), [["eve", "heard", undefined, "written"]]);
  await Promise.all([ada, bo, eve, all].map((listener) => listener.end()));
});

test("who comes back hears nothing of what an erased person wrote in a shared project, whatever else there was of theirs", async () => {
  ok(await share("left", null));
  const listen = (query: string, id?: string) =>
    listenTo(running.url, query, running.key, id === undefined ? {} : { "last-event-id": id });
  const before = await listen("");
  ok(await encode("bo", "left", "bo's"));
  const [{ id }] = (await before.until(1)) as [HeardEvent];
  await before.end();
  ok(await encode("dora", "left", "dora's"));
  ok(await call("POST", "/encode", { user_id: "dora", label: "USER.name", value: "Dora" }));
  // Of fay there is nothing but what is shared.
  ok(await encode("fay", "left", "fay's"));
  for (const user of ["dora", "fay"]) ok(await call("DELETE", `/users?user_id=${user}`));
  ok(await encode("bo", "left", "the last"));
  const seen = (heard: readonly HeardEvent[]) => heard.map(({ user_id, label }) => [user_id, label]);
  const last = ["bo", "PROJ.goal"];
  for (const [query, expected] of [
    ["", [["dora", null], last]],
    ["?user_id=bo", [last]],
  ] as const) {
    const again = await listen(query, id);
    await until(() => again.heard().some((event) => event.user_id === "bo"));
    assert.deepEqual(seen(again.heard()), expected, query);
    await again.end();
  }
});

const ROUNDS = 12;

test("erasing a person beside a write of theirs leaves no name of before, and no fact of theirs", async () => {
  ok(await share("erased", null));
  for (let i = 0; i < ROUNDS; i++) {
    const batch = call("POST", "/encode/batch", {
      ...{ user_id: "cleo", project: "erased" },
      facts: [
        { label: "USER.name", value: "Cleo" },
        { label: "PROJ.goal", value: `${i}` },
      ],
    });
    const erasing = call("DELETE", "/users?user_id=cleo");
    assert.equal((await batch).status, 200);
    const { status } = await erasing;
    assert.ok(status === 200 || status === 404);
    const mine = (await call("GET", "/decode?user_id=cleo&label=USER.name")).status === 200;
    const { facts } = ok(await call("GET", "/facts?user_id=bo&project=erased"));
    // Both memories say the same: the write was before, and is erased, or after.
    if (!mine) assert.equal(facts[0]?.user_id, undefined, `round ${i}`);
    ok(await encode("cleo", "erased", "there"));
    ok(await call("DELETE", "/users?user_id=cleo"));
    assert.equal(ok(await call("GET", "/facts?user_id=bo&project=erased")).facts[0].user_id, undefined);
  }
});

test("erasing or ending a project beside writes leaves nothing that comes back", async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const project = `gone-${i}`;
    ok(await share(project, null));
    const writes = ["ada", "bo", "cy"].map((user) => encode(user, project, user));
    const ending =
      i % 2 === 0
        ? call("DELETE", `/projects/${project}`)
        : call("PUT", `/projects/${project}`, { shared: false });
    const ended = await ending;
    const written = await Promise.all(writes);
    for (const one of written)
      assert.ok(one.status === 200 || problemCode(one) === "403 not_a_member", one.text);
    if (ended.status === 409) {
      ok(await call("DELETE", `/projects/${project}`));
    } else assert.equal(ended.status, 200, ended.text);
    // A write after the end is the writer's own.
    ok(await share(project, null));
    assert.deepEqual(ok(await call("GET", `/facts?user_id=nobody-else&project=${project}`)).facts, []);
    ok(await call("DELETE", `/projects/${project}`));
  }
});

test("sharing with taking beside a rollback of the same person loses nothing, and doubles nothing", async () => {
  for (let i = 0; i < ROUNDS; i++) {
    const [project, user] = [`taken-${i}`, `dee-${i}`];
    ok(await encode(user, project, "one"));
    // The clock of a database may be some milliseconds away.
    await setTimeout(50);
    const to = new Date().toISOString();
    await setTimeout(50);
    ok(await encode(user, project, "two"));
    const [rolled, taken] = await Promise.all([
      call("POST", "/users/rollback", { user_id: user, project, to }),
      call("PUT", `/projects/${project}`, { shared: true, take: { user_id: user } }),
    ]);
    ok(rolled);
    ok(taken);
    const { facts } = ok(await call("GET", `/facts?user_id=${user}&project=${project}&details=true`));
    assert.deepEqual(rowsOf(facts, "place", "hides"), [["shared", undefined]], `round ${i}`);
    // Before the facts were taken, or too late for them.
    assert.ok(["one", "two"].includes(facts[0].value));
    const { revisions } = ok(
      await call("GET", `/facts/history?user_id=bo&label=PROJ.goal&project=${project}`),
    );
    assert.ok(revisions.every(({ user_id }: Record<string, unknown>) => user_id === user));
    assert.doesNotMatch((await call("GET", `/users/export?user_id=${user}`)).text, /PROJ\.goal/);
  }
});
