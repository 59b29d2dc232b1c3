/**
 * Keys for some groups of labels: every operation of the table is called in an account with facts of a group that the
 * key is not for, and in a twin that never had any. Both must answer the same bytes, but for ids and times.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATION_EXAMPLES } from "../../src/contract/operation-examples.generated.ts";
import { OPERATIONS, type OperationId } from "../../src/contract/operations.ts";
import { type Answer, type Running, sharedRunning } from "./running-service.ts";

const running = sharedRunning();

const call: Running["call"] = (...args) => running.call(...args);

/** A part of every label, value, description and project that a key without the group must not see. */
const SECRET = "zqsecret";
const HIDDEN = `HEALTH.${SECRET}_allergy`;
const DECLARED = `HEALTH.${SECRET}_declared`;
const PROJECT = "loom-3f2a9c81d04e";

/** An account with a key for all groups, and one for all but HEALTH. */
interface Account {
  readonly name: string;
  readonly whole: string;
  readonly key: string;
}

async function newAccount(name: string, groups = "-HEALTH"): Promise<Account> {
  const { keys } = running.service.core;
  const make = async (limits: object) =>
    (await keys.create({ account: name, tier: "unlimited", ...limits })).key;
  return { name, whole: await make({}), key: await make({ groups }) };
}

type Step = readonly [method: string, path: string, body?: object];

