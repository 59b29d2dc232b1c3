/** Makes the calls of a plan with the real functions of memory on one user, and tells what they were answered. */

import assert from "node:assert/strict";
import { LABELS } from "../../../src/base/channel-labels.ts";
import { Failure } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { type EncodeResult, encodeFacts, type FactInput } from "../../../src/memory/encode.ts";
import { forgetFact, forgetUser } from "../../../src/memory/facts.ts";
import { restoreFact, rollBack } from "../../../src/memory/history.ts";
import { STANDARD_LABELS } from "../../../src/memory/labels.ts";
import { changeList } from "../../../src/memory/lists.ts";
import { moveProject, renameFact } from "../../../src/memory/rename.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { importUserLine, type UserLine } from "../../../src/memory/user-lines.ts";
import {
  type Answer,
  type Beginning,
  ENDING,
  LIST,
  MOVED_TO,
  type Plan,
  PROJECT,
  RENAMED_TO,
  TARGETS,
  type Target,
  WORKTREE,
} from "./plans.ts";

/** Those of a user, in a process. */
export interface User {
  readonly nodes: readonly MemoryServices[];
  readonly caller: Caller;
  readonly userId: string;
}

/** Two values on each name, a list, and a fact that has expired when it resolves. */
export async function begin(user: User, advance: (ms: number) => void): Promise<Beginning> {
  const list = Array.from({ length: 8 }, (_, i) => `r${i}`);
  const tags = [TARGETS.map((_, i) => `s${i}`), TARGETS.map((_, i) => `u${i}`)];
  const firstFacts = [...valuesOf(tags[0]), { ...factOf(LIST), value: list.join("; ") }];
  const first = await encode(user, 0, firstFacts);
  const toMs = user.nodes[0].clock.now();
  advance(10);
  await encode(user, 0, [...valuesOf(tags[1]), { ...factOf(ENDING), value: "e", ttlS: 1 }]);
  advance(2_000);
  const revisions = Object.fromEntries(first.facts.map(({ label, revision }) => [label, revision]));
  return { tags, list, ending: "e", toMs, revisions };
}

function factOf({ label, scope }: Target) {
  return { label, scope };
}

function valuesOf(tags: readonly string[]): FactInput[] {
  return TARGETS.map((target, i) => ({ ...factOf(target), value: tags[i] }));
}

function encode({ nodes, caller, userId }: User, node: number, facts: FactInput[], idempotencyKey?: string) {
  const operation = facts.length === 1 ? "encode" : "encode/batch";
  const services = nodes[node % nodes.length];
  return encodeFacts(services, caller, { userId, project: WORKTREE, facts, operation, idempotencyKey });
}

const EXPECTED: readonly string[] = ["fact_not_found", "not_found", "fact_exists"];

/** Makes a call. What memory refuses is an answer too; any other error is not caught. */
export async function call(user: User, plan: Plan, beginning: Beginning): Promise<Answer> {
  try {
    return await make(user, plan, beginning);
  } catch (error) {
    const isExpected = error instanceof Failure && EXPECTED.includes(error.code);
    if (!isExpected) throw error;
    return { refused: error.code, facts: [], counted: 0 };
  }
}

async function make(user: User, plan: Plan, { toMs, revisions }: Beginning): Promise<Answer> {
  const { nodes, caller, userId } = user;
  const { kind, node, tags, target, keepHistory, isBack } = plan;
  const services = nodes[node];
  const { account } = caller;
  const person = { userId, project: WORKTREE };
  const item = { ...person, ...factOf(target), item: tags[0] };
  switch (kind) {
    case "encode":
      return encodeOnce(user, plan);
    case "batch":
      return answerOf(await encode(user, node, valuesOf(tags)));
    case "append":
    case "remove":
      return answerOf(await changeList(services, caller, kind, item));
    case "forget":
      await forgetFact(services, account, { ...person, ...factOf(target), keepHistory });
      return NOTHING;
    case "restore": {
      const { label } = target === ENDING ? TARGETS[0] : target;
      return answerOf(await restoreFact(services, caller, { ...person, label, revision: revisions[label] }));
    }
    case "rename":
      await renameFact(services, caller, { userId, label: TARGETS[0].label, to: RENAMED_TO });
      return NOTHING;
    case "rollback": {
      const { changes, isDone } = await rollBack(services, caller, { userId, toMs });
      assert.ok(isDone, "a rollback to a moment that the history reaches");
      return { facts: [], counted: changes.filter(({ to }) => to !== null).length };
    }
    case "move": {
      const [from, to] = isBack ? [MOVED_TO, PROJECT] : [PROJECT, MOVED_TO];
      await moveProject(services, account, { userId, from, to });
      return NOTHING;
    }
    case "import": {
      const nowMs = services.clock.now();
      await importUserLine(services.store, lineOf(user, tags, nowMs), { labels: STANDARD_LABELS, nowMs });
      return NOTHING;
    }
    case "expiry": {
      const ended = await services.store.endFacts(services.clock.now());
      const own = ended.filter((fact) => fact.account === account && fact.userId === userId);
      const expired = own.map(({ place, label, revision }) => `${label} ${place} ${revision}`);
      return { ...NOTHING, expired };
    }
    case "erase person":
    case "erase project":
      await forgetUser(
        services,
        account,
        kind === "erase person" ? { userId } : { userId, project: PROJECT },
      );
      return NOTHING;
  }
}

const NOTHING: Answer = { facts: [], counted: 0 };

/** With an Idempotency-Key it is sent to two nodes, or twice to one, and written once. */
async function encodeOnce(user: User, { node, tags, target, isKeyed }: Plan): Promise<Answer> {
  const facts = [{ ...factOf(target), value: tags[0] }];
  if (!isKeyed) return answerOf(await encode(user, node, facts));
  const key = `${user.userId} ${tags[0]}`.replaceAll(" ", "-");
  const sent = [node, node + 1].map((at) => encode(user, at, facts, key));
  const results = await Promise.allSettled(sent);
  const answers: Answer[] = [];
  for (const result of results) {
    if (result.status === "fulfilled") answers.push(answerOf(result.value));
    else if (!(result.reason instanceof Failure && result.reason.code === "idempotency_in_flight"))
      throw result.reason;
  }
  const written = answers.filter(({ counted }) => counted > 0);
  assert.equal(written.length, 1, "a request with an Idempotency-Key is written once");
  return written[0];
}

function answerOf({ facts, replayed }: EncodeResult): Answer {
  if (replayed) return NOTHING;
  const written = facts.map(({ place, label, value, revision, previous }) => {
    return { place, label, value, revision, replaced: previous?.revision };
  });
  return { facts: written, counted: facts.length };
}

function lineOf({ caller, userId }: User, tags: readonly string[], nowMs: number): UserLine {
  const updated_at = new Date(nowMs).toISOString();
  const facts = TARGETS.map(({ place, label }, i) => {
    const channel = (LABELS as readonly string[]).indexOf(label);
    return { place, label, channel, value: tags[i], revision: i + 1, updated_at };
  });
  return { kind: "user", account: caller.account, user_id: userId, facts };
}
