/**
 * What becomes of an account's labels when one is added, changed or removed. Each store calls this where nobody else
 * can change the labels meanwhile, with what it has read there. A channel belongs to its label for ever: of a removed
 * label a record is left, so that blocks made before never get another meaning, and the label can be added again.
 */

import { assert } from "../base/assert.ts";
import { CHANNEL_COUNT, CHANNEL_COUNT_MAX, LABEL_TEXT_BYTES_MAX } from "../base/limits.ts";
import type { AddLabelOutcome, ChangeLabelOutcome, LabelChange, LabelRecord } from "./records.ts";

/** Where a new label goes: its old channel, or the next that no label ever had. One that is there stays as it is. */
export function addedLabel(
  records: readonly LabelRecord[],
  label: Omit<LabelRecord, "channel">,
): AddLabelOutcome {
  const own = records.filter(({ channel }) => channel >= CHANNEL_COUNT);
  const known = own.find((other) => other.label === label.label);
  if (known !== undefined && (known.removed !== true || label.removed === true))
    return { outcome: "exists", label: known };
  const channel = known?.channel ?? Math.max(CHANNEL_COUNT, ...own.map((other) => other.channel + 1));
  if (channel >= CHANNEL_COUNT_MAX) return { outcome: "full" };
  const added = { ...label, channel };
  return hasRoom(records, added) ? { outcome: "added", label: added } : { outcome: "text_full" };
}

/** @param base the record of a standard label of which nothing was changed yet */
export function changedLabel(
  records: readonly LabelRecord[],
  base: LabelRecord,
  change: LabelChange,
): ChangeLabelOutcome {
  const known = records.find(({ channel }) => channel === base.channel);
  const present = known ?? (base.channel < CHANNEL_COUNT ? base : undefined);
  if (present === undefined || present.removed === true) return { outcome: "missing" };
  assert(present.label === base.label, "a channel keeps its label");
  const changed = { ...present, ...change };
  const { oneOf, maxBytes } = changed;
  if (maxBytes !== null && oneOf?.some((value) => Buffer.byteLength(value) > maxBytes))
    return { outcome: "one_of_long" };
  // What is too long already may become shorter.
  const isShorter = bytesOf(changed) <= bytesOf(present);
  return isShorter || hasRoom(records, changed)
    ? { outcome: "changed", label: changed }
    : { outcome: "text_full" };
}

/** What is left of a removed label. */
export function removedLabel({ channel, label, scope, createdAtMs }: LabelRecord): LabelRecord {
  const terms = { example: "", oneOf: null, maxBytes: null, ttlS: null, hidden: true } as const;
  return { channel, label, description: "Removed.", ...terms, scope, createdAtMs, removed: true };
}

function hasRoom(records: readonly LabelRecord[], label: LabelRecord): boolean {
  const others = records.filter(({ channel }) => channel >= CHANNEL_COUNT && channel !== label.channel);
  const bytes = [...others, label].reduce((sum, record) => sum + bytesOf(record), 0);
  return label.channel < CHANNEL_COUNT || bytes <= LABEL_TEXT_BYTES_MAX;
}

function bytesOf({ label, description, example, oneOf }: LabelRecord): number {
  return Buffer.byteLength([label, description, example, ...(oneOf ?? [])].join(""));
}
