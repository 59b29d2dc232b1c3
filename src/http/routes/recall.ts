/** GET /context, /decode, /decode/model and /facts: everything that only reads. */

import type { FastifyReply, FastifyRequest } from "fastify";
import { chain } from "../../base/eventual.ts";
import type { DecodeAnswer, DecodeQuery, FactQuery, FactsAnswer, UserQuery } from "../../contract/schemas.ts";
import { type ContextResult, readContext } from "../../memory/context.ts";
import { decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { listFacts } from "../../memory/facts.ts";
import type { HttpParts } from "../parts.ts";
import { whileConnected } from "../while-connected.ts";

export function recallRoutes({ memory }: HttpParts) {
  const decodeModel = whileConnected((request, _, signal): Promise<DecodeAnswer> => {
    const { user_id: userId, label } = request.query as FactQuery;
    return decodeThroughModel(memory, { ...request.caller!, signal }, { userId, label });
  });
  return {
    context: whileConnected(async (request, reply, signal) => {
      const { user_id: userId } = request.query as UserQuery;
      return sendContext(request, reply, await readContext(memory, { ...request.caller!, signal }, userId));
    }),

    decode(request: FastifyRequest, reply: FastifyReply) {
      const { user_id: userId, label, use_model: useModel } = request.query as DecodeQuery;
      if (useModel !== undefined && /^(true|1)$/i.test(useModel)) return decodeModel(request, reply);
      const { account } = request.caller!;
      return chain(decodeFact(memory, account, { userId, label }), (decoded) => reply.send(decoded));
    },

    decodeModel,

    async facts(request: FastifyRequest): Promise<FactsAnswer> {
      const { user_id: userId } = request.query as UserQuery;
      const facts = await listFacts(memory, request.caller!.account, userId);
      return { user_id: userId, channel_count: facts.length, facts };
    },
  };
}

/** The block with its ETag, or 304 where the caller has it already. */
export function sendContext(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag }: ContextResult,
): FastifyReply {
  void reply.header("etag", etag).header("cache-control", "private, no-cache");
  if (matches(request.headers["if-none-match"], etag)) return reply.code(304).send();
  return reply.type("application/json; charset=utf-8").serializer(asIs).send(json);
}

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const candidate = part.trim();
    return candidate === "*" || candidate === etag || candidate === `W/${etag}`;
  });
}

const asIs = (payload: unknown) => payload as string;
