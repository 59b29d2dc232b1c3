/**
 * Block work as plain functions of messages: what a worker thread runs. Facts' codes that are already known
 * under the newest codebook are used as they are; the others are computed and handed back to be kept.
 */

import { utf8 } from "../base/bytes.ts";
import { buildBlock } from "../codec/block.ts";
import { type Codebook, encodeValue } from "../codec/codebook.ts";
import { readBlock } from "../codec/read-block.ts";
import type { BuildJob, BuildResult, ReadJob, ReadResult, StoredFact } from "./ports.ts";

export type BlockTask =
  | { readonly kind: "build"; readonly job: BuildJob }
  | { readonly kind: "read"; readonly job: ReadJob }
  | { readonly kind: "encode"; readonly facts: readonly StoredFact[] };

export type BlockTaskResult = BuildResult | ReadResult | BuildResult["codes"];

/** @param codebooks the one that writes first; all of them read */
export function runBlockTask(codebooks: readonly Codebook[], task: BlockTask): BlockTaskResult {
  switch (task.kind) {
    case "build":
      return build(codebooks[0], task.job);
    case "read":
      return read(codebooks, task.job);
    case "encode":
      return codesOf(codebooks[0], task.facts);
  }
}

function build(codebook: Codebook, { facts, key, userId }: BuildJob): BuildResult {
  const codes = codesOf(codebook, facts);
  const computed = new Map(codes.map(({ channel, code }) => [channel, code.bits]));
  const block = buildBlock(
    facts.map(({ channel, value, revision, code }) => ({
      channel,
      value,
      order: revision,
      code: computed.get(channel) ?? code!.bits,
    })),
    { key, userId, codebook },
  );
  return { text: block.text, carried: block.carried, overflow: block.overflow, codes };
}

function codesOf(codebook: Codebook, facts: readonly StoredFact[]): BuildResult["codes"] {
  const { version } = codebook;
  return facts
    .filter(({ code }) => code?.version !== version)
    .map(({ channel, revision, value }) => ({
      channel,
      revision,
      value,
      code: { version, bits: encodeValue(codebook, channel, utf8(value)) },
    }));
}

function read(codebooks: readonly Codebook[], { text, keys, userId, channels }: ReadJob): ReadResult {
  const result = readBlock(text, {
    keys: (id) => keys.find((key) => key.id === id),
    userId,
    codebooks,
    ...(channels === undefined ? {} : { channels }),
  });
  if (!result.ok) return { ok: false, reason: result.reason };
  const { facts, missing, wrong, repaired, guardLeft } = result;
  return { ok: true, facts, missing, wrong, repaired, guardLeft };
}
