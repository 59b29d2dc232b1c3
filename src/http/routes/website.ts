/** What the website needs beside the service's own operations: contract/website-operations.ts has the table. */

import type { FastifyRequest } from "fastify";
import type { ReadAnswer } from "../../contract/schemas.ts";
import type {
  AdminStatusAnswer,
  DemoKeyAnswer,
  DemoReadBody,
  UsageDaysAnswer,
} from "../../contract/website-operations.ts";
import { DEMO_ACCOUNT, DEMO_ASKER, DEMO_USER } from "../../memory/demo.ts";
import { labelOf } from "../../memory/labels.ts";
import type { HttpParts } from "../parts.ts";
import type { RecentErrors } from "../recent-errors.ts";
import { whileConnected } from "../while-connected.ts";
import { readAnswer } from "./blocks.ts";

/** The format version that every reader knows. */
const PLAIN_VERSION = 1;

export function websiteRoutes(parts: HttpParts, recentErrors: RecentErrors) {
  const { memory, demo, desk, clock, version } = parts;
  const startedAt = new Date(clock.now()).toISOString();
  return {
    /** The demo's key and no other: the account is a constant, and nothing of the request comes into it. */
    async demoKey(): Promise<DemoKeyAnswer> {
      const keys = memory.keyRing.reading(DEMO_ACCOUNT).map(({ id, material }) => ({
        key_id: id,
        material: Buffer.from(material).toString("base64"),
      }));
      return { user_id: DEMO_USER, keys, versions: [...new Set([memory.blockWork.version, PLAIN_VERSION])] };
    },

    demoRead: whileConnected((request, _, signal): Promise<ReadAnswer> => {
      const { block } = request.body as DemoReadBody;
      return readAnswer(memory, { ...DEMO_ASKER, signal }, { userId: DEMO_USER, block });
    }),

    async usageDays(request: FastifyRequest): Promise<UsageDaysAnswer> {
      const { from, to } = desk.recentDays();
      return { from, to, days: await memory.store.readDailyUsage(request.caller!.keyId, from, to) };
    },

    async adminStatus(): Promise<AdminStatusAnswer> {
      const { store } = memory;
      const ready = await store.probe().then(
        () => true,
        () => false,
      );
      const { facts, users, sizeBytes } = await store.statistics();
      return {
        version,
        process_id: process.pid,
        started_at: startedAt,
        ready,
        store: { facts, users, size_bytes: sizeBytes },
        demo: demo === undefined ? null : { labels: await demoLabels(parts), resets_in_s: demo.resetsInS },
        recent_errors: recentErrors.list(),
      };
    },
  };
}

async function demoLabels({ memory, demo }: HttpParts): Promise<string[]> {
  await demo!.resetIfDue();
  const state = await memory.store.readUser(DEMO_ACCOUNT, DEMO_USER);
  return (state?.facts ?? []).map(({ channel }) => labelOf(channel));
}
