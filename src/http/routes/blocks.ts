/** POST /flush and /read: block work that the caller waits for. */

import { flushAnswer, readAnswer } from "../../contract/answer-mapping.ts";
import { flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import { requesterOf } from "../request/call.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

export function blockRoutes({ memory }: HttpServices): Handlers<"flush" | "read"> {
  return {
    async flush(call) {
      const { user_id: userId, session_id: sessionId } = call.body;
      call.sessionId = sessionId;
      return flushAnswer(await flushUser(memory, requesterOf(call, call.caller), { userId, sessionId }));
    },

    async read(call) {
      const { user_id: userId, block } = call.body;
      return readAnswer(
        userId,
        await readPresentedBlock(memory, requesterOf(call, call.caller), { userId, block }),
      );
    },
  };
}
