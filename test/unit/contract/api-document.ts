/** What docs/API.md must say about each operation and each limit, made from the code's own tables and constants. */

import {
  BODY_BYTES_MAX,
  BODY_PARTS_MAX,
  CHANNEL_COUNT,
  DEMO_VALUE_BYTES_MAX,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  USER_ID_LENGTH_MAX,
  VALUE_BYTES_MAX,
} from "../../../src/base/limits.ts";
import { TIER_LIMITS } from "../../../src/base/tiers.ts";
import { SETTINGS } from "../../../src/config.ts";
import type { Access, Operation } from "../../../src/contract/operation.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";
import { BatchBody } from "../../../src/contract/schemas.ts";
import { ACCOUNT_SHARE, ADDRESS_SHARE, ROOM_BYTES } from "../../../src/http/access/body-room.ts";

/** The heading of the operations with this access. */
export const SECTION_TITLES: Readonly<Record<Access, string>> = {
  key: "With a key",
  demo: "Demo",
  open: "Service",
  admin: "Admin",
};

const operations = Object.values(OPERATIONS) as Operation[];

/** The rows of a section's table: call, summary, error codes. */
export function operationRows(access: Access): string[] {
  return operations
    .filter((operation) => operation.access === access)
    .map(
      ({ method, path, summary, errors }) => `| \`${method} ${path}\` | ${summary} | ${codeList(errors)} |`,
    );
}

export function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(", ");
}

export function limitRows(): string[] {
  const { minItems, maxItems } = BatchBody.properties.facts as { minItems?: number; maxItems?: number };
  const tiers = Object.entries(TIER_LIMITS).map(([tier, limit]) => [
    `encodes a month, tier ${tier}`,
    limit === null ? "no limit" : count(limit),
  ]);
  const bodies = operations.flatMap(({ method, path, bodyBytesMax }) =>
    bodyBytesMax === undefined ? [] : [[`body of \`${method} ${path}\``, sizeText(bodyBytesMax)]],
  );
  return [
    ["labels", `${CHANNEL_COUNT}`],
    ["value", `1 to ${count(VALUE_BYTES_MAX)} bytes of UTF-8`],
    ["value in the demo", `1 to ${count(DEMO_VALUE_BYTES_MAX)} bytes of UTF-8`],
    ["`user_id`, `session_id`", `1 to ${USER_ID_LENGTH_MAX} characters`],
    ["facts in a batch", `${minItems} to ${maxItems}`],
    ["`Idempotency-Key`", `1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters`],
    ["body", sizeText(BODY_BYTES_MAX)],
    ...bodies,
    ["names and values in a body", count(BODY_PARTS_MAX)],
    ["bodies of one account in flight", sizeText(ROOM_BYTES * ACCOUNT_SHARE)],
    ["bodies from one address in flight", sizeText(ROOM_BYTES * ADDRESS_SHARE)],
    ...tiers,
    ["demo requests a minute from one address", SETTINGS.SIDEBAND_DEMO_RATE.fallback],
    ["seconds between resets of the demo", SETTINGS.SIDEBAND_DEMO_RESET_S.fallback],
  ].map(([limit, value]) => `| ${limit} | ${value} |`);
}

/** 65,536 → 64 KiB, 1,048,576 → 1 MiB */
export function sizeText(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}

function count(number: number): string {
  return number.toLocaleString("en");
}
