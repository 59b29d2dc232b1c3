/**
 * Handlers of block work that end with their caller's connection: whoever hangs up before the answer is sent leaves
 * nothing to be done.
 */

import type { FastifyReply, FastifyRequest } from "fastify";

type Handler<T> = (request: FastifyRequest, reply: FastifyReply, signal: AbortSignal) => T | Promise<T>;

export function whileConnected<T>(handler: Handler<T>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<T | FastifyReply> => {
    const controller = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableEnded) controller.abort(new Error("the caller has hung up"));
    });
    try {
      return await handler(request, reply, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
      // Nobody is there to be answered.
      return reply.hijack();
    }
  };
}
