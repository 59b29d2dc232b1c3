/**
 * A key for some groups of labels, while others change what it does not see: whatever happens there, every answer that it
 * gets stays the same, byte for byte and with its headers, and nobody who listens with it hears of anything.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fieldsOf } from "../fixtures/fields.ts";
import { until } from "../fixtures/waiting.ts";
import { listenTo } from "./event-stream.ts";
import { problemCode, sharedRunning } from "./running-service.ts";

const running = sharedRunning();

const USER = "ada";
const PROJECT = "loom/fix";
const INDEX_OF_300 = "include=index&details=true&max_tokens=300";

async function newKey(groups: string): Promise<string> {
  return (await running.service.core.keys.create({ account: "acme", tier: "pro", groups })).key;
}

async function post(path: string, body: object, headers: Record<string, string> = {}, key = running.key) {
  return running.call("POST", path, { key, body: { user_id: USER, ...body }, headers });
}

async function write(label: string, value: string, more: object = {}): Promise<number> {
  const { json, status, text } = await post("/encode", {
    ...{ label, value, new_label: "certain", details: true },
    ...more,
  });
  assert.equal(status, 200, text);
  return json.revision;
}

async function forget(label: string, more = ""): Promise<void> {
  const { status, text } = await running.call("DELETE", `/facts?user_id=${USER}&label=${label}${more}`);
  assert.equal(status, 200, text);
}

/** Everything that can be asked without writing, also about what is not there for the key; with blocks, which take time, where one is given. */
async function answersTo(key: string, block?: string): Promise<Map<string, string>> {
  const user = `user_id=${USER}`;
  const here = `${user}&project=${PROJECT}`;
  const find = (q: string, more = "") => `/facts/find?${user}&q=${q}&limit=50${more}`;
  const paths = [
    ...[user, here].flatMap((where) => [
      `/facts?${where}&details=true`,
      ...(block === undefined ? [] : [`/context?${where}&details=true`, `/context?${where}`]),
      `/context?${where}&include=index`,
      `/context?${where}&include=index&details=true&max_tokens=50`,
      `/context?${where}&${INDEX_OF_300}`,
    ]),
    ...[
      "DESK.lamp",
      "HEALTH.allergy",
      "HEALTH.alergy",
      "DESK.allergy",
      "health.allergy",
      "HEALTH.none",
    ].flatMap((label) => [
      `/decode?${user}&label=${label}&details=true`,
      `/facts/history?${user}&label=${label}`,
    ]),
    ...[find("allergy"), find("nuts"), find("lamp"), find("green"), find("health", "&everywhere=true")],
    ...[`/users/history?${user}&limit=100`, "/users", `/users/export?${user}`],
    ...["/channels", "/usage", "/usage/days", `/facts?${user}&groups=HEALTH`, `/facts?${user}&groups=-DESK`],
  ];
  const asked: [name: string, method: string, path: string, body?: object][] = [
    ...paths.map((path) => [path, "GET", path] as [string, string, string]),
    ...(block === undefined
      ? []
      : ([
          ["flush", "POST", "/flush", { user_id: USER }],
          ["read", "POST", "/read", { user_id: USER, block }],
        ] as [string, string, string, object][])),
    ["rollback", "POST", "/users/rollback", { user_id: USER, to: "2020-01-01", dry_run: true }],
    ...["DESK.lmap", "HEALT.allergy", "DESK.allergy2"].map(
      (label) =>
        [`encode ${label}`, "POST", "/encode", { user_id: USER, label, value: "x" }] as [
          string,
          string,
          string,
          object,
        ],
    ),
    ...(
      [
        ["tools/list", {}],
        ["resources/list", {}],
        ["resources/read", { uri: `sideband://memory/${USER}` }],
        ["prompts/get", { name: "context" }],
        ["tools/call", { name: "recall", arguments: {} }],
        ["tools/call", { name: "find", arguments: { query: "allergy nuts", everywhere: true } }],
        ["tools/call", { name: "history", arguments: { label: "HEALTH.allergy" } }],
      ] as const
    ).map(
      ([method, params]) =>
        [
          `mcp ${method} ${JSON.stringify(params)}`,
          "POST",
          `/mcp?user_id=${USER}`,
          {
            ...{ jsonrpc: "2.0", id: 1, method, params },
          },
        ] as [string, string, string, object],
    ),
  ];
  const answers = new Map<string, string>();
  for (const [name, method, path, body] of asked) {
    const accept = path.startsWith("/mcp") ? { accept: "application/json, text/event-stream" } : {};
    const { status, headers, text } = await running.call(method, path, {
      key,
      headers: { "x-request-id": "same", ...accept },
      ...(body === undefined ? {} : { body }),
    });
    const kept = [...headers].filter(
      ([header]) => !["date", "ratelimit", "x-ratelimit-reset"].includes(header),
    );
    // The time that a block took, and the seconds to the end of the month.
    const bare = `${status} ${JSON.stringify(kept)} ${text}`
      .replace(/"latency_ms":\d+/g, "")
      .replace(/"ratelimit-policy","[^"]*"/, "")
      .replace(/"since":"[^"]*",?/, "");
    answers.set(name, bare);
  }
  return answers;
}

