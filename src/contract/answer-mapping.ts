/**
 * From results of the memory to answers of the interface, for HTTP, MCP and the demo alike. Without details an answer
 * has the fields of the specification and no other.
 */

import type {
  BatchAnswer,
  CarriedFact,
  ContextAnswer,
  DecodeAnswer,
  DetailedContextAnswer,
  EncodeAnswer,
  FactDetails,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ModelDecodeAnswer,
  PlaceKind,
  ReadAnswer,
  ReadMark,
  UsageAnswer,
  WriteDetails,
} from "./answers.ts";

interface LabelledFact {
  readonly label: string;
  readonly channel: number;
  readonly value: string;
}

/** A fact as the store has it. */
interface KnownFact {
  readonly value: string;
  readonly place: string;
  readonly revision: number;
  readonly updatedAtMs: number;
  readonly expiresAtMs: number | null;
  readonly writtenBy: string | null;
}

interface DetailedFact extends LabelledFact {
  readonly place: string;
  readonly revision: number;
  readonly expiresAtMs: number | null;
  readonly previous: Pick<KnownFact, "value" | "revision" | "updatedAtMs" | "writtenBy"> | undefined;
}

interface Written<F = LabelledFact> {
  readonly facts: readonly F[];
  readonly channelCount: number;
}

export function encodeAnswer({ facts, channelCount }: Written): EncodeAnswer {
  const { label, value, channel } = facts[0];
  return { status: "ok", label, value, channel, channel_count: channelCount };
}

export function detailedEncodeAnswer(written: Written<DetailedFact>): EncodeAnswer & WriteDetails {
  return { ...encodeAnswer(written), ...writeDetails(written.facts[0]) };
}

export function batchAnswer({ facts, channelCount }: Written): BatchAnswer {
  return { status: "ok", channel_count: channelCount, facts: facts.map(carriedFact) };
}

export function detailedBatchAnswer({ facts, channelCount }: Written<DetailedFact>): BatchAnswer {
  return {
    status: "ok",
    channel_count: channelCount,
    facts: facts.map((fact) => ({ ...carriedFact(fact), ...writeDetails(fact) })),
  };
}

function writeDetails({ place, revision, expiresAtMs, previous }: DetailedFact): WriteDetails {
  return {
    revision,
    place: placeKind(place),
    ...(expiresAtMs === null ? {} : { expires_at: timeText(expiresAtMs) }),
    previous:
      previous === undefined
        ? null
        : {
            value: previous.value,
            revision: previous.revision,
            updated_at: timeText(previous.updatedAtMs),
            ...(previous.writtenBy === null ? {} : { written_by: previous.writtenBy }),
          },
  };
}

/** Of a block: how many it may have, and how many are in use. */
interface Carriers {
  readonly used: number;
  readonly max: number;
}

interface ContextParts {
  readonly userId: string;
  readonly text: string;
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  readonly overflow: readonly string[];
  readonly carriers: Carriers;
}

/** @param include what was asked for: the other part is empty */
export function contextAnswer(
  { userId, text, facts }: ContextParts,
  include: "index" | "block" | "both" = "both",
): ContextAnswer {
  return {
    user_id: userId,
    fdm_block: include === "index" ? "" : text,
    channel_count: facts.length,
    channel_labels: facts.map(({ label }) => label),
    plain_index: include === "block" ? "" : facts.map(({ label, value }) => `${label}=${value}`).join("\n"),
  };
}

/** With the project, how full the block is, the labels that it has no room for, and what index and block cost a prompt. */
export function detailedContextAnswer(
  context: ContextParts,
  include: "index" | "block" | "both",
  project: string | undefined,
  tokens: DetailedContextAnswer["tokens"],
): DetailedContextAnswer {
  const answer = contextAnswer(context, include);
  return {
    ...answer,
    ...(project === undefined ? {} : { project }),
    overflow: [...context.overflow],
    tokens,
    ...(include === "index" ? {} : { carriers: { ...context.carriers } }),
  };
}

interface Decoded {
  readonly userId: string;
  readonly label: string;
  readonly fact: KnownFact;
}

export function decodeAnswer({ userId, label, fact }: Decoded): DecodeAnswer {
  return { user_id: userId, label, value: fact.value, source: "state", latency_ms: 0 };
}

export function modelDecodeAnswer(
  decoded: Decoded & { readonly verified: boolean; readonly latencyMs: number },
): ModelDecodeAnswer {
  const { verified, latencyMs } = decoded;
  const source = verified ? "model" : "state";
  return { ...decodeAnswer(decoded), source, latency_ms: latencyMs, verified };
}

/** What is known of a fact beside its value. */
export function factDetails({ revision, updatedAtMs, place, ...fact }: KnownFact): FactDetails {
  return { revision, updated_at: timeText(updatedAtMs), place: placeKind(place), ...endAndWriter(fact) };
}

export function flushAnswer(flushed: {
  readonly channelCount: number;
  readonly lossless: boolean;
  readonly text: string;
  readonly overflow: readonly string[];
}): FlushAnswer {
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
export function factsAnswer(
  userId: string,
  facts: readonly (LabelledFact & KnownFact)[],
  project?: string | undefined,
): FactsAnswer {
  return {
    user_id: userId,
    channel_count: facts.length,
    facts: facts.map((fact) => ({
      ...carriedFact(fact),
      revision: fact.revision,
      updated_at: timeText(fact.updatedAtMs),
      ...(project === undefined ? {} : { place: placeKind(fact.place) }),
      ...endAndWriter(fact),
    })),
  };
}

export function forgetAnswer(channelCount: number): ForgetAnswer {
  return { status: "ok", channel_count: channelCount };
}

export function readAnswer(
  userId: string,
  reading: {
    readonly facts: readonly (LabelledFact & { readonly mark?: ReadMark })[];
    readonly missing: number;
    readonly wrong: number;
    readonly repaired: number;
    readonly guardLeft: number;
  },
): ReadAnswer {
  const { facts, missing, wrong, repaired, guardLeft } = reading;
  return {
    status: "ok",
    user_id: userId,
    facts: facts.map((fact) => ({
      ...carriedFact(fact),
      ...(fact.mark === undefined ? {} : { mark: fact.mark }),
    })),
    missing,
    wrong,
    repaired,
    guard_left: guardLeft,
  };
}

export function usageAnswer(
  usage: Pick<UsageAnswer, "account" | "tier" | "limit" | "used"> & {
    readonly resetsAtMs: number;
    readonly user: string | null;
    readonly access: "read" | "write";
  },
): UsageAnswer {
  const { account, tier, limit, used, resetsAtMs, user, access } = usage;
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
  };
}

/** An account that uses neither has neither in its answers. */
function endAndWriter({ expiresAtMs, writtenBy }: Pick<KnownFact, "expiresAtMs" | "writtenBy">) {
  return {
    ...(writtenBy === null ? {} : { written_by: writtenBy }),
    ...(expiresAtMs === null ? {} : { expires_at: timeText(expiresAtMs) }),
  };
}

/** The person's own place is the empty text; only a worktree's has a slash. */
export function placeKind(place: string): PlaceKind {
  if (place === "") return "person";
  return place.includes("/") ? "worktree" : "project";
}

function carriedFact({ label, channel, value }: LabelledFact): CarriedFact {
  return { label, value, channel };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
