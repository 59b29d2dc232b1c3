/**
 * As many facts as a prompt has tokens for. Pinned facts come first, then those of the innermost place, then the latest;
 * the lines stay in channel order, so that the bytes change only when something shown changes. A fact is shown whole
 * or left out; what is left out is named: labels where there is room, else their groups with a count, else a count.
 *
 * What is counted is what a section prints (agent-side/memory-section.ts). A token never goes on beyond the end of a line,
 * nor beyond a comma of the list of names: their counts can be added up.
 */

import { escapeText } from "../../agent-side/escaped-text.ts";
import { datedLine, LEFT_OUT_NOTE, READ_NOTE, TEAM_NOTE } from "../../agent-side/memory-section.ts";
import { Failure } from "../../base/errors.ts";
import type { Include, UserContext } from "../../memory/context.ts";
import type { FactRecord } from "../../memory/ports.ts";
import type { MemoryServices } from "../../memory/services.ts";
import { isShared } from "../../memory/shared-places.ts";

/** A context whose index has only the facts that there is room for. */
export interface FittedContext extends UserContext {
  readonly leftOut: readonly string[];
  /** For a prompt; empty where nothing is left out. */
  readonly leftOutSummary: string;
}

type TokensOf = (text: string) => Promise<number>;

/** What the names of the others may always take: a share, and at least room for their number. */
const NAMES_SHARE = 1 / 4;
const NAMES_TOKENS_MIN = 24;
/** So many facts that have no room are passed over for the sake of smaller ones. */
const MISSES_MAX = 8;
const OLD_MONTHS = 3;

export async function fittedContext(
  { tokenCounts }: Pick<MemoryServices, "tokenCounts">,
  context: UserContext,
  asked: { account: string; include: Include | undefined; maxTokens: number; nowMs: number },
): Promise<FittedContext> {
  const { account, include, maxTokens, nowMs } = asked;
  if (include !== "index")
    throw new Failure("invalid_request", "max_tokens needs include=index.", { param: "max_tokens" });
  const tokensOf = tokenCounts.counter(account);
  const costs = new Map<FactRecord, number>();
  const costOf = async (fact: FactRecord) => {
    const cost = costs.get(fact) ?? (await tokensOf(`${printedLine(fact, nowMs)}\n`));
    costs.set(fact, cost);
    return cost;
  };
  const noteCosts = new Map<string | undefined, number>();
  for (const note of [READ_NOTE, TEAM_NOTE]) noteCosts.set(note, await tokensOf(`${note}\n`));
  const ranked = [...context.facts].sort(byRank);
  const chosenWithin = async (tokens: number) => {
    const chosen = new Set<FactRecord>();
    let left = tokens;
    const printed = new Set<string | undefined>();
    let misses = 0;
    for (const fact of ranked) {
      const note = noteAbove(fact);
      const cost = (await costOf(fact)) + (printed.has(note) ? 0 : (noteCosts.get(note) ?? 0));
      if (cost <= left) {
        chosen.add(fact);
        left -= cost;
        printed.add(note);
      } else if (++misses === MISSES_MAX) break;
    }
    return { chosen, left };
  };
  const all = await chosenWithin(maxTokens);
  if (all.chosen.size === ranked.length) return { ...context, leftOut: [], leftOutSummary: "" };
  const namesMin = Math.max(NAMES_TOKENS_MIN, Math.floor(maxTokens * NAMES_SHARE));
  const { chosen, left } = await chosenWithin(maxTokens - namesMin);
  const leftOut = context.facts.filter((fact) => !chosen.has(fact)).map(({ label }) => label);
  return {
    ...context,
    facts: context.facts.filter((fact) => chosen.has(fact)),
    leftOut,
    leftOutSummary: await summaryOf(leftOut, left + namesMin, tokensOf),
  };
}

/** The line that a section prints above the first of such facts. */
function noteAbove({ origin, place }: FactRecord): string | undefined {
  if (origin === "read") return READ_NOTE;
  return isShared(place) ? TEAM_NOTE : undefined;
}

/** The month of the last change of a fact that has not changed for three; undefined of a newer one. */
export function oldMonth({ updatedAtMs }: FactRecord, nowMs: number): string | undefined {
  const limit = new Date(nowMs);
  limit.setUTCMonth(limit.getUTCMonth() - OLD_MONTHS);
  return updatedAtMs > limit.getTime() ? undefined : new Date(updatedAtMs).toISOString().slice(0, 7);
}

function printedLine(fact: FactRecord, nowMs: number): string {
  const until = fact.expiresAtMs === null ? undefined : new Date(fact.expiresAtMs).toISOString();
  return escapeText(datedLine(`${fact.label}=${fact.value}`, oldMonth(fact, nowMs), until));
}

function byRank(a: FactRecord, b: FactRecord): number {
  const pin = Number(b.pinned === true) - Number(a.pinned === true);
  return pin || depthOf(b) - depthOf(a) || b.updatedAtMs - a.updatedAtMs || b.revision - a.revision;
}

/** 0 for the person's own place, 1 in a project, 2 in a worktree. */
function depthOf({ place }: FactRecord): number {
  return place === "" ? 0 : place.split("/").length;
}

/** Labels, and groups with the count of the others, within some tokens: `FAMILY.wife, HOME (12) and 30 more`. */
async function summaryOf(labels: readonly string[], tokens: number, tokensOf: TokensOf): Promise<string> {
  const costOf = (item: string) => tokensOf(` ${item},`);
  let left = tokens - (await tokensOf(LEFT_OUT_NOTE)) - (await tokensOf(` and ${labels.length} more\n`));
  // First all groups, as far as there is room; then names of them, one after the other.
  const shown: { group: string; labels: readonly string[]; cost: number }[] = [];
  for (const [group, own] of groupsOf(labels)) {
    const cost = await costOf(`${group} (${own.length} more)`);
    if (cost > left) break;
    left -= cost;
    shown.push({ group, labels: own, cost });
  }
  const items: string[] = [];
  let rest = labels.length;
  for (const { group, labels: own, cost } of shown) {
    const names: string[] = [];
    let room = left;
    for (const label of own) {
      // The last name takes the place of the count.
      const name = await costOf(label);
      room += names.length + 1 === own.length ? cost - name : -name;
      if (room < 0) break;
      names.push(label);
      left = room;
    }
    const unnamed = own.length - names.length;
    const count = `${group} (${unnamed}${names.length === 0 ? "" : " more"})`;
    items.push(...names, ...(unnamed === 0 ? [] : [count]));
    rest -= own.length;
  }
  if (rest === 0) return items.join(", ");
  return items.length === 0 ? `${rest} facts` : `${items.join(", ")} and ${rest} more`;
}

function groupsOf(labels: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const label of labels) {
    const [group] = label.split(".", 1);
    const own = groups.get(group);
    if (own === undefined) groups.set(group, [label]);
    else own.push(label);
  }
  return groups;
}
