/** POST /flush and /read: block work that the caller waits for. */

import { flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import { requesterOf } from "../request/call.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { flushAnswer, readAnswer } from "./answer-mapping.ts";

export function blockRoutes({ memory }: HttpServices): Handlers<"flush" | "read"> {
  return {
    async flush(call) {
      const { user_id: userId, project, session_id: sessionId } = call.body;
      call.sessionId = sessionId;
      const input = { userId, project, sessionId };
      return flushAnswer(await flushUser(memory, requesterOf(call, call.caller), input));
    },

    async read(call) {
      const { user_id: userId, project, block } = call.body;
      const input = { userId, project, block };
      return readAnswer(userId, await readPresentedBlock(memory, requesterOf(call, call.caller), input));
    },
  };
}
