/** One request on its way through the service: what was sent, who sent it, and what its answer needs. */

import type { ServerResponse } from "node:http";
import type { Requester } from "../../base/accounts.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Caller } from "../../memory/authentication.ts";
import type { Operator } from "../../memory/operators.ts";
import type { AuditNote } from "../../memory/records.ts";
import type { MemoryServices } from "../../memory/services.ts";
import type { HttpRequest } from "../services.ts";
import type { ByteBudget, ByteReservation } from "./byte-budget.ts";
import { type Client, type ClientReader, limitGroupOf } from "./client.ts";
import type { UrlQuery } from "./query.ts";

/** Where the answer goes, as far as a call knows it: whether it was sent, and when its reader has taken it or gone. */
export interface CallEnd extends Pick<ServerResponse, "destroyed" | "writableEnded"> {
  once(event: "close", listener: () => void): unknown;
}

const NO_PARAMS = {};
const NO_HEADERS: readonly string[] = [];

export class Call {
  readonly id: string;
  readonly startedMs = performance.now();
  readonly request: HttpRequest;
  readonly end: CallEnd;
  /** The path of its route, for metrics and the log. */
  routePath = "unknown";
  query: UrlQuery | undefined;
  params: Readonly<Record<string, string>> = NO_PARAMS;
  body: unknown;
  /** What its body holds, until the answer is sent. */
  bodyHolding: ByteReservation | undefined;
  /** Who pays for what the call holds, where it has no caller. */
  access = "unknown";
  /** Set on routes that need a key, once it is known. */
  caller: Caller | undefined;
  /** Set on the operator's routes, once it is known who it is. */
  operator: Operator | undefined;
  /** What its caller sees of the memory, with the caller. */
  memory: MemoryServices | undefined;
  /** Set where what the call changes is for the audit. */
  audit: AuditNote | undefined;
  /** Encodes of the caller's key in this month when its key was checked, for the quota headers. */
  used = 0;
  /** Why it is refused, or has failed. */
  failure: Refusal | undefined;
  /** Logged with the request. */
  sessionId: string | undefined;
  /** Headers that every answer of this call gets: names and values in turn. */
  headers: readonly string[] = NO_HEADERS;
  /** Whether the rest of its body is not waited for: its connection ends with the answer. */
  leavesBody = false;
  readonly #clientOf: ClientReader;
  #controller: AbortController | undefined;
  #client: Client | undefined;
  #answerHolding: ByteReservation | undefined;

  constructor(request: HttpRequest, end: CallEnd, id: string, clientOf: ClientReader) {
    this.request = request;
    this.end = end;
    this.id = id;
    this.#clientOf = clientOf;
  }

  get method(): string {
    return this.request.method ?? "";
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** Who sent it, by what the trusted proxies say. */
  get client(): Client {
    this.#client ??= this.#clientOf(this.request);
    return this.#client;
  }

  /** What the call holds of a budget counts for its account and its address. */
  holdingOf(budget: ByteBudget): ByteReservation {
    // Callers without an account share one name for each kind of route; no account has such a name.
    return budget.holdingFor(this.caller?.account ?? `:${this.access}`, limitGroupOf(this.client));
  }

  /**
   * Counts what there is of the answer that its reader has not taken, in place of what was counted before, until the
   * connection has sent or lost it. Fails where it does not fit. What is larger than a share takes all of it.
   */
  holdAnswer(budget: ByteBudget, bytes: number): void {
    if (this.isGone) return;
    if (this.#answerHolding === undefined) {
      const holding = this.holdingOf(budget);
      this.#answerHolding = holding;
      this.end.once("close", () => holding.giveBack());
    }
    this.#answerHolding.hold(Math.min(bytes, budget.largestBytes));
  }

  /** Whether nobody is there to be answered. */
  get isGone(): boolean {
    return this.end.destroyed || this.request.socket.destroyed;
  }

  /** Fires when the sender hangs up before the answer is sent. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      const hungUp = () => {
        if (!this.end.writableEnded) controller.abort(new Error("the caller has hung up"));
      };
      if (this.isGone) hungUp();
      else this.end.once("close", hungUp);
    }
    return this.#controller.signal;
  }
}

/**
 * The requester for block work: a caller, or the demo. The work ends when the sender of the call hangs up, whose signal
 * is asked for only when there is work to do. Not a literal with a getter: each of those has a shape of its own, which
 * keeps the request until a full garbage collection.
 */
class CallRequester implements Requester {
  readonly account: string;
  readonly tier: Requester["tier"];
  readonly #call: Pick<Call, "signal">;

  constructor(call: Pick<Call, "signal">, { account, tier }: Pick<Requester, "account" | "tier">) {
    this.account = account;
    this.tier = tier;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

export function requesterOf(call: Pick<Call, "signal">, who: Pick<Requester, "account" | "tier">): Requester {
  return new CallRequester(call, who);
}
