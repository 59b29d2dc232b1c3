/** DELETE /facts and /users. */

import { forgetFact, forgetUser } from "../../memory/facts.ts";
import { expectedRevision, isTrue } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { forgetAnswer } from "./answer-mapping.ts";

export function forgetRoutes({ memory }: HttpServices): Handlers<"forgetFact" | "forgetUser"> {
  return {
    async forgetFact(call) {
      const { user_id: userId, label, project, scope, keep_history: keep } = call.query;
      const input = {
        userId,
        label,
        project,
        scope,
        keepHistory: isTrue(keep),
        ifRevision: expectedRevision(call),
      };
      return forgetAnswer(await forgetFact(memory, call.caller.account, input));
    },

    async forgetUser(call) {
      const { user_id: userId, project } = call.query;
      await forgetUser(memory, call.caller.account, { userId, project });
      return { status: "ok" };
    },
  };
}
