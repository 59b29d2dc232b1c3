/**
 * From results of the memory to answers of the interface, for HTTP, MCP and the demo alike. Without details an answer
 * has the fields of the specification and no other.
 */

import { mapped, type Sliced } from "../../base/slices.ts";
import type {
  BatchAnswer,
  CarriedFact,
  ContextAnswer,
  DecodeAnswer,
  DetailedContextAnswer,
  EncodeAnswer,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  PlaceKind,
  ReadAnswer,
  UsageAnswer,
  WrittenAnswer,
  WrittenBatchAnswer,
} from "../../contract/answers.ts";
import type { FlushedBlock } from "../../memory/blocks.ts";
import type { Include, UserContext } from "../../memory/context.ts";
import type { DecodedFact, VerifiedFact } from "../../memory/decode.ts";
import type { EncodeResult, WrittenFact } from "../../memory/encode.ts";
import type { DescribedFact } from "../../memory/facts.ts";
import type { FactRecord, PreviousFact } from "../../memory/ports.ts";
import type { BlockReading } from "../../memory/reading.ts";
import { isShared } from "../../memory/shared-places.ts";
import type { Usage } from "../../memory/usage.ts";
import { type FittedContext, oldMonth } from "./context-budget.ts";

/** The demo does not say more of what was written. */
type WrittenValues = Pick<EncodeResult, "channelCount"> & { readonly facts: readonly CarriedFact[] };

export function encodeAnswer({ facts, channelCount }: WrittenValues): EncodeAnswer {
  const { label, value, channel } = facts[0];
  return { status: "ok", label, value, channel, channel_count: channelCount };
}

export function detailedEncodeAnswer(written: EncodeResult): WrittenAnswer {
  return { ...encodeAnswer(written), ...writeDetails(written.facts[0]) };
}

export function batchAnswer({ facts, channelCount }: EncodeResult): BatchAnswer {
  return { status: "ok", channel_count: channelCount, facts: facts.map(carriedFact) };
}

export function detailedBatchAnswer({ facts, channelCount }: EncodeResult): WrittenBatchAnswer {
  return {
    status: "ok",
    channel_count: channelCount,
    facts: facts.map((fact) => ({ ...carriedFact(fact), ...writeDetails(fact) })),
  };
}

function writeDetails({ place, isOwn, revision, expiresAtMs, previous }: WrittenFact) {
  return {
    revision,
    place: placeKind(place, isOwn),
    ...(expiresAtMs === null ? {} : { expires_at: timeText(expiresAtMs) }),
    previous: previous === undefined ? null : previousFact(previous),
  };
}

function previousFact({ value, revision, updatedAtMs, writtenBy, author }: PreviousFact) {
  return {
    value,
    revision,
    updated_at: timeText(updatedAtMs),
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...authorOf({ author }),
  };
}

function authorOf({ author }: Pick<FactRecord, "author">) {
  return author === undefined ? {} : { user_id: author };
}

/** @param include what was asked for: the other part is empty */
export function contextAnswer(
  { userId, text, facts, leftOut = [] }: UserContext & Partial<FittedContext>,
  include: Include = "both",
): ContextAnswer {
  return {
    user_id: userId,
    fdm_block: include === "index" ? "" : text,
    channel_count: facts.length + leftOut.length,
    channel_labels: facts.map(({ label }) => label),
    plain_index: include === "block" ? "" : facts.map(({ label, value }) => `${label}=${value}`).join("\n"),
  };
}

/** With the project, how full the block is, the labels that it has no room for, and what index and block cost a prompt. */
export function detailedContextAnswer(
  context: UserContext & Partial<FittedContext>,
  { include, project, nowMs }: { include: Include; project: string | undefined; nowMs: number },
  tokens: DetailedContextAnswer["tokens"],
): DetailedContextAnswer {
  const answer = contextAnswer(context, include);
  return {
    ...answer,
    ...(project === undefined ? {} : { project }),
    overflow: [...context.overflow],
    tokens,
    ...(include === "index" ? {} : { carriers: { ...context.carriers } }),
    ...sectionFields(context, nowMs),
  };
}

type SectionFields = Pick<
  ContextAnswer,
  "read_labels" | "shared_labels" | "old_facts" | "ending_facts" | "left_out" | "left_out_summary"
>;

