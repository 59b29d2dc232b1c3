/** POST /encode and /encode/batch. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../base/errors.ts";
import type { BatchAnswer, BatchBody, EncodeAnswer, EncodeBody } from "../../contract/schemas.ts";
import { type EncodeInput, type EncodeResult, encodeFacts } from "../../memory/encode.ts";
import type { HttpParts } from "../parts.ts";
import { failureBefore } from "../quick-encode.ts";
import { setQuotaHeaders } from "../quota-headers.ts";

export function encodeRoutes(parts: HttpParts) {
  const run = async (
    request: FastifyRequest,
    reply: FastifyReply,
    input: EncodeInput,
  ): Promise<EncodeResult> => {
    const caller = request.caller!;
    request.sessionId = input.sessionId ?? null;
    const result = await encodeOnce(parts, request, input).catch((error) => {
      // Others may have used the rest since the request began.
      if (error instanceof Failure && error.extra.used !== undefined) {
        setQuotaHeaders(reply, caller.limit, error.extra.used, parts.clock.now());
      }
      throw error;
    });
    setQuotaHeaders(reply, caller.limit, result.used, parts.clock.now());
    if (result.replayed) void reply.header("idempotency-replayed", "true");
    return result;
  };

  return {
    async encode(request: FastifyRequest, reply: FastifyReply): Promise<EncodeAnswer> {
      const { user_id: userId, label, value, session_id: sessionId } = request.body as EncodeBody;
      const result = await run(request, reply, {
        operation: "encode",
        userId,
        facts: [{ label, value }],
        sessionId,
        idempotencyKey: idempotencyKeyOf(request),
      });
      return { status: "ok", ...result.facts[0], channel_count: result.channelCount };
    },

    async encodeBatch(request: FastifyRequest, reply: FastifyReply): Promise<BatchAnswer> {
      const { user_id: userId, facts, session_id: sessionId } = request.body as BatchBody;
      const result = await run(request, reply, {
        operation: "encode/batch",
        userId,
        facts,
        sessionId,
        idempotencyKey: idempotencyKeyOf(request),
      });
      return { status: "ok", channel_count: result.channelCount, facts: [...result.facts] };
    },
  };
}

/** A quick encode that has failed comes here for its answer: it is not tried again. */
async function encodeOnce(
  { memory }: HttpParts,
  request: FastifyRequest,
  input: EncodeInput,
): Promise<EncodeResult> {
  const failure = failureBefore(request.raw);
  if (failure !== undefined) throw failure;
  return encodeFacts(memory, request.caller!, input);
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.headers["idempotency-key"];
  return Array.isArray(header) ? header.join(", ") : header;
}
