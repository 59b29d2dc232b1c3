/** From results of the memory to answers of the interface, for HTTP, MCP and the demo alike. */

import type {
  BatchAnswer,
  CarriedFact,
  ContextAnswer,
  DecodeAnswer,
  EncodeAnswer,
  FactsAnswer,
  FlushAnswer,
  ForgetAnswer,
  ModelDecodeAnswer,
  ReadAnswer,
  UsageAnswer,
} from "./answers.ts";
import { LABELS } from "./channel-labels.ts";

interface ChannelFact {
  readonly channel: number;
  readonly value: string;
}

interface Written {
  readonly facts: readonly ChannelFact[];
  readonly channelCount: number;
}

export function encodeAnswer({ facts, channelCount }: Written): EncodeAnswer {
  const { label, value, channel } = carriedFact(facts[0]);
  return { status: "ok", label, value, channel, channel_count: channelCount };
}

export function batchAnswer({ facts, channelCount }: Written): BatchAnswer {
  return { status: "ok", channel_count: channelCount, facts: facts.map(carriedFact) };
}

export function contextAnswer(context: {
  readonly userId: string;
  readonly text: string;
  readonly facts: readonly ChannelFact[];
}): ContextAnswer {
  const { userId, text, facts } = context;
  const labels = facts.map(({ channel }) => LABELS[channel]);
  return {
    user_id: userId,
    fdm_block: text,
    channel_count: facts.length,
    channel_labels: labels,
    plain_index: facts.map(({ value }, i) => `${labels[i]}=${value}`).join("\n"),
  };
}

interface Decoded {
  readonly userId: string;
  readonly label: string;
  readonly value: string;
}

export function decodeAnswer({ userId, label, value }: Decoded): DecodeAnswer {
  return { user_id: userId, label, value, source: "state", latency_ms: 0 };
}

export function modelDecodeAnswer(
  decoded: Decoded & { readonly verified: boolean; readonly latencyMs: number },
): ModelDecodeAnswer {
  const { verified, latencyMs } = decoded;
  const source = verified ? "model" : "state";
  return { ...decodeAnswer(decoded), source, latency_ms: latencyMs, verified };
}

export function flushAnswer(flushed: {
  readonly channelCount: number;
  readonly lossless: boolean;
  readonly text: string;
  readonly overflow: readonly number[];
}): FlushAnswer {
  const { channelCount, lossless, text, overflow } = flushed;
  return {
    status: channelCount === 0 ? "empty" : "ok",
    channel_count: channelCount,
    lossless,
    fdm_block: text,
    overflow: overflow.map((channel) => LABELS[channel]),
  };
}

export function factsAnswer(
  userId: string,
  facts: readonly (ChannelFact & { readonly revision: number; readonly updatedAtMs: number })[],
): FactsAnswer {
  return {
    user_id: userId,
    channel_count: facts.length,
    facts: facts.map((fact) => ({
      ...carriedFact(fact),
      revision: fact.revision,
      updated_at: new Date(fact.updatedAtMs).toISOString(),
    })),
  };
}

export function forgetAnswer(channelCount: number): ForgetAnswer {
  return { status: "ok", channel_count: channelCount };
}

export function readAnswer(
  userId: string,
  reading: {
    readonly facts: readonly ChannelFact[];
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
    facts: facts.map(carriedFact),
    missing,
    wrong,
    repaired,
    guard_left: guardLeft,
  };
}

export function usageAnswer(
  usage: Pick<UsageAnswer, "account" | "tier" | "limit" | "used"> & { readonly resetsAtMs: number },
): UsageAnswer {
  const { account, tier, limit, used, resetsAtMs } = usage;
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { account, tier, limit, used, remaining, resets_at: new Date(resetsAtMs).toISOString() };
}

function carriedFact({ channel, value }: ChannelFact): CarriedFact {
  return { label: LABELS[channel], value, channel };
}
