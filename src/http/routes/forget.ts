/** DELETE /facts and /users, and GET /usage. */

import type { FastifyRequest } from "fastify";
import type { FactQuery, UsageAnswer, UserQuery } from "../../contract/schemas.ts";
import { forgetFact, forgetUser } from "../../memory/facts.ts";
import { readUsage } from "../../memory/usage.ts";
import type { HttpParts } from "../parts.ts";

export function forgetRoutes({ memory }: HttpParts) {
  return {
    async forgetFact(request: FastifyRequest) {
      const { user_id: userId, label } = request.query as FactQuery;
      const channelCount = await forgetFact(memory, request.caller!.account, { userId, label });
      return { status: "ok", channel_count: channelCount };
    },

    async forgetUser(request: FastifyRequest) {
      const { user_id: userId } = request.query as UserQuery;
      await forgetUser(memory, request.caller!.account, userId);
      return { status: "ok" };
    },

    usage(request: FastifyRequest): Promise<UsageAnswer> {
      return readUsage(memory, request.caller!);
    },
  };
}
