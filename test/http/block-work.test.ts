/**
 * Block work over real HTTP with real threads: fair between accounts, cancelled with its caller, dropped at the end,
 * and never built on code bits that are not the fact's. Counts and order are compared, not times.
 */

import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { seededRandom } from "../../src/base/random.ts";
import { keptCode } from "../../src/blockwork/fact-code.ts";
import { DEMO_ACCOUNT, DEMO_USER } from "../../src/memory/demo.ts";
import type { FactRecord } from "../../src/memory/ports.ts";
import { fieldsOf } from "../fixtures/fields.ts";
import { changesOf, numberOf, viewOf } from "../fixtures/views.ts";
import { until } from "../fixtures/waiting.ts";
import { send, sharedRunning, startRunning } from "./running-service.ts";

const running = sharedRunning(() => startRunning({ SIDEBAND_BLOCK_WORKERS: "1" }));

const WORDS = "the team ships a small parser every week for our users".split(" ");
const random = seededRandom(1);
const randomText = (length: number) =>
  Array.from({ length }, () => String.fromCodePoint(0x21 + random.below(94))).join("");

/** Of ordinary words: forty of them fit a block. */
const sentence = () => Array.from({ length: 6 }, () => random.pick(WORDS)).join(" ");

/** Facts written beneath HTTP: nothing is coded in the background then. */
async function store(account: string, userId: string, values: readonly string[]): Promise<void> {
  const changes = changesOf(values.map((value, channel) => [channel, value]));
  await running.service.core.store.write({ ...viewOf(userId, account, { nowMs: Date.now() }), changes });
}

async function factsOf(account: string, userId: string): Promise<readonly FactRecord[]> {
  return (await running.service.core.store.readUser(viewOf(userId, account)))!.facts;
}

function figure(name: string, labels: string): number {
  return running.service.core.metrics.value(`sideband_block_${name}`, labels);
}

const finished = (...kinds: string[]) =>
  kinds.reduce((sum, kind) => sum + figure("tasks_total", `kind="${kind}",result="ok"`), 0);
const cancelled = (kind: string) => figure("tasks_total", `kind="${kind}",result="cancelled"`);
const waiting = (kind: string) => figure("queue_depth", `kind="${kind}"`);

