/** POST /flush and /read: block work that the caller waits for. */

import type { Asker } from "../../base/asker.ts";
import type { FlushAnswer, FlushBody, ReadAnswer, ReadBody } from "../../contract/schemas.ts";
import { type FlushResult, flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import type { HttpParts } from "../parts.ts";
import { whileConnected } from "../while-connected.ts";

export function blockRoutes({ memory }: HttpParts) {
  return {
    flush: whileConnected(async (request, _, signal): Promise<FlushAnswer> => {
      const { user_id: userId, session_id: sessionId } = request.body as FlushBody;
      request.sessionId = sessionId ?? null;
      return flushAnswer(await flushUser(memory, { ...request.caller!, signal }, { userId, sessionId }));
    }),

    read: whileConnected((request, _, signal): Promise<ReadAnswer> => {
      const { user_id: userId, block } = request.body as ReadBody;
      return readAnswer(memory, { ...request.caller!, signal }, { userId, block });
    }),
  };
}

export async function readAnswer(
  memory: HttpParts["memory"],
  asker: Asker,
  input: { userId: string; block: string },
): Promise<ReadAnswer> {
  const { facts, missing, wrong, repaired, guardLeft } = await readPresentedBlock(memory, asker, input);
  return {
    status: "ok",
    user_id: input.userId,
    facts: [...facts],
    missing,
    wrong,
    repaired,
    guard_left: guardLeft,
  };
}

export function flushAnswer(result: FlushResult): FlushAnswer {
  return { ...result, overflow: [...result.overflow] };
}
