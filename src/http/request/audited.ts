/**
 * What of a request goes into the audit: who it comes from, and the names in it that say what it is about. The names are
 * taken from the fields that are listed here and from nothing else, so no value can come along.
 */

import type { Operation } from "../../contract/operation.ts";
import { OPERATIONS, type OperationId } from "../../contract/operations.ts";
import { type Audit, type AuditSource, auditedMemory } from "../../memory/audit.ts";
import type { AuditedNames, AuditNote } from "../../memory/records.ts";
import type { Call } from "./call.ts";
import { isTrue } from "./preferences.ts";
import type { Route } from "./route.ts";

/** A route whose changes the audit gets, if its operation says so. */
export function audited(id: OperationId, route: Route, audit: Audit): Route {
  const { audited }: Operation = OPERATIONS[id];
  if (!audited) return route;
  return {
    ...route,
    handle(call) {
      // What keeps its history is not erased.
      if (id === "forgetFact" && isTrue(call.query?.keep_history)) return route.handle(call);
      call.audit = noteOf(call, id, audit);
      call.memory &&= auditedMemory(call.memory, call.audit);
      return route.handle(call);
    },
  };
}

export function noteOf(call: Pick<Call, keyof Call>, operation: string, audit: Audit): AuditNote {
  const names = namesIn(call);
  const isErasing = operation === "forgetUser" && names.project === undefined;
  return audit.note(operation, sourceOf(call), names, isErasing ? names.user : undefined);
}

/** Whoever comes through the door of the data folder has no key. */
export function sourceOf({
  caller,
  operator,
  client,
  id,
}: Pick<Call, "caller" | "operator" | "client" | "id">): AuditSource {
  const isOwner = caller?.tier === "owner";
  return {
    keyId: isOwner ? undefined : caller?.keyId,
    operator: isOwner ? "owner" : operator?.name,
    person: caller?.user,
    address: client.address,
    requestId: id,
  };
}

function namesIn(
  call: Pick<Call, "caller" | "params" | "query" | "body" | "routePath">,
): AuditedNames & { account?: string } {
  const body = (call.body ?? {}) as Record<string, unknown>;
  const { take } = body as { take?: { user_id?: unknown } };
  const sent: Record<string, unknown> = { ...call.query, ...body, ...call.params };
  const isOfOperator = call.routePath.startsWith("/admin/operators");
  const isOfRequest = call.routePath.startsWith("/admin/key-requests");
  const isOfKey = call.routePath.startsWith("/admin/keys/");
  const members = Array.isArray(sent.members) ? sent.members.filter(isText) : undefined;
  return given({
    account: call.caller?.account ?? sent.account,
    user: sent.user_id ?? sent.user ?? take?.user_id ?? sent.give_to,
    members,
    project: sent.project,
    label: sent.label,
    set: sent.set ?? sent.add_set,
    keyId: isOfKey ? sent.id : undefined,
    requestId: isOfRequest ? sent.id : undefined,
    operator: isOfOperator ? sent.name : undefined,
  });
}

/** The texts among them, and lists of texts. */
function given(names: Record<string, unknown>): AuditedNames & { account?: string } {
  return Object.fromEntries(Object.entries(names).filter(([, name]) => isText(name) || Array.isArray(name)));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