/** What happens in a group that the key is not for, one after the other. */
const UNSEEN: readonly [what: string, change: () => Promise<unknown>][] = [
  ["a first fact", () => write("HEALTH.allergy", "nuts")],
  ["a label near one that is seen", () => write("HEALTH.lamp", "green", { description: "a lamp" })],
  ["another value", () => write("HEALTH.allergy", "nuts and lamp", { origin: "read" })],
  ["a pin", () => write("HEALTH.allergy", "nuts and lamp", { pinned: true })],
  ["in a project", () => write("HEALTH.ward", "4b", { project: PROJECT, scope: "worktree" })],
  ["in a project of its own", () => write("HEALTH.ward", "4c", { project: "clinic", scope: "project" })],
  ["a list", () => post("/facts/append", { label: "HEALTH.list", item: "a", new_label: true })],
  ["no item", () => post("/facts/remove", { label: "HEALTH.list", item: "a" })],
  ["another label", () => post("/facts/rename", { label: "HEALTH.allergy", to: "HEALTH.allergies" })],
  ["one that ends", () => write("HEALTH.today", "ill", { ttl_s: 1 })],
  ["forgotten", () => forget("HEALTH.allergies", "&keep_history=true")],
  ["forgotten for good", () => forget("HEALTH.lamp")],
  ["another user", () => write("HEALTH.blood", "0", { user_id: "bob" })],
  [
    "a label of the account",
    () => running.call("POST", "/channels", { body: { label: "HEALTH.doctor", description: "nuts" } }),
  ],
  ["a fact on it", () => write("HEALTH.doctor", "Dr. Nuts")],
  ["a hidden one", () => running.call("PATCH", "/channels/HEALTH.doctor", { body: { hidden: true } })],
  ["its end", () => wait(1_500)],
];