/** A request whose answer nobody reads: its connection is there to be cut. */
function ask(method: string, path: string, key: string | undefined, body?: unknown): Socket {
  const { hostname, port } = new URL(running.url);
  const text = body === undefined ? "" : JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\n${key === undefined ? "" : `Authorization: Bearer ${key}\r\n`}` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return socket;
}

test("whoever hangs up leaves no task behind, and the codes that were done stay done", async () => {
  const facts = Array.from({ length: 40 }, sentence);
  await store("acme", "hasty", facts);
  const before = finished("code");
  const caller = ask("GET", "/context?user_id=hasty", running.key);
  await until(() => finished("code") >= before + 2 && waiting("code") > 0);
  caller.destroy();
  await until(() => waiting("code") === 0);
  assert.ok(cancelled("code") > 0);
  await until(async () => (await factsOf("acme", "hasty")).some(({ code }) => code !== undefined));
  assert.equal((await running.call("GET", "/context?user_id=hasty")).status, 200);
  // The one that ran when the caller went was lost at most.
  const done = finished("code") - before;
  assert.ok(done === 40 || done === 41, `${done} codes were computed for 40 facts`);
});

test("of two who wait for the same block, one may go: the other is answered", async () => {
  const facts = Array.from({ length: 30 }, sentence);
  await store("acme", "shared", facts);
  const [before, cancelledBefore] = [finished("code"), cancelled("code")];
  const goes = ask("GET", "/context?user_id=shared", running.key);
  await until(() => waiting("code") > 0);
  const stays = running.call("GET", "/context?user_id=shared");
  await until(() => finished("code") >= before + 2);
  goes.destroy();
  assert.equal((await stays).json.channel_count, 30);
  assert.deepEqual([finished("code") - before, cancelled("code") - cancelledBefore], [30, 0]);
});

test("a stranger's first context waits for a turn, not for all that a heavy neighbour has asked for", async () => {
  const heavy = await running.newKey("heavy");
  await store(
    "heavy",
    "user",
    Array.from({ length: 40 }, () => randomText(1000)),
  );
  const neighbour = ask("GET", "/context?user_id=user", heavy);
  await until(() => waiting("code") >= 38);
  await store("acme", "stranger", ["Ada", "Nairobi", "Debian 13", "short answers", "ship it"]);
  const before = finished("code", "assemble");
  const context = await running.call("GET", "/context?user_id=stranger");
  const between = finished("code", "assemble") - before;
  assert.equal(context.json.channel_count, 5);
  assert.equal((await running.call("GET", "/readyz", { key: null })).status, 200);
  assert.ok(waiting("code") > 25, "the neighbour's work is still there");
  neighbour.destroy();
  await until(() => waiting("code") === 0);
  // Six tasks of the stranger; the neighbour's are dearer, so that there are fewer of them.
  assert.ok(between <= 13, `${between} tasks ran until the stranger was answered`);
});

test("the demo is one account: whatever is asked of it, a customer's flush takes turns with one", async () => {
  await store(DEMO_ACCOUNT, DEMO_USER, new Array(20).fill("x".repeat(24)));
  const { fdm_block: block } = (await running.call("GET", "/demo/context", { key: null })).json;
  await store("acme", "customer", ["Ada", "Nairobi", "Debian 13", "short answers", "ship it"]);
  const before = cancelled("value");
  const readers = Array.from({ length: 14 }, () => ask("POST", "/demo/read", undefined, { block }));
  await until(() => waiting("value") >= 18);
  const demoBefore = finished("code", "assemble", "open", "value");
  const flushed = await running.call("POST", "/flush", { body: { user_id: "customer" } });
  const between = finished("code", "assemble", "open", "value") - demoBefore;
  assert.deepEqual([flushed.json.lossless, flushed.json.channel_count], [true, 5]);
  // Twelve tasks of the customer: five codes, the block, its opening, five values.
  assert.ok(between <= 30, `${between} tasks ran until the customer was answered`);
  assert.equal((await running.call("GET", "/readyz", { key: null })).status, 200);
  for (const reader of readers) reader.destroy();
  await until(() => waiting("value") === 0);
  assert.ok(cancelled("value") > before);
});

test("forty values with some of the longest are answered, and all of them are read back", async () => {
  // All of them fit the block. Each of the longest takes as long as any value can.
  const values = Array.from({ length: 40 }, (_, i) => (i % 10 === 0 ? "x".repeat(1024) : "x"));
  await store("acme", "long", values);
  const flushed = await running.call("POST", "/flush", { body: { user_id: "long" } });
  assert.deepEqual(
    [flushed.status, flushed.json.channel_count, flushed.json.lossless],
    [200, 40, true],
    flushed.text,
  );
  assert.equal((await running.call("GET", "/readyz", { key: null })).status, 200);
  const { fdm_block: block } = (await running.call("GET", "/context?user_id=long")).json;
  assert.equal(block, flushed.json.fdm_block);
  const read = await running.call("POST", "/read", { body: { user_id: "long", block } });
  assert.deepEqual(fieldsOf(read.json.facts, "value"), values);
});

test("codes of a user whose block was asked for are computed in the background once the account has stopped writing, and then a block needs none", async () => {
  await running.call("POST", "/encode", { body: { user_id: "quiet", label: "USER.role", value: "poet" } });
  await running.call("GET", "/context?user_id=quiet");
  const [background, codes] = [finished("background"), finished("code")];
  for (const [label, value] of [
    ["USER.name", "Ada"],
    ["USER.os", "Debian"],
  ])
    await running.call("POST", "/encode", { body: { user_id: "quiet", label, value } });
  await until(() => finished("background") === background + 2);
  await until(async () => (await factsOf("acme", "quiet")).every(({ code }) => code !== undefined));
  assert.equal((await running.call("GET", "/context?user_id=quiet")).json.channel_count, 3);
  assert.equal(finished("code"), codes);
});

test("planted code bits are found out: the block is right all the same, and so is what is kept then", async () => {
  const { core } = running.service;
  await store("acme", "planted", ["Ada Lovelace", "London"]);
  await store("acme", "other", ["Eve Mallory", "Paris"]);
  await running.call("GET", "/context?user_id=other");
  await until(async () => (await factsOf("acme", "other")).every(({ code }) => code !== undefined));
  const others = new Map((await factsOf("acme", "other")).map(({ label, code }) => [label, code!]));
  const planted = (await factsOf("acme", "planted")).map(({ place, label, revision, value }) => ({
    place,
    label,
    revision,
    value,
    code: others.get(label)!,
  }));
  await core.store.saveCodes("acme", "planted", planted);
  const { fdm_block: block } = (await running.call("GET", "/context?user_id=planted")).json;
  const { json } = await running.call("POST", "/read", { body: { user_id: "planted", block } });
  assert.deepEqual(fieldsOf(json.facts, "value"), ["Ada Lovelace", "London"]);
  const isRight = (fact: FactRecord) =>
    keptCode({ ...fact, channel: numberOf(fact.label) }, core.blockWork.version) !== undefined;
  await until(async () => (await factsOf("acme", "planted")).every(isRight));
});

test("stopping drops background work at once", async () => {
  const stopped = await startRunning({ SIDEBAND_BLOCK_WORKERS: "1" });
  const labels = (await stopped.call("GET", "/channels")).json.channels;
  const facts = labels.map(({ label }: { label: string }) => ({ label, value: randomText(1000) }));
  const { core } = stopped.service;
  const metric = (name: string, labels: string) => core.metrics.value(name, labels);
  await stopped.call("POST", "/encode", { body: { user_id: "a", label: "USER.name", value: "Ada" } });
  await stopped.call("GET", "/context?user_id=a");
  assert.equal((await stopped.call("POST", "/encode/batch", { body: { user_id: "a", facts } })).status, 200);
  await until(() => metric("sideband_block_queue_depth", 'kind="background"') > 0);
  await core.blockWork.close();
  const done = metric("sideband_block_tasks_total", 'kind="background",result="ok"');
  const dropped = metric("sideband_block_tasks_total", 'kind="background",result="dropped"');
  assert.ok(dropped >= 30, `${done} done, ${dropped} dropped of 40`);
  await stopped.end();
});

test("stopping waits for a request no longer than it is told to", async () => {
  const stopped = await startRunning({ SIDEBAND_BLOCK_WORKERS: "1", SIDEBAND_SHUTDOWN_S: "1" });
  const { core } = stopped.service;
  const changes = changesOf(Array.from({ length: 40 }, (_, channel) => [channel, "x".repeat(1024)]));
  await core.store.write({ ...viewOf("long", "acme", { nowMs: Date.now() }), changes });
  const answer = send(stopped.url, "GET", "/context?user_id=long", { key: stopped.key }).then(
    ({ status }) => `answered ${status}`,
    () => "cut off",
  );
  const waiting = () => core.metrics.value("sideband_block_queue_depth", 'kind="code"');
  await until(() => waiting() > 30);
  await stopped.end();
  assert.equal(await answer, "cut off");
});
