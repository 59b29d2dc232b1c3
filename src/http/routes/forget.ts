/** DELETE /facts and /users. */

import { forgetAnswer } from "../../contract/answer-mapping.ts";
import { forgetFact, forgetUser } from "../../memory/facts.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

export function forgetRoutes({ memory }: HttpServices): Handlers<"forgetFact" | "forgetUser"> {
  return {
    async forgetFact(call) {
      const { user_id: userId, label } = call.query;
      return forgetAnswer(await forgetFact(memory, call.caller.account, { userId, label }));
    },

    async forgetUser(call) {
      await forgetUser(memory, call.caller.account, call.query.user_id);
      return { status: "ok" };
    },
  };
}
