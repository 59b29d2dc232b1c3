/** Compares all that can be seen of an account with the model: labels, users, facts of each view, history, changes, counts. */

import assert from "node:assert/strict";
import { Failure } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { readContext } from "../../../src/memory/context.ts";
import { decodeFact } from "../../../src/memory/decode.ts";
import { listFacts } from "../../../src/memory/facts.ts";
import { factHistory, userChanges } from "../../../src/memory/history.ts";
import type { EarlierFact, FactRecord, FormerLabel } from "../../../src/memory/ports.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { projectOfUser } from "../../../src/memory/shared-places.ts";
import { viewFor } from "../../../src/memory/shared-projects.ts";
import { readUsage } from "../../../src/memory/usage.ts";
import { listUsers } from "../../../src/memory/users.ts";
import { fieldsOf, rowsOf } from "../../fixtures/fields.ts";
import type { LifeModel } from "./model.ts";
import { Refused } from "./refused.ts";
import { TEAMS } from "./steps.ts";
import type { Past, Present } from "./values.ts";

const PAGE = 3;
const only = null;
const ALL_USERS = { prefix: "", after: "", limit: 100, only };

/** Whose facts are looked at by every operation, and which. */
interface Shown {
  readonly account: number;
  readonly user: string;
  readonly project: string | undefined;
  readonly label: string;
  /** All users, or the one that a write was for. */
  readonly users: readonly string[];
  /** Where the facts are listed. */
  readonly projects: Iterable<string | undefined>;
}

/** Everything that is kept, and of one user in one project what each operation shows. */
export async function compareAccount(
  services: MemoryServices,
  caller: Caller,
  model: LifeModel,
  { account, user, project, label, users, projects }: Shown,
): Promise<void> {
  await compareLabels(services, caller, model, account);
  for (const name of [...users, ...TEAMS]) await compareLife(services, caller, model, account, name);
  for (const place of projects) {
    const facts = await listFacts(services, caller.account, { userId: user, project: place });
    const wanted = model.facts(account, { user, project: place }).map((fact) => whole(fact));
    const shown = facts.map((fact) => whole(fact));
    assert.deepEqual(shown, wanted, `facts of ${user} in ${place ?? "no project"}`);
  }
  await compareView(services, caller, model, account, { user, project, label });
  if (users.length > 1) await compareUsers(services, caller, model, account);
  assert.equal((await readUsage(services, caller)).used, model.used(account), "encodes that were counted");
}

async function compareLabels(services: MemoryServices, caller: Caller, model: LifeModel, account: number) {
  const { all } = await services.labels.of(caller.account);
  const own = all.filter(({ channel }) => channel >= 40);
  assert.deepEqual(
    own.map(({ channel: _, createdAtMs: _at, createdBy: _by, createdKey: _key, ...terms }) => terms),
    model.labels(account).map((terms) => ({ ...terms, scope: terms.scope ?? "person" })),
    "labels",
  );
  assert.deepEqual(
    fieldsOf(own, "channel"),
    own.map((_, i) => 40 + i),
    "channels",
  );
  const hidden = all.filter((terms) => terms.hidden && terms.channel < 40).map(({ label }) => label);
  assert.deepEqual(new Set(hidden), new Set(model.hidden(account)), "hidden labels");
}

/** Everything at all places, and the order in which it was written. The model learns the revisions. */
async function compareLife(
  services: MemoryServices,
  caller: Caller,
  model: LifeModel,
  account: number,
  user: string,
): Promise<void> {
  const what = `life of ${user}`;
  const lives = model.lives(account, user);
  const known = await services.store.readLife(caller.account, user, { nowMs: model.nowMs });
  const all = [...(known?.facts ?? []), ...(known?.earlier ?? [])];
  const values: { value: Present | Past; revision: number }[] = [];
  const seen = new Set<unknown>();
  for (const { place, label, present, past } of lives) {
    const here = all.filter((fact) => fact.place === place && fact.label === label);
    const earlier = here.filter((fact) => "ended" in fact);
    const kept = earlier.slice(Math.max(0, earlier.length - model.historyMax));
    const found = [...kept, ...here.filter((fact) => !("ended" in fact))];
    const wanted = [...past, ...(present === undefined ? [] : [present])];
    assert.deepEqual(found.map(bare), wanted.map(bare), `${what}: ${label} at "${place}"`);
    for (const [i, value] of wanted.entries()) values.push({ value, revision: found[i].revision });
    for (const fact of here) seen.add(fact);
  }
  // Without a limit of 0 nothing else is there.
  const others = all.filter((fact) => !seen.has(fact) && (model.historyMax > 0 || !("ended" in fact)));
  assert.deepEqual(others, [], `${what}: nothing else`);
  values.sort((a, b) => a.revision - b.revision);
  const writes = values.map(({ value }) => value.write);
  assert.deepEqual(
    writes,
    [...writes].sort((a, b) => a - b),
    `${what}: the order of writes`,
  );
  assert.equal(new Set(values.map(({ revision }) => revision)).size, values.length, `${what}: revisions`);
  model.learn(account, user, values);
  await compareMadeLabels(services, caller, model, account, user);
}

