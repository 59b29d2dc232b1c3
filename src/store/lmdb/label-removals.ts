/**
 * The removal of a label that nobody uses. All facts and histories of the account are looked at, page by page, so that
 * other requests go on. Writes of the label wait meanwhile: they would be missed on a page that was looked at already. So
 * does work on whole users, such as a move, which may take any label there.
 */

import type { Clock } from "../../base/clock.ts";
import { readingOf } from "../../memory/law/law.ts";
import type { WriteRequest } from "../../memory/ports.ts";
import type { AuditNote, RemoveLabelOutcome } from "../../memory/records.ts";
import { audited } from "./audit.ts";
import { isOfLabel, rangeBelow } from "./entry-keys.ts";
import { type Environment, pagesFrom } from "./environment.ts";
import type { GroupCommit } from "./group-commit.ts";
import { removeLabel } from "./key-writes.ts";
import { EVERYBODY } from "./user-locks.ts";

const PAGE = 256;

export class LabelRemovals {
  readonly #commit: GroupCommit;
  readonly #environment: () => Environment;
  readonly #clock: Clock;
  /** Those under way, by account and label. They never reject. */
  readonly #running = new Map<string, Promise<void>>();

  /** @param environment what is read; asked anew for each page, because a compaction replaces it */
  constructor(commit: GroupCommit, environment: () => Environment, clock: Clock) {
    this.#commit = commit;
    this.#environment = environment;
    this.#clock = clock;
  }

  /** A removal that a write has to wait for. */
  before(request: WriteRequest): Promise<void> | undefined {
    if (this.#running.size === 0) return undefined;
    const { account } = request;
    const { names, inside } = readingOf(request);
    const isMeant =
      inside.length > 0
        ? (name: string) => name.startsWith(nameOf(account, ""))
        : (name: string) => names.some(({ label }) => name === nameOf(account, label));
    return this.#running.get([...this.#running.keys()].find(isMeant) ?? "");
  }

  async remove(account: string, label: string, audit?: AuditNote): Promise<RemoveLabelOutcome> {
    const name = nameOf(account, label);
    for (let other = this.#running.get(name); other !== undefined; other = this.#running.get(name))
      await other;
    const removal = this.#removeUnused(account, label, audit);
    const ended = () => void this.#running.delete(name);
    this.#running.set(name, removal.then(ended, ended));
    return removal;
  }

  async #removeUnused(
    account: string,
    label: string,
    audit: AuditNote | undefined,
  ): Promise<RemoveLabelOutcome> {
    // Writes that came before are on disk then.
    await this.#commit.run(() => {}, EVERYBODY);
    for (const table of ["facts", "history"] as const) {
      const { start, end } = rangeBelow(Buffer.from(account));
      const read = (page: object) => this.#environment().keys(table, { ...page, end });
      for (const keys of pagesFrom(start, PAGE, read)) {
        if (keys.some((key) => isOfLabel(key, label))) return "in_use";
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return this.#commit.run(audited(removeLabel(account, label, this.#clock.now()), audit));
  }
}

function nameOf(account: string, label: string): string {
  return `${account}\0${label}`;
}
