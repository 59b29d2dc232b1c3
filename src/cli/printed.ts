/**
 * How commands print counts, limits, rights of keys and tables on standard output, and questions and the progress of long
 * work on standard error. At a terminal progress is one line that is rewritten. Elsewhere it is a line every ten seconds, if the work asks
 * for that.
 */

import { createInterface } from "node:readline/promises";
import { terminalText } from "../agent-side/escaped-text.ts";
import { withThousands } from "../base/limits.ts";
import type { KeyView } from "../contract/admin-schemas.ts";

/** "1 user", "2 users". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** "1,000 facts a month"; null is no limit. */
export function limitText(limit: number | null): string {
  return limit === null ? "any number of facts" : `${withThousands(limit)} facts a month`;
}

/** Whose facts a key is for, and what it may do with them. */
export function rightsText({
  user,
  access,
  groups,
  write,
}: Pick<KeyView, "user" | "access" | "groups" | "write">): string {
  const who = user === null ? "all users" : `user ${JSON.stringify(user)}`;
  return [
    who,
    ...(access === "read" ? ["reads only"] : []),
    ...(groups === null ? [] : [groups]),
    ...(write === null ? [] : [`writes ${write.join(" ")}`]),
  ].join(", ");
}

/** What the person at the terminal answers, in small letters. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(terminalText(question)).finally(() => terminal.close());
  return answer.trim().toLowerCase();
}

/** Rows below their heads, each column as wide as its longest cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => all.reduce((most, row) => Math.max(most, row[column].length), 0));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}

const INTERVAL_MS = 200;
const LOG_INTERVAL_MS = 10_000;

export class ProgressLine {
  readonly #what: string;
  #total: number | undefined;
  readonly #logs: boolean;
  readonly #startMs = Date.now();
  #done = 0;
  #shownMs: number | undefined;

  /**
   * @param total if it is known beforehand
   * @param logs whether it is shown without a terminal too
   */
  constructor(what: string, total?: number, logs = false) {
    this.#what = what;
    this.#total = total;
    this.#logs = logs;
  }

  step(count = 1): void {
    this.#done += count;
    const now = Date.now();
    if (process.stderr.isTTY) {
      if (now - (this.#shownMs ?? 0) < INTERVAL_MS) return;
      process.stderr.write(`\r\x1b[K${this.#line(now)}`);
    } else {
      if (!this.#logs || now - (this.#shownMs ?? this.#startMs) < LOG_INTERVAL_MS) return;
      process.stderr.write(`${this.#line(now)}\n`);
    }
    this.#shownMs = now;
  }

  /** Sets the progress to what the work reports. */
  reach(done: number, total: number): void {
    this.#total ??= total > 0 ? total : undefined;
    this.step(done - this.#done);
  }

  /** Clears the line. */
  end(): void {
    if (process.stderr.isTTY && this.#shownMs !== undefined) process.stderr.write("\r\x1b[K");
  }

  #line(now: number): string {
    const seconds = (now - this.#startMs) / 1000;
    if (this.#total === undefined) return `${this.#what}: ${this.#done} (${seconds.toFixed(0)} s)`;
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "░");
    const left = share > 0 ? (seconds / share) * (1 - share) : 0;
    return `${bar} ${this.#what}: ${this.#done}/${this.#total}, ${left.toFixed(0)} s left`;
  }
}
