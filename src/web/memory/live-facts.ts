/**
 * The facts of a memory, kept as they are now: read at the start, after each write of this page, whenever the service
 * tells of a change, and when a fact ends. What others have changed is marked, and told to `announce` in words. While a
 * write of this page is on its way nothing is read, and a read that it overtakes counts for nothing, so that it is never
 * taken for somebody else's.
 */

import type { StoredFact } from "../../contract/answers.ts";
import { SidebandError } from "../../sdk/errors.ts";
import type { Memory, PageClient } from "../api/memory.ts";
import { authorName } from "../parts/format.ts";

export interface LiveState {
  /** Undefined until they are read for the first time. */
  readonly facts: readonly StoredFact[] | undefined;
  /** When others changed a fact, by label, by this machine's clock. */
  readonly marks: ReadonlyMap<string, number>;
  /** Counts the reads: something has happened, perhaps in another project, and what else is shown is to be read again. */
  readonly version: number;
  readonly isLive: boolean;
  readonly error: unknown;
}

interface LiveOptions {
  readonly api: Pick<PageClient, "facts" | "events">;
  readonly memory: Memory;
  readonly onState: (state: LiveState) => void;
  /** What others did, as a sentence. */
  readonly announce: (text: string) => void;
  /** Whether nobody looks at the page: then it reads when somebody does again. */
  readonly isHidden?: () => boolean;
}

export const NO_FACTS: LiveState = {
  facts: undefined,
  marks: new Map(),
  version: 0,
  isLive: false,
  error: undefined,
};

/** After a fact's end, so that the service agrees that it has come; and again, where its clock is behind. */
const END_GRACE_MS = 100;
const END_AGAIN_MS = 1_000;
const TIMER_MS_MAX = 2 ** 31 - 1;
const NAMES_MAX = 3;

export class LiveFacts {
  readonly #options: LiveOptions;
  readonly #ended = new AbortController();
  #state = NO_FACTS;
  /** Labels that this page has written since the last read; "all" after going back to a moment. */
  #own: Set<string> | "all" = new Set();
  #writing = 0;
  /** How many writes have begun. */
  #writes = 0;
  #reading = false;
  #isStale = false;
  #endTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  start(): void {
    void this.read();
    // It ends when this is stopped, or the service refuses the key.
    this.#follow().catch(() => {});
  }

  async #follow(): Promise<void> {
    const { api, memory } = this.#options;
    const onConnected = (isLive: boolean) => {
      this.#set({ isLive });
      // What happened while there was no stream, also before the first one.
      if (isLive) void this.read();
    };
    const events = api.events(memory.userId, { signal: this.#ended.signal, onConnected });
    for await (const _ of events) void this.read();
  }

  stop(): void {
    this.#ended.abort();
    clearTimeout(this.#endTimer);
  }

  /** Runs a write of this page, and reads what has become of it. */
  async write<T>(labels: readonly string[] | "all", work: () => Promise<T>): Promise<T> {
    this.#writing += 1;
    this.#writes += 1;
    let isRefused = false;
    try {
      return await work();
    } catch (error) {
      // Where the answer is lost it may have been done.
      isRefused = SidebandError.isInstance(error) && error.status >= 400 && error.status < 500;
      throw error;
    } finally {
      if (labels === "all" && !isRefused) this.#own = "all";
      else if (this.#own !== "all" && !isRefused) for (const label of labels) this.#own.add(label);
      this.#writing -= 1;
      await this.read();
    }
  }

  /** Reads the facts, now or as soon as nothing stands against it. */
  async read(): Promise<void> {
    const { api, memory, isHidden = () => false } = this.#options;
    this.#isStale = true;
    if (this.#reading || this.#writing > 0 || isHidden()) return;
    this.#reading = true;
    try {
      while (this.#isStale && this.#writing === 0) {
        this.#isStale = false;
        const writes = this.#writes;
        const { facts } = await api.facts(memory.userId, { project: memory.project });
        if (writes === this.#writes) this.#take(facts);
        else this.#isStale = true;
      }
    } catch (error) {
      this.#isStale = true;
      this.#set({ error });
    } finally {
      this.#reading = false;
    }
  }

  /** Reads what has changed while nobody looked. */
  look(): void {
    if (this.#isStale) void this.read();
  }

  #take(facts: readonly StoredFact[]): void {
    const before = this.#state.facts;
    const own = this.#own;
    this.#own = new Set();
    const isOwn = (label: string) => own === "all" || own.has(label);
    const known = new Map(before?.map((fact) => [fact.label, fact]));
    const marks = new Map(this.#state.marks);
    const written: StoredFact[] = [];
    for (const fact of facts) {
      const old = known.get(fact.label);
      known.delete(fact.label);
      if (old?.revision === fact.revision && old.place === fact.place) continue;
      marks.delete(fact.label);
      if (before === undefined || isOwn(fact.label)) continue;
      marks.set(fact.label, Date.now());
      written.push(fact);
    }
    const gone = [...known.values()];
    for (const { label } of gone) marks.delete(label);
    this.#set({ facts, marks, version: this.#state.version + 1, error: undefined });
    this.#waitForEnd(facts);
    this.#announce(
      written,
      gone.filter(({ label }) => !isOwn(label)),
    );
  }

  #announce(written: readonly StoredFact[], gone: readonly StoredFact[]): void {
    const told = [
      ...written.map(
        ({ label, written_by, user_id }) => `${label} was written${byText(authorName(written_by, user_id))}.`,
      ),
      ...gone.map(
        ({ label, expires_at: end }) => `${label} ${hasEnded(end) ? "has ended" : "was forgotten"}.`,
      ),
    ];
    if (told.length === 0) return;
    const more = told.length > NAMES_MAX ? ` ${told.length - NAMES_MAX} more facts have changed.` : "";
    this.#options.announce(told.slice(0, NAMES_MAX).join(" ") + more);
  }

  #waitForEnd(facts: readonly StoredFact[]): void {
    clearTimeout(this.#endTimer);
    const ends = facts.flatMap(({ expires_at: end }) => (end === undefined ? [] : [Date.parse(end)]));
    if (ends.length === 0 || this.#ended.signal.aborted) return;
    const leftMs = Math.min(...ends) - Date.now();
    const waitMs = leftMs > 0 ? Math.min(leftMs + END_GRACE_MS, TIMER_MS_MAX) : END_AGAIN_MS;
    this.#endTimer = setTimeout(() => void this.read(), waitMs);
  }

  #set(change: Partial<LiveState>): void {
    if (this.#ended.signal.aborted) return;
    this.#state = { ...this.#state, ...change };
    this.#options.onState(this.#state);
  }
}

function byText(name: string | undefined): string {
  return name === undefined ? "" : ` by ${name}`;
}

function hasEnded(end: string | undefined): boolean {
  return end !== undefined && Date.parse(end) <= Date.now();
}
