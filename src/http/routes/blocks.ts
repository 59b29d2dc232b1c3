/** POST /flush and /read: block work that the caller waits for. */

import type { FastifyRequest } from "fastify";
import type { FlushAnswer, FlushBody, ReadAnswer, ReadBody } from "../../contract/schemas.ts";
import { type FlushResult, flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import type { HttpParts } from "../parts.ts";

export function blockRoutes({ memory }: HttpParts) {
  return {
    async flush(request: FastifyRequest): Promise<FlushAnswer> {
      const { user_id: userId, session_id: sessionId } = request.body as FlushBody;
      request.sessionId = sessionId ?? null;
      return flushAnswer(await flushUser(memory, request.caller!.account, { userId, sessionId }));
    },

    read(request: FastifyRequest): Promise<ReadAnswer> {
      const { user_id: userId, block } = request.body as ReadBody;
      return readAnswer(memory, request.caller!.account, { userId, block });
    },
  };
}

export async function readAnswer(
  memory: HttpParts["memory"],
  account: string,
  input: { userId: string; block: string },
): Promise<ReadAnswer> {
  const { facts, missing, wrong, repaired, guardLeft } = await readPresentedBlock(memory, account, input);
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
