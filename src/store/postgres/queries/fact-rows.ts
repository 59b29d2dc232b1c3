/** Rows of facts and of their history, as records. */

import { CRC32_BYTES } from "../../../base/bytes.ts";
import type { FactOrigin } from "../../../base/fact-origins.ts";
import type { EarlierFact, FactCode, FactRecord } from "../../../memory/ports.ts";

export interface FactRow {
  readonly place: string;
  readonly label: string;
  readonly value: string;
  readonly revision: number;
  readonly updated_at_ms: number;
  readonly since_ms: number;
  readonly expires_at_ms: number | null;
  readonly written_by: string | null;
  readonly session_id: string | null;
  readonly ordinal: number;
  readonly origin: FactOrigin | null;
  readonly pinned: boolean | null;
  readonly author: string | null;
  /** Of a present fact. */
  readonly label_number?: number | null;
  readonly codebook_version?: number | null;
  readonly code_length?: number | null;
  readonly code_bytes?: Uint8Array | null;
}

export function factOf(row: FactRow): FactRecord {
  const { label_number: number } = row;
  const kept = keptOf(row);
  const fact = number == null ? kept : { ...kept, number };
  // Most statements do not ask for the code, and a column that is not in a row must not be read.
  if (!("codebook_version" in row)) return fact;
  const { codebook_version: version, code_length: length, code_bytes: bytes } = row;
  if (version == null || length == null || bytes == null) return fact;
  const packed = Buffer.from(bytes);
  const bits = { length, bytes: Uint8Array.from(packed.subarray(CRC32_BYTES)) };
  return { ...fact, code: { version, bits, checksum: packed.readUInt32BE(0) } };
}

export function earlierOf(
  row: FactRow & {
    readonly ended: EarlierFact["ended"];
    readonly ended_at_ms: number;
    readonly ending: string | null;
  },
): EarlierFact {
  const kept = { ...keptOf(row), ended: row.ended, endedAtMs: row.ended_at_ms };
  return row.ending === null ? kept : { ...kept, ...JSON.parse(row.ending) };
}

function keptOf(row: FactRow) {
  return {
    place: row.place,
    label: row.label,
    value: row.value,
    revision: row.revision,
    updatedAtMs: row.updated_at_ms,
    sinceMs: row.since_ms,
    expiresAtMs: row.expires_at_ms,
    writtenBy: row.written_by,
    sessionId: row.session_id,
    ordinal: row.ordinal,
    ...(row.origin === null ? {} : { origin: row.origin }),
    ...(row.pinned ? { pinned: row.pinned } : {}),
    ...(row.author === null ? {} : { author: row.author }),
  };
}

/** code_bytes: the checksum, then the bits. */
export function withChecksum({ bits, checksum }: FactCode): Buffer {
  const packed = Buffer.alloc(CRC32_BYTES + bits.bytes.length);
  packed.writeUInt32BE(checksum);
  packed.set(bits.bytes, CRC32_BYTES);
  return packed;
}
