/** Routes: an address, who may call it, what it takes, and its one handler. Handlers of operations are typed by the table. */

import { BODY_BYTES_MAX } from "../../base/limits.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { fieldChecks } from "../../contract/field-checks.ts";
import type { Access, Subject } from "../../contract/operation.ts";
import type { OPERATIONS, OperationId } from "../../contract/operations.ts";
import type { Static, TSchema } from "../../contract/type.ts";
import type { Validator } from "../../contract/validation.ts";
import type { Caller } from "../../memory/authentication.ts";
import type { Operator } from "../../memory/operators.ts";
import type { MemoryServices } from "../../memory/services.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import { type NeededRights, rightsOf } from "./rights.ts";

export interface Route {
  readonly method: string;
  /** With `:name` for a part that varies. */
  readonly path: string;
  /**
   * `page`: anyone. `door`: through the local socket only. `mcp`: with a key, from an allowed origin; `origin`: only that.
   * `preflight`: anyone, and pages of the origins that the operator names see the answer.
   */
  readonly access: Access | "page" | "door" | "mcp" | "origin" | "preflight";
  /** What its caller's key must be for; every operation of the table with a key has it. */
  readonly rights?: NeededRights | undefined;
  readonly query?: Validator | undefined;
  readonly params?: Validator | undefined;
  readonly body?: Validator | undefined;
  /** The headers that are refused: it would write whatever they say. */
  readonly refusedHeaders?: readonly string[] | undefined;
  /** The largest body; a `stream` is the handler's to read. */
  readonly bodyBytesMax: number | "stream";
  /** Its body is a form (URLSearchParams), instead of JSON. */
  readonly isForm?: true;
  readonly handle: (call: Call) => unknown;
}

/** Refuses a call, or lets it pass and notes who it comes from. */
export type AccessCheck = (call: Call) => MaybePromise<void>;
export type AccessChecks = Readonly<Record<Route["access"], AccessCheck>>;

/** What a route is made from; every operation of the table is one. */
interface RouteDefinition {
  readonly method: string;
  readonly path: string;
  readonly access: Route["access"];
  readonly about?: Subject | undefined;
  readonly writes?: boolean | undefined;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly body?: TSchema;
  readonly bodyBytesMax?: Route["bodyBytesMax"];
  readonly published?: true;
  readonly idempotent?: true;
  readonly conditional?: true;
}

type TypeOf<S> = S extends TSchema ? Static<S> : never;
type AnswerOf<O> = O extends { answer: infer S } ? TypeOf<S> : never;

/** A call whose access, query, parameters and body have been checked. */
type CallOf<O extends RouteDefinition> = Omit<
  Call,
  "query" | "params" | "body" | "caller" | "memory" | "operator"
> & {
  readonly query: O extends { query: infer S } ? TypeOf<S> : Call["query"];
  readonly params: O extends { params: infer S } ? TypeOf<S> : Call["params"];
  readonly body: O extends { body: infer S } ? TypeOf<S> : Call["body"];
  readonly caller: O["access"] extends "key" | "mcp" ? Caller : Call["caller"];
  readonly memory: O["access"] extends "key" | "mcp" ? MemoryServices : Call["memory"];
  readonly operator: O["access"] extends "admin" | "door" ? Operator : Call["operator"];
};

/** A handler returns the JSON of its answer, or an Answer with a status, headers or text of its own. */
type Handler<Id extends OperationId> = (
  call: CallOf<(typeof OPERATIONS)[Id]>,
) => Result<AnswerOf<(typeof OPERATIONS)[Id]>>;

type Result<T> = T | Answer<T> | Promise<T | Answer<T>>;

export type Handlers<Id extends OperationId = OperationId> = { readonly [I in Id]: Handler<I> };

export function routeOf<const D extends RouteDefinition>(
  definition: D,
  handle: (call: CallOf<D>) => unknown,
): Route {
  const { method, path, access, bodyBytesMax = BODY_BYTES_MAX } = definition;
  return {
    method,
    path,
    access,
    rights: rightsOf(definition),
    ...fieldChecks(definition),
    refusedHeaders: refusedHeaders(definition),
    bodyBytesMax,
    // The one place where the schemas' types are taken on trust: the validators make them true.
    handle: (call) => handle(call as Call & CallOf<D>),
  };
}

const CONDITIONS = ["If-Match", "If-None-Match"];

/** A write that does not look at a condition would be made where it does not hold, and one that is not replayed would be made twice. */
function refusedHeaders(route: RouteDefinition): string[] {
  const { method, access, writes, published, conditional, idempotent } = route;
  if (writes !== true && (access !== "admin" || method === "GET")) return [];
  const isReplayed = idempotent === true || published === true;
  return [...(conditional ? [] : CONDITIONS), ...(isReplayed ? [] : ["Idempotency-Key"])];
}
