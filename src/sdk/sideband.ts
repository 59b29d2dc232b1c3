/**
 * The client of the service: its calls (calls.ts), the demo, and two helpers for agents that go on without memory. Needs
 * nothing but fetch: Node, browsers, Deno, Bun and edge runtimes.
 */

import type { AgentMemory } from "../agent-side/agent-memory.ts";
import {
  contextFor,
  memorySection,
  outageSection,
  type SectionParts,
  withSection,
} from "../agent-side/memory-section.ts";
import { TIMEOUT_MS } from "./account-calls.ts";
import { ServiceCalls } from "./calls.ts";
import { checkedContextTokens, checkedParts, checkedStaleMs, variable } from "./checked-options.ts";
import { DemoClient } from "./demo.ts";
import { SidebandError } from "./errors.ts";
import { CONTEXT, checkOptions, INJECT } from "./option-kinds.ts";
import type { ContextOptions, InjectOptions, SidebandOptions } from "./options.ts";

export interface Compaction {
  /** Whether the flush was answered. */
  flushed: boolean;
  /** Whether the service read every fact back from the fresh block exactly. */
  lossless: boolean;
  /** The fresh block; empty if there are no facts or the flush failed. */
  block: string;
  /** The memory section for the next context, as `inject` would add it. */
  section: string;
  overflow: string[];
  error?: unknown;
}

/** An agent does not wait longer than this for its memory, unless it is told to. */
const HELPER_TIMEOUT_MS = 2_000;
const STALE_IF_ERROR_MS = 600_000;

/** @typeParam Own the account's own labels, for example `new Sideband<"FAMILY.wife" | "FAMILY.child">()` */
export class Sideband<Own extends string = never> extends ServiceCalls<Own> implements AgentMemory {
  /** The public demo: one state for all, without a key. */
  readonly demo: DemoClient;
  /** What the helpers put into a prompt. */
  readonly include: SectionParts;
  readonly #contextTokens: number;
  readonly #onWarning: NonNullable<SidebandOptions["onWarning"]>;
  readonly #timeoutMs: number;
  readonly #staleIfErrorMs: number;

  constructor(options: SidebandOptions = {}) {
    super(options);
    this.include = checkedParts(options.include ?? variable("SIDEBAND_INCLUDE") ?? "index");
    this.#contextTokens = checkedContextTokens(
      options.contextTokens ?? variable("SIDEBAND_CONTEXT_TOKENS") ?? 0,
    );
    this.#timeoutMs = Math.min(options.timeoutMs ?? TIMEOUT_MS, HELPER_TIMEOUT_MS);
    this.#staleIfErrorMs = checkedStaleMs(
      options.staleIfErrorMs ?? variable("SIDEBAND_STALE_IF_ERROR_MS") ?? STALE_IF_ERROR_MS,
    );
    this.#onWarning = options.onWarning ?? ((message) => console.error(message));
    this.demo = new DemoClient(this.transport);
  }

  /**
   * A system prompt with the user's memory at its end. If memory is slow or away, the prompt says so to the model, with the
   * last known memory where that is not too old (`staleIfErrorMs`), and `onWarning` is called; with `onOutage: "throw"` it
   * throws the error.
   */
  async inject(systemPrompt: string, userId: string, options: InjectOptions = {}): Promise<string> {
    checkOptions(options, INJECT);
    if (typeof systemPrompt !== "string")
      throw new TypeError(`systemPrompt is a text, not a ${typeof systemPrompt}`);
    const { onOutage = "continue", ...rest } = this.#helperOptions(options);
    try {
      const context = await this.context(userId, { ...rest, failFast: onOutage === "continue" });
      return withSection(systemPrompt, memorySection(context, rest.include));
    } catch (error) {
      // What is not the service's fault, a wrong call or an abort, is the caller's to know.
      if (onOutage === "throw" || !SidebandError.isInstance(error)) throw error;
      this.#warn("memory was not refreshed", error);
      return withSection(systemPrompt, this.#outageSection(userId, rest));
    }
  }

  /**
   * Call it before a context is compacted: it flushes and returns the section for the next context. If memory is slow or
   * away, `flushed` is false and the section is that of `inject`.
   */
  async beforeCompaction(userId: string, options: ContextOptions = {}): Promise<Compaction> {
    checkOptions(options, CONTEXT);
    const call = this.#helperOptions(options);
    const { include: _, maxTokens: __, groups: ___, ...flushing } = call;
    const untilMs = Date.now() + call.timeoutMs;
    try {
      const flushed = await this.flush(userId, flushing);
      const leftMs = Math.max(1, untilMs - Date.now());
      const context = await this.context(userId, { ...call, timeoutMs: leftMs });
      // The flush's own block: the one that has just been read back. It has all groups of the key.
      const { fdm_block: block, overflow } = call.groups === undefined ? flushed : context;
      const section = memorySection({ ...context, fdm_block: block }, call.include);
      return { flushed: true, lossless: flushed.lossless, block, section, overflow };
    } catch (error) {
      if (!SidebandError.isInstance(error)) throw error;
      this.#warn("memory was not flushed before compaction", error);
      const section = this.#outageSection(userId, call);
      return { flushed: false, lossless: false, block: "", section, overflow: [], error };
    }
  }

  #helperOptions<O extends ContextOptions>(options: O) {
    const { include = this.include, timeoutMs = this.#timeoutMs } = options;
    const { maxTokens = contextFor(include, this.#contextTokens).maxTokens } = options;
    return { ...options, include, maxTokens, timeoutMs, failFast: true };
  }

  #warn(what: string, error: SidebandError): void {
    this.#onWarning(`sideband: ${what}: ${error.message}`, error);
  }

  /** What a prompt says while memory is away, with the last context that was answered in this form. */
  #outageSection(userId: string, options: ContextOptions): string {
    const known = this.knownContext(userId, options, this.#staleIfErrorMs);
    if (known === undefined) return outageSection();
    return outageSection({ section: memorySection(known.answer, options.include), atMs: known.atMs });
  }
}