/** What a section needs beside the index: what was read somewhere, what is a team's, old or left out. */
export function sectionFields(
  { facts, leftOut, leftOutSummary }: UserContext & Partial<FittedContext>,
  nowMs: number,
): SectionFields {
  const read = facts.filter(({ origin }) => origin === "read").map(({ label }) => label);
  const shared = facts.filter(({ place }) => isShared(place)).map(({ label }) => label);
  const old = facts.flatMap((fact) => {
    const month = oldMonth(fact, nowMs);
    return month === undefined ? [] : { label: fact.label, month };
  });
  const ending = facts.flatMap(({ label, expiresAtMs }) =>
    expiresAtMs === null ? [] : { label, expires_at: timeText(expiresAtMs) },
  );
  return {
    ...(read.length === 0 ? {} : { read_labels: read }),
    ...(shared.length === 0 ? {} : { shared_labels: shared }),
    ...(old.length === 0 ? {} : { old_facts: old }),
    ...(ending.length === 0 ? {} : { ending_facts: ending }),
    ...(leftOut === undefined ? {} : { left_out: [...leftOut] }),
    ...(leftOutSummary ? { left_out_summary: leftOutSummary } : {}),
  };
}

export function decodeAnswer({ userId, label, fact }: DecodedFact): DecodeAnswer {
  return { user_id: userId, label, value: fact.value, source: "state", latency_ms: 0 };
}

export function modelDecodeAnswer(decoded: VerifiedFact): DecodeAnswer {
  const { verified, latencyMs } = decoded;
  const source = verified ? "model" : "state";
  return { ...decodeAnswer(decoded), source, latency_ms: latencyMs, verified };
}

/** What is known of a fact beside its value. */
export function factDetails({ fact: record, isOwn }: DecodedFact) {
  const { revision, updatedAtMs, place, author, ...fact } = record;
  return {
    revision,
    updated_at: timeText(updatedAtMs),
    place: placeKind(place, isOwn),
    ...endAndWriter(fact),
    // `user_id` is whom the fact was asked of.
    ...(author === undefined ? {} : { written_by_user_id: author }),
  };
}

export function flushAnswer(flushed: FlushedBlock): FlushAnswer {
  const { channelCount, lossless, text, overflow } = flushed;
  return {
    status: channelCount === 0 ? "empty" : "ok",
    channel_count: channelCount,
    lossless,
    fdm_block: text,
    overflow: [...overflow],
  };
}

/** @param project where it was given, each fact says whose it is */
export function* factsAnswer(
  userId: string,
  facts: readonly DescribedFact[],
  project?: string | undefined,
): Sliced<FactsAnswer> {
  const listed = yield* mapped(facts, (fact) => ({
    ...carriedFact(fact),
    revision: fact.revision,
    updated_at: timeText(fact.updatedAtMs),
    ...(project === undefined ? {} : { place: placeKind(fact.place, fact.isOwn) }),
    ...endAndWriter(fact),
    ...authorOf(fact),
    ...(fact.hides && { hides: previousFact(fact.hides) }),
    ...(fact.description == null ? {} : { description: fact.description }),
  }));
  return { user_id: userId, channel_count: facts.length, facts: listed };
}

export function forgetAnswer(channelCount: number): ForgetAnswer {
  return { status: "ok", channel_count: channelCount };
}

export function readAnswer(userId: string, reading: BlockReading): ReadAnswer {
  const { facts, missing, wrong, repaired, guardLeft } = reading;
  return {
    status: "ok",
    user_id: userId,
    facts: facts.map((fact) => ({ ...carriedFact(fact), mark: fact.mark })),
    missing,
    wrong,
    repaired,
    guard_left: guardLeft,
  };
}

export function usageAnswer(usage: Usage): UsageAnswer {
  const { account, tier, limit, used, resetsAtMs, user, access, groups, write } = usage;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return {
    account,
    tier,
    limit,
    used,
    remaining,
    resets_at: timeText(resetsAtMs),
    ...(user === null ? {} : { user }),
    ...(access === "read" ? { access } : {}),
    ...(groups === undefined ? {} : { groups: groups.text }),
    ...(write === undefined ? {} : { write: [...write.list] }),
  };
}

/** An account that uses none of them has none in its answers. */
function endAndWriter({
  expiresAtMs,
  writtenBy,
  origin,
  pinned,
}: Pick<FactRecord, "expiresAtMs" | "writtenBy" | "origin" | "pinned">) {
  return {
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...(expiresAtMs === null ? {} : { expires_at: timeText(expiresAtMs) }),
    ...(origin === undefined ? {} : { origin }),
    ...(pinned && { pinned }),
  };
}

/** The person's own place is the empty text; only a worktree's has a slash. */
export function placeKind(place: string, isOwn = false): PlaceKind {
  if (place === "") return "person";
  if (isOwn) return "own";
  if (isShared(place)) return "shared";
  return place.includes("/") ? "worktree" : "project";
}

function carriedFact({ label, channel, value }: CarriedFact): CarriedFact {
  return { label, value, channel };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
