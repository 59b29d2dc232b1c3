/** Progress of long work: one line that is rewritten, on standard error, and only where that is a terminal. */

const INTERVAL_MS = 200;

export class Progress {
  readonly #what: string;
  #total: number | undefined;
  readonly #startMs = Date.now();
  #done = 0;
  #shownMs = 0;

  /** @param total where it is known beforehand */
  constructor(what: string, total?: number) {
    this.#what = what;
    this.#total = total;
  }

  step(count = 1): void {
    this.#done += count;
    const now = Date.now();
    if (!process.stderr.isTTY || now - this.#shownMs < INTERVAL_MS) return;
    this.#shownMs = now;
    process.stderr.write(`\r\x1b[K${this.#line(now)}`);
  }

  /** Sets the progress to what the work reports. */
  reach(done: number, total: number): void {
    this.#total ??= total > 0 ? total : undefined;
    this.step(done - this.#done);
  }

  /** Clears the line. */
  end(): void {
    if (this.#shownMs > 0) process.stderr.write("\r\x1b[K");
  }

  #line(now: number): string {
    const seconds = (now - this.#startMs) / 1000;
    if (this.#total === undefined) return `${this.#done} ${this.#what} (${seconds.toFixed(0)} s)`;
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "░");
    const left = share > 0 ? (seconds / share) * (1 - share) : 0;
    return `${bar} ${this.#done}/${this.#total} ${this.#what}, ${left.toFixed(0)} s left`;
  }
}
