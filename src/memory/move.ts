/**
 * Moving from one store to another: everything is copied (keys, what they have used, requests for keys, users with
 * their facts), then everything is read from both and compared. Stamps, revisions and the numbers of free labels are the
 * new store's own; the order in which a user's facts were written, and their times, are kept.
 */

import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../base/errors.ts";
import { TIME_MS_MAX } from "../base/limits.ts";
import { DEMO_ACCOUNT } from "./demo.ts";
import { requestTextsFault } from "./identifiers.ts";
import { ALL_DAYS } from "./import-settings.ts";
import { type AccountLabels, Labels } from "./labels.ts";
import type { EarlierFact, FactRecord, Store, UserLife } from "./ports.ts";
import type { AuditNote, AuditQuery, KeyRequest } from "./records.ts";
import { allFreeLabels } from "./shared-reads.ts";
import { accountsWithKeys, exportLines, inBatches, lineImporter } from "./transfer.ts";

export interface MoveReport {
  readonly keys: number;
  readonly users: number;
  readonly facts: number;
  /** What breaks today's rules and was not copied, with the rule. */
  readonly leftOut: readonly string[];
  /** What is not the same in both; empty when all is well. */
  readonly differences: readonly string[];
}

const DIFFERENCES_MAX = 100;
const AUDIT_PAGE = 500;

export async function moveStore(
  from: Store,
  to: Store,
  options: { nowMs: number; step: (phase: "copied" | "compared") => void },
): Promise<MoveReport> {
  if ((await to.listKeys()).length > 0 || (await to.statistics()).users > 0) {
    throw new Failure("conflict", "The store to copy into holds keys or users already.");
  }
  const importLine = lineImporter(to, { nowMs: options.nowMs, withKeys: true });
  await inBatches(exportLines(from, { nowMs: options.nowMs }), async (line) => {
    await importLine(JSON.stringify(line));
    if (line.kind === "user") options.step("copied");
  });
  for (const operator of await from.operators.list()) await to.operators.add(operator);
  for await (const note of auditOf(from)) await to.audit.add(note);
  return compareStores(from, to, { nowMs: options.nowMs, step: () => options.step("compared") });
}

export async function compareStores(
  from: Store,
  to: Store,
  options: { readonly nowMs: number; readonly step: () => void },
): Promise<MoveReport> {
  const differences: string[] = [];
  const check = (what: string, a: unknown, b: unknown) => {
    if (!isDeepStrictEqual(a, b) && differences.length < DIFFERENCES_MAX) differences.push(what);
  };
  const keys = await from.listKeys();
  check("the list of keys", keys, await to.listKeys());
  for (const { id } of keys) {
    check(
      `the use of key ${id}`,
      await from.readDailyUsage(id, ...ALL_DAYS),
      await to.readDailyUsage(id, ...ALL_DAYS),
    );
  }
  await inBatches(auditOf(from), async (note) => {
    const { id, atMs, operation } = note.entry;
    const [copied] = await to.audit.read({ sinceMs: atMs, before: { atMs, id: `${id}~` }, limit: 1 });
    check(`the entry ${id} of the audit, ${operation}`, note, copied);
  });
  check("the operators", await from.operators.list(), await to.operators.list());
  for (const { account, monthlyLimit } of await from.listAccounts()) {
    const copied = await to.readAccount(account);
    check(`the limit of account ${account}`, monthlyLimit, copied?.monthlyLimit);
  }
  const { sound, leftOut } = sortRequests(await from.listKeyRequests());
  check("the requests for keys", sound, await to.listKeyRequests());
  const accounts = new Set<string>();
  const checkAccount = async (account: string) => {
    if (accounts.has(account)) return;
    accounts.add(account);
    check(`the labels of account ${account}`, await from.readLabels(account), await to.readLabels(account));
    check(
      `the projects of account ${account}`,
      await from.readProjects(account),
      await to.readProjects(account),
    );
    check(`strict account ${account}`, await from.readStrict(account), await to.readStrict(account));
  };
  for (const account of await accountsWithKeys(from)) await checkAccount(account);
  const labels = new Labels(from);
  let users = 0;
  let facts = 0;
  await inBatches(from.walkUsers(), async ({ account, userId }) => {
    if (account === DEMO_ACCOUNT) return;
    await checkAccount(account);
    const [before, after] = [
      await from.readLife(account, userId, options),
      await to.readLife(account, userId, options),
    ];
    users += 1;
    facts += before?.facts.length ?? 0;
    check(`user ${userId} of account ${account}`, contentOf(before), contentOf(after));
    const known = await labels.of(account);
    const [described, copied] = await Promise.all(
      [from, to].map((store) => descriptionsIn(store, { account, userId }, known)),
    );
    check(`the labels of user ${userId} of account ${account}`, described, copied);
    options.step();
  });
  let found = 0;
  for await (const { account } of to.walkUsers()) if (account !== DEMO_ACCOUNT) found += 1;
  check(`the number of users: ${users} and ${found}`, users, found);
  return { keys: keys.length, users, facts, leftOut, differences };
}

async function* auditOf(store: Store): AsyncGenerator<AuditNote> {
  for (let before: AuditQuery["before"] | undefined = { atMs: TIME_MS_MAX }; before !== undefined; ) {
    const page = await store.audit.read({ sinceMs: 0, before, limit: AUDIT_PAGE });
    yield* page;
    before = page.at(-1)?.entry;
  }
}

/** Those that an import takes, and those that it leaves out. */
function sortRequests(requests: readonly KeyRequest[]): { sound: KeyRequest[]; leftOut: string[] } {
  const sound: KeyRequest[] = [];
  const leftOut: string[] = [];
  for (const request of requests) {
    const found = requestTextsFault(request);
    if (found === undefined) sound.push(request);
    else leftOut.push(`the request ${request.id} for a key: ${found.param} ${found.fault}`);
  }
  return { sound, leftOut };
}

/** Of the labels that a person has made. Those that the account has declared since are the account's in the copy. */
async function descriptionsIn(
  store: Store,
  user: { readonly account: string; readonly userId: string },
  known: AccountLabels,
): Promise<unknown> {
  const labels = await allFreeLabels(store, user, () => setImmediate());
  const own = [...labels.values()].filter(({ label }) => known.find(label) === undefined);
  return own.map(({ label, description }) => [label, description]);
}

/** What must be the same: facts and history with their times and writers, in the order in which they were written. */
function contentOf(life: UserLife | undefined): unknown {
  const byRevision = (a: { revision: number }, b: { revision: number }) => a.revision - b.revision;
  const bare = (fact: FactRecord | EarlierFact) => {
    const { revision: _, code: __, number: ___, ...content } = fact as FactRecord;
    return content;
  };
  return {
    facts: [...(life?.facts ?? [])].sort(byRevision).map(bare),
    earlier: life?.earlier.map(bare) ?? [],
  };
}
