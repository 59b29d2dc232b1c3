/**
 * Whether the database still has a form that this program works on. A newer node may change it while this one runs: then
 * every call would fail, or worse. The database is asked every second, and when a statement names what is not there; as
 * soon as the form is one that this program does not know, the node takes no more traffic.
 */

import type { Database } from "./connection/database.ts";
import { checkApplied, type Migration, readApplied } from "./migrations.ts";

const POLL_MS = 1_000;
const REFUSED =
  "A newer version of sideband has brought the database to a form that this node does not know: it takes no traffic " +
  "until it is upgraded.";

export class SchemaWatch {
  readonly #database: Database;
  readonly #migrations: readonly Migration[];
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;

  constructor(database: Database, migrations: readonly Migration[]) {
    this.#database = database;
    this.#migrations = migrations;
  }

  start(): void {
    this.#database.onUnknownForm = () => this.ask();
    this.#timer = setInterval(() => this.ask().catch(() => {}), POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Fails where the database cannot be asked. */
  ask(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<void> {
    const applied = await this.#database.readAlways(readApplied);
    try {
      checkApplied(applied, this.#migrations);
      this.#database.refuseAll(undefined);
    } catch (error) {
      this.#database.refuseAll(REFUSED, (error as Error).message);
    }
  }
}
