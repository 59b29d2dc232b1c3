/**
 * What an operator of the night reads, and where it says what to do: in the line itself, or on a page. A line that is in
 * none of these tables fails the night, until somebody has written down what is to be done about it.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ERRORS } from "../../src/base/error-codes.ts";

const [WARN, INFO] = [40, 30];

/** Lines that are no log: what to call, with which secret, and why a process has ended. */
const PRINTED = [
  /^listening on http:\S+$/,
  /^admin token \S+; a new key: .* keys create --account default( --data \S+)?$/,
  /^\S+ had no account yet\. The account "default" has a key, in a file that only you can read:$/,
  /^ {2}\S+\/first\.key$/,
  /^Write a first fact:$/,
  /^ {2}curl -s http:\S+ .*$/,
  /^That is a fact of your own: your agents on this machine read it, too:$/,
  /^ {2}\S+ \S+ facts --data \S+$/,
  /^sideband: the data folder \S+ is no longer this process's: .* start it again$/,
];

/** Warnings and errors, and the words of a page that say what to do; without them the line itself does. */
const LOGGED: readonly (readonly [RegExp, page?: string, words?: string])[] = [
  [
    /^erased again after the restore: \d+ of \d+ noted erasures concerned this backup$/,
    "OPERATIONS.md",
    "the next start erases it again before it answers",
  ],
  [
    /^bringing the data in \S+ to format \d+; the old store stays until it has succeeded$/,
    "OPERATIONS.md",
    "logs a line at the beginning and at the end",
  ],
  [
    /^(noting the use of keys|sweeping|compacting|the scheduled backup) failed, and is tried again by itself: err says why$/,
  ],
  [/^the data in \S+ has format \d+$/, "OPERATIONS.md", "logs a line at the beginning and at the end"],
  [
    /^(The service is not ready\. )?The database cannot be used now\.$/,
    "OPERATIONS.md",
    "503 `store_unavailable`",
  ],
  [/^The answer of the database to this write was lost\. .*send the same request again/],
];

/** The reasons of a 5xx. */
const REASONS: readonly (readonly [RegExp, page?: string, words?: string])[] = [
  [/^the disk of the data folder \S+ is nearly full: .* make room, no restart is needed$/],
  [
    /\bE[A-Z]{4,}\b|the database system is |terminating connection|the connection was closed/,
    "CLUSTER.md",
    "Nodes reconnect\nby themselves",
  ],
  [/No space left on device/, "OPERATIONS.md", "`No space left on device`"],
];

const pages = new Map<string, string>();

function pageText(name: string): string {
  const text = pages.get(name) ?? readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  pages.set(name, text);
  return text;
}

function checkKnown(text: string, known: typeof LOGGED): void {
  const found = known.find(([pattern]) => pattern.test(text));
  assert.ok(found !== undefined, `nobody says what to do about: ${text}`);
  const [, page, words = ""] = found;
  if (page !== undefined) assert.ok(pageText(page).includes(words), `${page} says no more: ${words}`);
}

/** Of all that a node has printed; the number of lines. */
export function checkLines(output: string): number {
  const lines = output.split("\n").filter((text) => text !== "");
  for (const text of lines) {
    if (text.startsWith("{")) checkLogged(text);
    else
      assert.ok(
        PRINTED.some((pattern) => pattern.test(text)),
        `nobody says what this is for: ${text}`,
      );
  }
  return lines.length;
}

/** A line about a refused call has its code and, where the service is at fault, its reason. */
function checkLogged(text: string): void {
  const line = JSON.parse(text) as Record<string, unknown> & { level: number; msg: string };
  if (line.level >= WARN) checkKnown(line.msg, LOGGED);
  const status = line.status as number;
  if (line.level !== INFO || line.msg !== "request" || line.route === "unknown" || status < 400) return;
  assert.ok((line.code as string) in ERRORS, text);
  assert.ok(typeof line.address === "string", text);
  if (status < 500) return;
  checkKnown(String(line.reason), REASONS);
  assert.ok(pageText("OPERATIONS.md").includes(`503 \`${line.code}\``), `${line.code} is on no page`);
}
