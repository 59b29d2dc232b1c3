/**
 * The tables of the documents that repeat what the code has in tables: errors, settings, operations, limits, labels, the
 * binaries of packages, and README.md's comparison with other memories. `npm run docs` writes each in the place of the one with the same columns (scripts/write-docs.ts).
 */

import { TIER_LIMITS } from "../src/base/accounts.ts";
import { CHANNELS } from "../src/base/channels.ts";
import { ERRORS } from "../src/base/error-codes.ts";
import {
  BODY_BYTES_MAX,
  BODY_PARTS_MAX,
  CHANNEL_COUNT,
  CHANNEL_COUNT_MAX,
  DEMO_VALUE_BYTES_MAX,
  FACTS_MAX,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  KEPT_LABELS_MAX,
  LABEL_TEXT_BYTES_MAX,
  PLACE_FACTS_MAX,
  PLACES_MAX,
  USER_ID_LENGTH_MAX,
  VALUE_BYTES_MAX,
} from "../src/base/limits.ts";
import type { Access, Operation } from "../src/contract/operation.ts";
import { ACCESS_ERRORS, errorsOf, OPERATIONS } from "../src/contract/operations.ts";
import { BatchBody } from "../src/contract/schemas.ts";
import { ACCOUNT_SHARE, ADDRESS_SHARE, ANSWERS, BODIES } from "../src/http/request/byte-budget.ts";
import { AGENT_SETTINGS, SETTINGS } from "../src/settings.ts";
import { binaryRows } from "./binary-table.ts";
import { COMPARISON } from "./comparison/columns.ts";
import { README_HEAD, readmeRows } from "./comparison/documents.ts";

type Row = readonly string[];

export interface DocumentTable {
  readonly file: string;
  /** The heading above it, where the file has several tables with these columns. */
  readonly section?: string;
  /** The names of the columns. */
  readonly head: Row;
  readonly rows: readonly Row[];
}

const operations = Object.values(OPERATIONS) as Operation[];

/** The headings of the operations, and the kinds of access below each. */
const SECTIONS: readonly (readonly [section: string, ...accesses: Access[]])[] = [
  ["With a key", "key"],
  ["Demo", "demo"],
  ["Service", "any", "open"],
  ["Admin", "admin"],
];

export const DOCUMENT_TABLES: readonly DocumentTable[] = [
  {
    file: "README.md",
    head: ["the user", "preferences", "the task", "the project"],
    rows: labelRows(),
  },
  {
    file: "docs/ERRORS.md",
    head: ["code", "status", "title", "meaning"],
    rows: Object.entries(ERRORS).map(([code, { status, title, meaning }]) => [
      `\`${code}\``,
      `${status}`,
      title,
      meaning,
    ]),
  },
  {
    file: "docs/CONFIG.md",
    head: ["variable", "default", "meaning"],
    rows: Object.entries(SETTINGS).map(([name, { fallback, meaning }]) => [
      `\`${name}\``,
      fallback === "" ? "" : `\`${fallback}\``,
      meaning,
    ]),
  },
  {
    file: "docs/CONFIG.md",
    head: ["variable", "meaning"],
    rows: Object.entries(AGENT_SETTINGS).map(([name, meaning]) => [`\`${name}\``, meaning]),
  },
  {
    file: "docs/PLATFORMS.md",
    head: ["package", "for", "Linux", "macOS", "Windows"],
    rows: binaryRows(),
  },
  { file: "README.md", head: README_HEAD, rows: readmeRows(COMPARISON) },
  ...SECTIONS.map(([section, ...accesses]) => accessTable(section, accesses)),
  { file: "docs/API.md", head: ["limit", "value"], rows: limitRows() },
  {
    file: "docs/FORMAT.md",
    head: ["channels", "their labels, in order"],
    rows: [0, 10, 20, 30].map((first) => [
      `${first}–${first + 9}`,
      CHANNELS.slice(first, first + 10)
        .map(({ label }) => label)
        .join(", "),
    ]),
  },
];

/** Its operations, with the errors that all of them may answer in the last row. */
function accessTable(section: string, accesses: readonly Access[]): DocumentTable {
  const shared = [...new Set(accesses.flatMap((access) => ACCESS_ERRORS[access]))];
  const calls = operations
    .filter(({ access }) => accesses.includes(access))
    .map((operation) => {
      const { method, path, summary } = operation;
      const own = errorsOf(operation).filter((code) => !shared.includes(code));
      return [`\`${method} ${path}\``, summary, codeList(own)];
    });
  return {
    file: "docs/API.md",
    section,
    head: ["call", "what it does", "errors"],
    rows: shared.length === 0 ? calls : [...calls, ["every call above", "", codeList(shared)]],
  };
}

function codeList(codes: readonly string[]): string {
  return codes.map((code) => `\`${code}\``).join(", ");
}

function labelRows(): Row[] {
  const groups = [0, 10, 20, 30];
  return Array.from({ length: 10 }, (_, i) => groups.map((first) => `\`${CHANNELS[first + i].label}\``));
}

function limitRows(): Row[] {
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
    [
      "labels of an account's own",
      `${CHANNEL_COUNT_MAX - CHANNEL_COUNT}, together ${LABEL_TEXT_BYTES_MAX / 1024} KiB of text`,
    ],
    ["value", `1 to ${count(VALUE_BYTES_MAX)} bytes of UTF-8`],
    ["value in the demo", `1 to ${count(DEMO_VALUE_BYTES_MAX)} bytes of UTF-8`],
    ["`user_id`, `session_id`", `1 to ${USER_ID_LENGTH_MAX} characters`],
    ["facts in a batch", `${minItems} to ${maxItems}`],
    ["facts of a person over all projects", count(FACTS_MAX)],
    [
      "facts of a person outside of projects, in one project, in one worktree",
      `${count(PLACE_FACTS_MAX)} each`,
    ],
    ["projects and worktrees of a person that have facts", count(PLACES_MAX)],
    ["labels of a person at all places, with those that have only earlier values", count(KEPT_LABELS_MAX)],
    ["`Idempotency-Key`", `1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} visible ASCII characters`],
    ["body", sizeText(BODY_BYTES_MAX)],
    ...bodies,
    ["names and values in a body", count(BODY_PARTS_MAX)],
    ["bodies of one account in flight", sizeText(BODIES.bytesMax * ACCOUNT_SHARE)],
    ["bodies from one address in flight", sizeText(BODIES.bytesMax * ADDRESS_SHARE)],
    ["answers to one account that were not yet read", sizeText(ANSWERS.bytesMax * ACCOUNT_SHARE)],
    ["answers to one address that were not yet read", sizeText(ANSWERS.bytesMax * ADDRESS_SHARE)],
    ...tiers,
    ["demo requests a minute from one address", SETTINGS.SIDEBAND_DEMO_RATE.fallback],
    ["seconds between resets of the demo", SETTINGS.SIDEBAND_DEMO_RESET_S.fallback],
  ];
}

/** 65,536 → 64 KiB, 1,048,576 → 1 MiB */
export function sizeText(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}

function count(number: number): string {
  return number.toLocaleString("en");
}
