/**
 * Where the lines of the log go: standard error, in their order, and nothing waits for its reader. While they cannot be
 * written, as on a full disk, some are kept and tried again, and the rest are left out and counted: the service goes on.
 */

import { write, writeSync } from "node:fs";

const STANDARD_ERROR = 2;
const KEPT_BYTES_MAX = 2 ** 20;
const RETRY_MS = 1_000;
/** A pipe is full until its reader goes on, which is soon: what is logged meanwhile must find room. */
const FULL_RETRY_MS = 10;
const EXIT_WAIT_MS = 500;

/** What is written to, as `fs` has it. */
interface LogFile {
  write(bytes: Buffer, done: (error: Error | null, written: number) => void): void;
  writeSync(bytes: Buffer): number;
}

const ofStandardError: LogFile = {
  write: (bytes, done) => write(STANDARD_ERROR, bytes, done),
  writeSync: (bytes) => writeSync(STANDARD_ERROR, bytes),
};

export class LogOutput {
  readonly #file: LogFile;
  /** What is being written comes first. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #leftOut = 0;
  #isWriting = false;
  #isFirst = true;
  #retry: NodeJS.Timeout | undefined;

  constructor(file = ofStandardError) {
    this.#file = file;
  }

  write(line: string): void {
    if (this.#isFirst) process.once("exit", () => this.#writeRest());
    this.#isFirst = false;
    const bytes = Buffer.from(line);
    if (this.#keptBytes + bytes.length > KEPT_BYTES_MAX) this.#leftOut += 1;
    else this.#keep(bytes);
    if (!this.#isWriting && this.#retry === undefined) this.#writeNext();
  }

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
  }

  #writeNext(): void {
    this.#isWriting = true;
    const bytes = this.#kept.length === 1 ? this.#kept[0] : Buffer.concat(this.#kept);
    this.#kept = [bytes];
    this.#file.write(bytes, (error, written) => {
      this.#isWriting = false;
      this.#take(error === null ? written : 0);
      if (error !== null) this.#retryIn(isFull(error) ? FULL_RETRY_MS : RETRY_MS);
      else if (this.#kept.length > 0) this.#writeNext();
    });
  }

  #retryIn(ms: number): void {
    this.#retry = setTimeout(() => this.#tryAgain(), ms).unref();
  }

  #tryAgain(): void {
    this.#retry = undefined;
    this.#writeNext();
  }

  /** Goes on behind what was written. */
  #take(written: number): void {
    const [first, ...others] = this.#kept;
    const rest = first.subarray(written);
    this.#kept = rest.length > 0 ? [rest, ...others] : others;
    this.#keptBytes -= written;
    if (written === 0 || this.#leftOut === 0) return;
    this.#keep(Buffer.from(leftOutLine(this.#leftOut)));
    this.#leftOut = 0;
  }

  /** At the end of the process, behind what is being written: as much as can be written soon. */
  #writeRest(): void {
    if (this.#isWriting) this.#kept.shift();
    const endMs = performance.now() + EXIT_WAIT_MS;
    while (this.#kept.length > 0) {
      try {
        this.#take(this.#file.writeSync(this.#kept[0]));
      } catch (error) {
        // Nobody can be told.
        if (!isFull(error) || performance.now() >= endMs) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_RETRY_MS);
      }
    }
  }
}

/** Of a pipe that does not wait: its reader is behind. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}

function leftOutLine(count: number): string {
  const msg = "lines of the log were left out: they could not be written";
  return `${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, count, msg })}\n`;
}