test("whatever changes in a group that a key is not for, no answer to it changes, nor a header", async () => {
  await write("USER.name", "Ada");
  await write("DESK.lamp", "green", { description: "What stands on the desk" });
  await write("TASK.next", "weave", { project: PROJECT });
  // More than an index of 300 tokens has room for, in short values: the reader model takes its time for each letter.
  for (let i = 0; i < 30; i++) await write(`DESK.item_${i}`, `pen ${i}`);
  const key = await newKey("-HEALTH");
  const { fdm_block } = (await running.call("GET", `/context?user_id=${USER}`, { key })).json;
  const known = await answersTo(key, fdm_block);
  assert.ok(known.size > 45);
  assert.match(known.get(`/context?user_id=${USER}&${INDEX_OF_300}`)!, /"left_out":\["USER\.name"/);
  for (const [i, [what, change]] of UNSEEN.entries()) {
    await change();
    const block = i % 8 === 0 ? fdm_block : undefined;
    for (const [name, answer] of await answersTo(key, block))
      assert.equal(answer, known.get(name), `${what}: ${name}`);
  }
  // A block that has such facts shows it those alone that it sees.
  await write("HEALTH.allergy", "penicillin");
  const whole = (await running.call("GET", `/context?user_id=${USER}`)).json.fdm_block;
  const read = await running.call("POST", "/read", { key, body: { user_id: USER, block: whole } });
  assert.doesNotMatch(read.text, /HEALTH|penicillin|Nuts/);
  assert.equal(read.status, 200, read.text);
});

test("what a fact was under a label that a key does not see is not restored, compared or told, by any number", async () => {
  const key = await newKey("-HEALTH");
  const label = "DESK.moved";
  const hidden = [await write("HEALTH.moved", "secret one"), await write("HEALTH.moved", "secret two")];
  await post("/facts/rename", { label: "HEALTH.moved", to: label });
  const last = await write(label, "seen");
  for (let revision = Math.max(1, hidden[0] - 2); revision < last; revision++) {
    const answer = await post("/facts/restore", { label, revision, details: true }, {}, key);
    if (answer.status === 200) assert.equal(answer.json.value, "secret two", "what it was when it came");
    else assert.equal(problemCode(answer), "404 not_found");
    assert.doesNotMatch(answer.text, /secret one|HEALTH/);
  }
  for (const revision of hidden) {
    const headers = { "if-match": `"${revision}"` };
    const refused = await post("/encode", { label, value: "x" }, headers, key);
    assert.equal(problemCode(refused), "412 revision_mismatch");
    assert.doesNotMatch(refused.text, /secret one|HEALTH/);
    for (const [path, body] of [
      ["/encode", { label: "HEALTH.moved", value: "x" }],
      ["/facts/rename", { label, to: "HEALTH.moved", merge: "append" }],
      ["/facts/append", { label: "HEALTH.moved", item: "x" }],
    ] as const)
      assert.equal(problemCode(await post(path, body, headers, key)), "403 group_not_allowed");
  }
  // Back under its old label it is gone, with all that it was.
  await post("/facts/rename", { label, to: "HEALTH.moved" });
  const { text } = await running.call("GET", `/users/history?user_id=${USER}&limit=200`, { key });
  assert.doesNotMatch(text, /DESK\.moved|secret|HEALTH/);
  const gone = await running.call("GET", `/decode?user_id=${USER}&label=${label}`, { key });
  assert.equal(problemCode(gone), "400 unknown_label");
});

test("an answer under an Idempotency-Key is that of its own key, and no key for fewer groups gets it", async () => {
  const key = await newKey("-HEALTH");
  const headers = { "idempotency-key": "once" };
  const body = { label: "DESK.lamp", value: "red", details: true };
  await write("DESK.lamp", "green");
  await write("HEALTH.allergy", "nuts");
  const first = await post("/encode", body, headers, key);
  await write("HEALTH.allergy", "figs");
  await write("HEALTH.other", "figs");
  const again = await post("/encode", body, headers, key);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  const hidden = { label: "HEALTH.allergy", value: "dates", details: true };
  assert.match(
    (await post("/encode", hidden, { "idempotency-key": "hidden" })).text,
    /"previous":\{"value":"figs"/,
  );
  for (const name of ["hidden", "once"]) {
    const refused = await post("/encode", hidden, { "idempotency-key": name }, key);
    assert.equal(problemCode(refused), "403 group_not_allowed");
    assert.doesNotMatch(refused.text, /figs|dates/);
  }
});

/** What a client of the 2025 revisions hears on the stream of its session. */
async function subscribed(key: string) {
  const headers = { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" };
  const send = (method: string, params: object, more: Record<string, string> = {}) =>
    fetch(`${running.url}/mcp`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...more },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const started = await send("initialize", {
    ...{ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  });
  const session = { "mcp-session-id": started.headers.get("mcp-session-id")! };
  await started.text();
  await (await send("resources/subscribe", { uri: `sideband://memory/${USER}` }, session)).text();
  const ended = new AbortController();
  const stream = await fetch(`${running.url}/mcp`, {
    headers: { ...headers, ...session },
    signal: ended.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })().catch(() => {});
  const count = () => text.split("notifications/resources/updated").length - 1;
  // Since it may have changed before, it is told once when the stream begins.
  await until(() => count() === 1);
  return {
    count,
    async end() {
      ended.abort();
      await reading;
    },
  };
}

test("nobody who listens with such a key, to events or as an MCP client, hears of what it does not see", async () => {
  const key = await newKey("-HEALTH");
  const events = await listenTo(running.url, `?user_id=${USER}`, key);
  const whole = await listenTo(running.url, `?user_id=${USER}`, running.key);
  const [limited, all] = [await subscribed(key), await subscribed(running.key)];
  await write("HEALTH.allergy", "a");
  await until(() => all.count() === 2);
  await write("HEALTH.today", "ill", { ttl_s: 1 });
  await until(() => whole.heard().some(({ kind }) => kind === "expired"));
  await forget("HEALTH.allergy");
  await until(() => whole.heard().some(({ kind }) => kind === "forgotten"));
  const missed = whole.heard().at(-1)!;
  await write("DESK.lamp", "blue");
  await until(() => limited.count() === 2);
  assert.deepEqual(fieldsOf(await events.until(1), "label"), ["DESK.lamp"]);
  // An id of what it has not seen leads on, and tells nothing.
  const again = await listenTo(running.url, `?user_id=${USER}`, key, { "last-event-id": missed.id });
  assert.deepEqual(fieldsOf(await again.until(1), "label"), ["DESK.lamp"]);
  assert.doesNotMatch(again.text(), /reset|HEALTH/);
  await Promise.all([events, whole, again, limited, all].map((listener) => listener.end()));
});
