/**
 * Every operation of the table is called, and each that changes keys, operators, labels, shared projects or settings, or that
 * erases, leaves one entry in the audit; no other leaves any. No entry has a value. A new operation fails here until somebody has
 * judged it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLE_SETTINGS, makeExamples } from "../../scripts/make-examples.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATIONS, type OperationId } from "../../src/contract/operations.ts";
import type { AuditNote } from "../../src/memory/records.ts";
import { type Running, startRunning } from "./running-service.ts";

type Judgement =
  | "audited"
  | "it reads"
  | "facts, whose history stays"
  | "the demo's"
  | "nothing is stored"
  | "a stranger asks";

const JUDGED: Record<OperationId, Judgement> = {
  ...{ encode: "facts, whose history stays", encodeBatch: "facts, whose history stays" },
  ...{ append: "facts, whose history stays", remove: "facts, whose history stays" },
  ...{ restore: "facts, whose history stays", rename: "facts, whose history stays" },
  ...{ rollback: "facts, whose history stays", moveProject: "facts, whose history stays" },
  ...{
    context: "it reads",
    decode: "it reads",
    decodeModel: "it reads",
    flush: "it reads",
    read: "it reads",
  },
  ...{ facts: "it reads", history: "it reads", find: "it reads", changes: "it reads", users: "it reads" },
  ...{ export: "it reads", events: "it reads", usage: "it reads", usageDays: "it reads", audit: "it reads" },
  ...{ project: "it reads", projects: "it reads", channels: "it reads", labelSets: "it reads" },
  ...{ openapi: "it reads", health: "it reads", ready: "it reads", metrics: "it reads" },
  ...{ adminKeys: "it reads", adminAccounts: "it reads", adminUsers: "it reads", adminLabels: "it reads" },
  ...{ adminProjects: "it reads", adminUsage: "it reads", adminKeyRequests: "it reads" },
  ...{ adminOperators: "it reads", adminStatus: "it reads", adminAudit: "it reads" },
  ...{ createToken: "nothing is stored", requestKey: "a stranger asks" },
  ...{
    demoEncode: "the demo's",
    demoContext: "the demo's",
    demoDecode: "the demo's",
    demoFlush: "the demo's",
  },
  ...{ demoRead: "the demo's", demoKey: "the demo's", demoForget: "the demo's", demoReset: "the demo's" },
  ...{ forgetFact: "audited", forgetUser: "audited", shareProject: "audited", eraseProject: "audited" },
  ...{ addLabel: "audited", addLabelSet: "audited", changeStrict: "audited", changeLabel: "audited" },
  ...{
    removeLabel: "audited",
    adminCreateKey: "audited",
    adminRevokeKey: "audited",
    adminExpireKey: "audited",
  },
  ...{ adminChangeKey: "audited", adminChangeAccount: "audited", adminChangeLabels: "audited" },
  ...{ adminApprove: "audited", adminDecline: "audited", adminDeleteRequest: "audited" },
  ...{ adminAddOperator: "audited", adminRemoveOperator: "audited" },
};

/** Who stands for a value, a key, a note or a purpose: none of them is in an entry. */
const SECRET = /Lovelace|2026-12-01|ripgrep|Ship it|Chidi|dog is called|Grace|@|remembers|sb_live|sbo_|sbt_/;

test("every operation is judged, as the table says it", () => {
  assert.deepEqual(Object.keys(JUDGED).sort(), Object.keys(OPERATIONS).sort());
  for (const [id, operation] of Object.entries(OPERATIONS) as [OperationId, Operation][])
    assert.equal(operation.audited === true, JUDGED[id] === "audited", id);
});

test("each call of an operation that is judged so leaves one entry, and no other any; none has a value", async (t) => {
  const running = await startRunning(EXAMPLE_SETTINGS);
  t.after(() => running.end());
  const calls = recordCalls(t);
  const key = await running.newKey("acme", "pro");
  await makeExamples({ url: running.url, key, adminToken: "admin-token-for-tests" });
  const notes = await allNotes(running);
  for (const [requestId, id] of calls) {
    const left = notes.filter(({ entry }) => entry.requestId === requestId);
    assert.equal(left.length, JUDGED[id] === "audited" ? 1 : 0, `${id}, ${requestId}`);
    for (const { entry } of left) assert.equal(entry.operation, id);
  }
  assert.deepEqual(new Set(calls.values()), new Set(Object.keys(OPERATIONS)), "every operation was called");
  assert.equal(notes.length, [...calls.values()].filter((id) => JUDGED[id] === "audited").length);
  assert.doesNotMatch(JSON.stringify(notes), SECRET);
  for (const { entry } of notes) {
    assert.notEqual(entry.by.keyId ?? entry.by.operator, undefined, entry.operation);
    assert.equal(entry.address, "127.0.0.1");
  }
  const aboutAccounts = notes.filter(({ entry }) => !/Operator|Decline|DeleteRequest/.test(entry.operation));
  for (const { entry } of aboutAccounts) assert.notEqual(entry.account, null, entry.operation);
});

/** The calls by the id that each is given. */
function recordCalls(t: { after(end: () => void): void }): Map<string, OperationId> {
  const before = globalThis.fetch;
  const calls = new Map<string, OperationId>();
  globalThis.fetch = (input, init) => {
    const { pathname } = new URL(String(input));
    const isMeant = ({ method, path }: Operation) =>
      method === (init?.method ?? "GET") && new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`).test(pathname);
    const [id] = (Object.entries(OPERATIONS) as [OperationId, Operation][]).find(([, one]) => isMeant(one))!;
    const requestId = `walk-${calls.size}`;
    calls.set(requestId, id);
    return before(input, { ...init, headers: { ...init?.headers, "x-request-id": requestId } });
  };
  t.after(() => {
    globalThis.fetch = before;
  });
  return calls;
}

function allNotes(running: Running): Promise<AuditNote[]> {
  const { store } = running.service.core.memory;
  return store.audit.read({ sinceMs: 0, before: { atMs: 2 ** 47 }, limit: 1_000 });
}
