/** GET /users/events: what listeners hear, and what they never hear. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { endAfter } from "../fixtures/ends.ts";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { soon, until } from "../fixtures/waiting.ts";
import { type Listener, listenTo } from "./event-stream.ts";
import { type Answer, sharedRunning, startRunning } from "./running-service.ts";

const clock = { ms: Date.UTC(2026, 10, 30), now: () => clock.ms };

const running = sharedRunning(() => startRunning({ SIDEBAND_DEMO: "0" }, undefined, { warm: false, clock }));

const encode = (user_id: string, label: string, value: string, more: object = {}) =>
  running.call("POST", "/encode", { body: { user_id, label, value, ...more } });
function ok(answer: Answer): void {
  assert.ok(answer.status < 300, answer.text);
}

const listen = (query: string, headers: Record<string, string> = {}, key = running.key) =>
  listenTo(running.url, query, key, headers);

test("a listener hears every change of a user, never a value, and goes on where it was", async () => {
  const secret = "a value that nobody hears";
  const first = await listen("?user_id=heard");
  const everyone = await listen("");
  ok(await encode("heard", "USER.name", secret, { written_by: "codex" }));
  ok(await encode("somebody-else", "USER.name", "x"));
  ok(await encode("heard", "TASK.current", "y", { project: "loom/w" }));
  ok(await running.call("DELETE", "/facts?user_id=heard&label=USER.name"));
  const heard = await first.until(3);
  assert.deepEqual(rowsOf(heard, "user_id", "project", "label", "kind", "written_by"), [
    ["heard", null, "USER.name", "written", "codex"],
    ["heard", "loom/w", "TASK.current", "written", null],
    ["heard", null, "USER.name", "forgotten", null],
  ]);
  assert.equal((await everyone.until(4)).length, 4);
  assert.ok(!first.text().includes(secret));
  await first.end();
  ok(await encode("heard", "USER.os", "while it was away"));
  const again = await listen("?user_id=heard", { "last-event-id": heard[2].id });
  assert.deepEqual(fieldsOf(await again.until(1), "label"), ["USER.os"]);
  assert.ok(!again.text().includes("event: reset"));
  const lost = await listen("?user_id=heard", { "last-event-id": "another-17" });
  await until(() => lost.text().includes("event: reset"));
  const inside = await listen("?user_id=heard&project=loom");
  ok(await encode("heard", "USER.os", "not there"));
  ok(await encode("heard", "TASK.next", "there", { project: "loom/w" }));
  assert.deepEqual(fieldsOf(await inside.until(1), "label"), ["TASK.next"]);
  ok(await running.call("DELETE", "/users?user_id=heard"));
  const gone = (await again.until(4)).at(-1)!;
  assert.deepEqual([gone.label, gone.kind], [null, "forgotten"]);
  // The project went with its person.
  assert.equal((await inside.until(2)).at(-1)!.kind, "forgotten");
  for (const listener of [everyone, again, lost, inside]) await listener.end();
});

test("a listener of a worktree hears that its project or its person was forgotten, and nothing else of them", async () => {
  const inner = await listen("?user_id=outer&project=loom/w");
  const write = (project: string) => encode("outer", "TASK.current", "x", { project });
  const forget = (query: string) => running.call("DELETE", `/users?user_id=outer${query}`);
  for (const project of ["loom/w", "loom", "loom/v", "loo"]) ok(await write(project));
  ok(await forget("&project=loo"));
  ok(await forget("&project=loom/v"));
  ok(await forget("&project=loom"));
  ok(await write("loom"));
  ok(await forget(""));
  ok(await write("loom/w"));
  assert.deepEqual(rowsOf(await inner.until(4), "project", "label", "kind"), [
    ["loom/w", "TASK.current", "written"],
    ["loom", null, "forgotten"],
    [null, null, "forgotten"],
    ["loom/w", "TASK.current", "written"],
  ]);
  await inner.end();
});

test("after a project was forgotten, who comes back hears that and nothing of what was in it", async () => {
  const first = await listen("?user_id=project");
  ok(await encode("project", "USER.name", "x"));
  for (const project of ["loom", "loom/w"]) ok(await encode("project", "TASK.current", "x", { project }));
  ok(await running.call("DELETE", "/users?user_id=project&project=loom"));
  const [{ id }] = await first.until(4);
  await first.end();
  const again = await listen("?user_id=project", { "last-event-id": id });
  ok(await encode("project", "USER.os", "last"));
  assert.deepEqual(rowsOf(await again.until(2), "project", "label", "kind"), [
    ["loom", null, "forgotten"],
    [null, "USER.os", "written"],
  ]);
  await again.end();
});

test("a bound key hears of its user alone", async () => {
  const { key } = await running.service.core.keys.create({
    account: "acme",
    tier: "unlimited",
    user: "mine",
  });
  const bound = await listen("", {}, key);
  const all = await listen("");
  ok(await encode("not-mine", "USER.name", "x"));
  ok(await encode("mine", "USER.name", "y"));
  ok(await encode("not-mine", "USER.os", "x"));
  ok(await encode("mine", "USER.os", "y"));
  assert.deepEqual(rowsOf(await bound.until(2), "user_id", "label"), [
    ["mine", "USER.name"],
    ["mine", "USER.os"],
  ]);
  // An id is the same for all listeners of the account, and says nothing of what happened in between.
  const ids = bound.heard().map(({ id }) => id);
  const others = (await all.until(4)).map(({ id }) => id);
  assert.deepEqual(ids, [others[1], others[3]]);
  for (const id of others) assert.match(id, /^[\w-]{22}$/);
  for (const listener of [bound, all]) await listener.end();
});

test("a listener hears that a fact has expired", async () => {
  const listener = await listen("?user_id=ending");
  ok(await encode("ending", "TASK.next", "x", { ttl_s: 5 }));
  clock.ms += 5_000;
  await running.service.core.store.sweep(clock.ms);
  const [, expired] = await listener.until(2);
  assert.deepEqual([expired.label, expired.kind], ["TASK.next", "expired"]);
  await listener.end();
});

test("a fact that expires is told of at its moment, without a sweep", async (context) => {
  const timed = endAfter(context, await startRunning({ SIDEBAND_DEMO: "0" }, undefined, { warm: false }));
  const listener = await listenTo(timed.url, "?user_id=ending", timed.key);
  const body = { user_id: "ending", label: "TASK.next", value: "x", ttl_s: 1 };
  ok(await timed.call("POST", "/encode", { body }));
  const [written, expired] = await listener.until(2);
  const lateMs = Date.now() - Date.parse(expired.at);
  assert.equal(Date.parse(expired.at), Date.parse(written.at) + 1_000);
  // The first sweep comes 30 s after the start.
  assert.ok(lateMs < 20_000, `${lateMs} ms late`);
  assert.equal(expired.kind, "expired");
  await listener.end();
});

test("a listener ends at once with its key or its token, revoked or expired, and hears no more; others go on", async () => {
  const { keys } = running.service.core;
  const account = { account: "acme", tier: "unlimited" } as const;
  const expiring = await keys.create({ ...account, expiresAtMs: clock.ms + 60_000 });
  const made = await running.call("POST", "/tokens", {
    body: { user_id: "watched", access: "read", ttl_s: 60 },
  });
  ok(made);
  const query = "?user_id=watched";
  const others = await listen(query);
  const [second, third] = [await listen(query, {}, expiring.key), await listen("", {}, made.json.token)];
  const revoked: Listener[] = [];
  await soon("the end of a listener", 1_000, async () => {
    const { key, record } = await keys.create(account);
    const listener = await listen(query, {}, key);
    revoked.push(listener);
    await keys.revoke(record.id);
    return () => listener.untilEnded();
  });
  ok(await encode("watched", "USER.name", "x"));
  await second.until(1);
  clock.ms += 60_000;
  await Promise.all([second.untilEnded(), third.untilEnded()]);
  ok(await encode("watched", "USER.name", "y"));
  assert.equal((await others.until(2)).length, 2);
  assert.deepEqual([second.heard().length, third.heard().length], [1, 1]);
  for (const listener of revoked) assert.deepEqual(listener.heard(), []);
  await others.end();
});

test("a service that stops does not wait for listeners", async () => {
  const stopping = await startRunning({ SIDEBAND_DEMO: "0" }, undefined, { warm: false });
  const response = await fetch(`${stopping.url}/users/events`, {
    headers: { authorization: `Bearer ${stopping.key}` },
  });
  const reading = response.text();
  await stopping.end();
  assert.match(await reading, /^: listening/);
});
