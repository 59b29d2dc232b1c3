/**
 * The plain POST /encode: a body that comes in one piece and holds one fact with nothing to object to. Whatever
 * else comes is put back, and Fastify reads it as if nobody had.
 */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { findChannel } from "../memory/channels.ts";
import { isIdentifier, isValue } from "../memory/identifiers.ts";

export interface PlainFact {
  readonly userId: string;
  readonly label: string;
  readonly value: string;
}

/** What went wrong with an encode that was begun here: the route answers with it instead of trying again. */
const failures = new WeakMap<IncomingMessage, unknown>();

export function failureBefore(request: IncomingMessage): unknown {
  return failures.get(request);
}

/**
 * Reads the body and calls `encode` with its fact. Where it is not plain, or what `encode` does fails, the body is
 * put back and `handOn` is called.
 */
export function readFact(
  request: IncomingMessage,
  lengthBytes: number,
  encode: (fact: PlainFact) => Promise<void>,
  handOn: () => void,
): void {
  request.once("data", (body: Buffer) => {
    request.pause();
    const putBack = () => {
      request.unshift(body);
      handOn();
    };
    const fact = body.length === lengthBytes ? plainFact(body) : undefined;
    if (fact === undefined) return putBack();
    encode(fact).then(
      () => request.resume(),
      (error: unknown) => {
        failures.set(request, error);
        putBack();
      },
    );
  });
}

function plainFact(body: Buffer): PlainFact | undefined {
  if (!isUtf8(body)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  if (typeof fields !== "object" || fields === null) return undefined;
  const { user_id: userId, label, value, session_id: sessionId } = fields as Record<string, unknown>;
  // A session is logged.
  if (typeof userId !== "string" || typeof label !== "string" || typeof value !== "string") return undefined;
  if (sessionId !== undefined || findChannel(label) === undefined) return undefined;
  return isIdentifier(userId) && isValue(value) ? { userId, label, value } : undefined;
}