async function run(key: string, steps: readonly Step[]): Promise<void> {
  for (const [method, path, body] of steps) {
    const answer = await call(method, path, { key, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  }
}

const written = (label: string, value: string, more: object = {}): Step => [
  "POST",
  "/encode",
  { user_id: "ada", label, value, new_label: "certain", ...more },
];

/** What both accounts have, and between it what only one of them has. */
const SEEN: readonly Step[] = [
  written("USER.name", "Ada Lovelace"),
  written("TASK.deadline", "2026-12-01"),
  written("PREF.tools", "ripgrep; jq"),
  written("PREF.tools", "ripgrep"),
  written("DESK.lamp", "green", { description: "What stands on the desk" }),
  written("PROJ.repo", "git@example.org:loom", { project: "loom-old" }),
  written("TASK.current", "weave", { project: `${PROJECT}/main` }),
  written("USER.role", "countess", { user_id: "a-user-to-forget" }),
];
const UNSEEN: readonly Step[] = [
  ["POST", "/channels", { label: DECLARED, description: `${SECRET} description` }],
  written(HIDDEN, `${SECRET} penicillin`, { description: `${SECRET} told by a doctor` }),
  written(HIDDEN, `${SECRET} nuts`),
  written(DECLARED, `${SECRET} asthma`),
  written(`HEALTH.${SECRET}_place`, `${SECRET} ward`, { project: `${SECRET}-clinic`, scope: "project" }),
  written(HIDDEN, `${SECRET} of another`, { user_id: `${SECRET}-user` }),
  written(`HEALTH.${SECRET}_lamp`, `${SECRET} lamp`, { project: `${PROJECT}/main`, scope: "worktree" }),
  [
    "POST",
    "/facts/append",
    { user_id: "ada", label: `HEALTH.${SECRET}_list`, item: SECRET, new_label: true },
  ],
  written("HEALTH.moved", `${SECRET} earlier`),
  written("HEALTH.moved", "seen from now on"),
];

interface Sent {
  readonly id: OperationId;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const SEEING = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([id, { access }]) => (access === "key" || access === "any") && id !== "events",
);

/** The request of the documents, and the same about labels, words and projects outside. */
function requestsOf(id: OperationId): Sent[] {
  const { params = {}, query = {}, body } = OPERATION_EXAMPLES[id];
  const path = (label = params.label) => OPERATIONS[id].path.replace(":label", label ?? "");
  const sent = { id, path: path(), query, body };
  const change = (fields: Record<string, string>): Sent[] => {
    const inQuery = Object.fromEntries(Object.entries(fields).filter(([name]) => name in query));
    const given = (body ?? {}) as Record<string, unknown>;
    const inBody = Object.fromEntries(Object.entries(fields).filter(([name]) => name in given));
    const label = params.label === undefined ? undefined : fields.label;
    if (Object.keys({ ...inQuery, ...inBody }).length === 0 && label === undefined) return [];
    return [
      { ...sent, path: path(label), query: { ...query, ...inQuery }, body: body && { ...given, ...inBody } },
    ];
  };
  const details = { ...sent, query: { ...query, details: "true", project: `${PROJECT}/main` } };
  const { properties = {} } = ((OPERATIONS[id] as Operation).query ?? {}) as { properties?: object };
  const takesDetails = "details" in properties;
  return [
    sent,
    ...(takesDetails ? [details] : []),
    ...[HIDDEN, DECLARED, `HEALTH.${SECRET}_alergy`, `HEALT.${SECRET}_allergy`, "health.x"].flatMap((label) =>
      change({ label }),
    ),
    ...change({ to: HIDDEN }),
    ...change({ q: `${SECRET} allergy penicillin` }),
    ...change({ user_id: `${SECRET}-user` }),
    ...change({ set: "personal" }),
    ...change({ from: `${SECRET}-clinic` }),
    ...(id === "find" ? [{ ...sent, query: { ...query, q: SECRET, everywhere: "true" } }] : []),
    ...(id === "encodeBatch"
      ? [{ ...sent, body: { user_id: "ada", facts: [{ label: HIDDEN, value: "x" }] } }]
      : []),
  ];
}

async function answerTo({ key, whole }: Account, { id, path, query, body }: Sent): Promise<Answer> {
  const { method } = OPERATIONS[id];
  const fields = { ...(body as object | undefined) } as Record<string, unknown>;
  // Ids and moments are each account's own.
  if (id === "read")
    fields.block = (await call("GET", "/context?user_id=ada", { key: whole })).json.fdm_block;
  if (id === "restore") {
    const { revisions } = (await call("GET", "/facts/history?user_id=ada&label=PREF.tools", { key: whole }))
      .json;
    fields.revision = revisions.at(-1).revision;
  }
  if (id === "rollback") Object.assign(fields, { to: "2020-01-01", dry_run: true });
  const search = new URLSearchParams(query).toString();
  return call(method, search === "" ? path : `${path}?${search}`, {
    key,
    headers: { "x-request-id": "same" },
    ...(body === undefined ? {} : { body: fields }),
  });
}

/** Without what differs between any two accounts. */
function bytesOf({ status, headers, text }: Answer, { name }: Account): string {
  const kept = [...headers].filter(([header]) => !["date", "etag"].includes(header));
  return (
    `${status} ${JSON.stringify(kept)} ${text}`
      .replaceAll(name, "ACCOUNT")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replaceAll('"since":"TIME",', "")
      .replace(/\[MEM\].*?\[\/MEM\]/g, "BLOCK")
      .replace(/"revision":\d+/g, '"revision":0')
      .replace(/"latency_ms":\d+/g, '"latency_ms":0')
      .replace(/"token":"[^"]*"/g, '"token":""')
      .replace(/"next_cursor":"[^"]*"/g, '"next_cursor":""')
      .replace(/"channel":(?:25[6-9]|2[6-9]\d|[3-9]\d\d)/g, '"channel":256')
      // How full the block is that was presented: whoever reads it has it.
      .replace(/"guard_left":\d+/g, '"guard_left":0')
      .replace(/(its revision is|no revision) \d+/g, "$1 0")
  );
}

async function compare(
  twins: readonly [Account, Account],
  ids: readonly OperationId[],
  hasWritten = false,
): Promise<number> {
  let count = 0;
  for (const id of ids) {
    for (const sent of requestsOf(id)) {
      const [full, bare] = await Promise.all(
        twins.map(async (account) => bytesOf(await answerTo(account, sent), account)),
      );
      assert.equal(full, bare, `${id} ${JSON.stringify(sent)}`);
      // The writes of the walk itself have such names.
      const isNamed = hasWritten || JSON.stringify(sent).includes(SECRET);
      assert.ok(isNamed || !full.includes(SECRET), `${id}: ${full}`);
      count += 1;
    }
  }
  return count;
}

test("every operation answers a key without a group as if nobody had a fact of it", async () => {
  const twins = [await newAccount("twin-full"), await newAccount("twin-bare")] as const;
  const [full, bare] = twins;
  for (const { whole } of twins) await run(whole, SEEN);
  await run(full.whole, UNSEEN);
  // A fact that comes from a label outside begins when it comes.
  await run(full.whole, [
    ["POST", "/facts/rename", { user_id: "ada", label: "HEALTH.moved", to: "DESK.moved" }],
  ]);
  await run(bare.whole, [written("DESK.moved", "seen from now on")]);
  for (const { whole } of twins) await run(whole, [written("DESK.moved", "after")]);
  assert.ok((await call("GET", "/facts?user_id=ada", { key: full.whole })).text.includes(SECRET));
  const reads = SEEING.filter(([, { writes }]) => writes !== true).map(([id]) => id);
  const writes = SEEING.filter(([, { writes }]) => writes === true).map(([id]) => id);
  assert.ok((await compare(twins, reads)) > 30);
  assert.ok((await compare(twins, writes, true)) > 40);
  assert.ok((await compare(twins, reads, true)) > 30);
});
