/** GET /usage and /usage/days: what a key has used. */

import { readUsage } from "../../memory/usage.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { usageAnswer } from "./answer-mapping.ts";

export function usageRoutes({ memory, keys }: HttpServices): Handlers<"usage" | "usageDays"> {
  return {
    async usage(call) {
      return usageAnswer(await readUsage(memory, call.caller));
    },

    async usageDays(call) {
      const { from, to } = keys.recentDays();
      return { from, to, days: await memory.store.readDailyUsage(call.caller.keyId, from, to) };
    },
  };
}
