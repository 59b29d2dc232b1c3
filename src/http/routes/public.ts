/** What needs no key: channels, requests for keys, the API's description, health and metrics. */

import { CHANNELS } from "../../base/channels.ts";
import { clockFault } from "../../base/clock.ts";
import { Failure } from "../../base/errors.ts";
import { LABEL_SETS } from "../../base/label-sets.ts";
import { enforce } from "../../base/rate-limiter.ts";
import type { ChannelsAnswer } from "../../contract/answers.ts";
import type { Caller } from "../../memory/authentication.ts";
import type { AccountLabels } from "../../memory/labels.ts";
import { mayAddLabels } from "../../memory/rights.ts";
import { requireClock } from "../access/access.ts";
import { Answer, JSON_TYPE } from "../request/answer.ts";
import { limitGroupOf } from "../request/client.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { channelsView } from "./account.ts";

export function serviceRoutes(services: HttpServices, readiness: Readiness) {
  const { publicUrl: serverUrl, version, limits, keys, metrics } = services;
  let document: Promise<string> | undefined;
  /** Made once for each version of an account's labels: there may be 256 KiB of them. Not for keys that may write some. */
  const answersOfLabels = () => new WeakMap<AccountLabels, Answer<ChannelsAnswer>>();
  const channelAnswers = { adding: answersOfLabels(), reading: answersOfLabels(), bound: answersOfLabels() };

  return {
    async channels({ caller, memory }) {
      if (caller === undefined || memory === undefined) return { channels: [...CHANNELS] };
      const labels = await memory.labels.of(caller.account);
      if (caller.write !== undefined) return channelsAnswer(labels, caller);
      const mayAdd = mayAddLabels(caller);
      const answers = channelAnswers[caller.user === null ? (mayAdd ? "adding" : "reading") : "bound"];
      const answer = answers.get(labels) ?? channelsAnswer(labels, caller);
      answers.set(labels, answer);
      return answer;
    },

    labelSets: () => ({ sets: LABEL_SET_VIEWS }),

    async requestKey(call) {
      enforce(limits.keyRequests, limitGroupOf(call.client));
      const { name, email, purpose, tier } = call.body;
      await keys.request({ name, email, purpose, tier });
      return Answer.json({ status: "received" } as const, { status: 202 });
    },

    async openapi() {
      document ??= describe({ version, serverUrl });
      return new Answer(await document, { type: JSON_TYPE });
    },

    health: () => ({ status: "ok" }),

    async ready() {
      const note = await readiness.check();
      const database = services.databaseServer();
      return { status: "ready", ...(note !== undefined && { note }), ...(database && { database }) };
    },

    metrics: () => new Answer(metrics.render(), { type: "text/plain; version=0.0.4; charset=utf-8" }),
  } satisfies Partial<Handlers>;
}

const LABEL_SET_VIEWS = [...LABEL_SETS].map(([set, labels]) => ({
  set,
  labels: labels.map((label) => ({ scope: "person" as const, ...label })),
}));

/** As bytes, which are sent as they are. */
function channelsAnswer(labels: AccountLabels, caller: Caller): Answer<ChannelsAnswer> {
  return new Answer(Buffer.from(JSON.stringify(channelsView(labels, caller))), { type: JSON_TYPE });
}

/** Loaded and made when it is asked for: no start waits for it. */
async function describe(info: { version: string; serverUrl: string }): Promise<string> {
  const { openApiDocument } = await import("../../contract/openapi.ts");
  return JSON.stringify(openApiDocument(info));
}

/** A probe writes to the disk: it is not repeated more often than this. */
const PROBE_INTERVAL_MS = 1_000;

/** What a probe is told: what was tried is the service's own read and write, and there is nothing to repeat. */
function notReady(error: unknown): Failure {
  const isFailure = error instanceof Failure;
  const text =
    isFailure && error.code !== "outcome_unknown" ? error.message : "A read or a write of its own failed.";
  const { cause, place, retryAfterS = PROBE_INTERVAL_MS / 1000 } = isFailure ? error.extra : { cause: error };
  return new Failure("store_unavailable", `The service is not ready. ${text}`, { cause, place, retryAfterS });
}

/**
 * Whether the service is ready, for /readyz and for the operator's status: the store can be read and takes writes, block work runs, and the
 * machine's clock is not far from the database's.
 */
export class Readiness {
  readonly #services: Pick<HttpServices, "memory" | "clock">;
  #probe = { atMs: Number.NEGATIVE_INFINITY, result: Promise.resolve() };

  constructor(services: Pick<HttpServices, "memory" | "clock">) {
    this.#services = services;
  }

  /** Throws the reason where the service is not ready. Resolves to what the operator should know all the same. */
  async check(): Promise<string | undefined> {
    const { memory, clock } = this.#services;
    requireClock(clock);
    const nowMs = performance.now();
    if (nowMs - this.#probe.atMs >= PROBE_INTERVAL_MS)
      this.#probe = { atMs: nowMs, result: memory.store.probe() };
    await this.#probe.result.catch((error: unknown) => {
      throw notReady(error);
    });
    if (!memory.blockWork.healthy)
      throw new Failure("overloaded", "The threads for block work keep failing.", { retryAfterS: 1 });
    return clockFault(clock)?.line;
  }
}