/** The labels that the person has made, at how many places they are, and their numbers. */
async function compareMadeLabels(
  services: MemoryServices,
  caller: Caller,
  model: LifeModel,
  account: number,
  user: string,
): Promise<void> {
  const found = await services.store.readFreeLabels(caller.account, user, { prefix: "", limit: 100 });
  const usesOf = (labels: readonly { label: string; uses: number }[]) =>
    labels.map(({ label, uses }) => `${label} at ${uses}`).sort();
  assert.deepEqual(usesOf(found), usesOf(model.madeLabels(account, user)), `labels of ${user}`);
  model.learnNumbers(account, user, new Map(found.map(({ label, number }) => [label, number])));
}

async function compareView(
  services: MemoryServices,
  caller: Caller,
  model: LifeModel,
  account: number,
  person: { user: string; project: string | undefined; label: string },
): Promise<void> {
  const { user, project, label } = person;
  const what = `${user} in ${project ?? "no project"}`;
  const input = { userId: user, project };
  const facts = model.facts(account, person);
  const state = await services.store.readUser(await viewFor(services, caller.account, input));
  const nextEndMs = state === undefined ? null : state.nextEndMs;
  assert.equal(nextEndMs, model.nextEndMs(account, person), `the next end for ${what}`);
  const context = await readContext(services, caller, input, "index");
  assert.deepEqual(
    rowsOf(context.facts, "label", "value"),
    facts.map(({ label, value }) => [label, value]),
    `context of ${what}`,
  );
  const found = await outcomeOf(async () => {
    const { fact } = await decodeFact(services, caller.account, { ...input, label });
    return whole(fact, label);
  });
  const decoded = await outcomeOf(() => whole(model.decode(account, person, label)));
  assert.deepEqual(found, decoded, `decode of ${label} for ${what}`);
  const history = await outcomeOf(async () => {
    const { revisions } = await factHistory(services, caller.account, { ...input, label });
    return revisions.map((revision) => whole(revision, label));
  });
  const wanted = await outcomeOf(() => model.history(account, person, label).map((value) => whole(value)));
  assert.deepEqual(history, wanted, `history of ${label} for ${what}`);
  const changes = model.changes(account, person);
  assert.deepEqual(await pagesOfChanges(services, caller.account, input), changes, `changes of ${what}`);
}

async function pagesOfChanges(services: MemoryServices, account: string, input: { userId: string }) {
  const events = [];
  for (;;) {
    const after = events.at(-1);
    const page = await userChanges(services, account, { ...input, limit: PAGE, after });
    events.push(...page.events);
    if (!page.isMore) break;
    assert.equal(page.events.length, PAGE, "a page with more behind it is full");
  }
  return events.map(
    ({ place, label, kind, atMs, revision, value, writtenBy, sessionId, origin, renamedFrom, author }) => ({
      place,
      label,
      revision,
      value,
      writtenBy,
      sessionId,
      origin,
      kind,
      atMs,
      renamedFrom,
      author,
    }),
  );
}

async function compareUsers(services: MemoryServices, caller: Caller, model: LifeModel, account: number) {
  const { users } = await listUsers(services, caller.account, ALL_USERS);
  const persons = model.users(account).filter((user) => projectOfUser(user) === undefined);
  const wanted = persons.map((userId) => {
    const facts = model.lives(account, userId).flatMap(({ present }) => present ?? []);
    return {
      userId,
      projects: [...new Set(facts.map(({ place }) => place))].filter((place) => place !== "").sort(),
      channelCount: facts.filter(({ place }) => place === "").length,
      updatedAtMs: facts.length === 0 ? null : Math.max(...facts.map(({ updatedAtMs }) => updatedAtMs)),
    };
  });
  assert.deepEqual(users, wanted, "users");
}

type AnyValue = Present | Past | ((FactRecord | EarlierFact) & { readonly label?: string });

/** What is the same in every store. */
function bare(value: AnyValue) {
  const { place, value: text, updatedAtMs, sinceMs, writtenBy, sessionId, ordinal } = value;
  const former: string | FormerLabel | undefined = "former" in value ? value.former : undefined;
  const label = typeof former === "object" ? former.label : former;
  const isEnded = "ended" in value;
  const end = isEnded
    ? { ended: value.ended, endedAtMs: value.endedAtMs, former: label, by: value.endedBy }
    : {};
  const { expiresAtMs, origin, author } = value;
  const kept = { updatedAtMs, sinceMs, writtenBy, sessionId, ordinal, expiresAtMs, origin, author };
  return { place, value: text, ...kept, ...end };
}

function whole(value: AnyValue, label = value.label) {
  return { label, revision: value.revision, ...bare(value) };
}

/** A result, or the code of a refusal. */
export async function outcomeOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Failure || error instanceof Refused) return { refused: error.code };
    throw error;
  }
}
