/**
 * What a bound key, a reading key or a token may call: the one place for every operation of the table, before what was
 * sent is checked. A user_id that a bound key leaves out is filled in here, and the groups that a request names are taken
 * from what its caller sees, so that no handler needs to know.
 */

import { assert } from "../../base/assert.ts";
import { groupsOf } from "../../base/groups.ts";
import type { Subject } from "../../contract/operation.ts";
import type { TSchema } from "../../contract/type.ts";
import { seenBy } from "../../memory/group-view.ts";
import {
  allowedUser,
  requireAllGroups,
  requireAllLabels,
  requireWholeAccount,
  requireWriteAccess,
} from "../../memory/rights.ts";
import type { Call } from "./call.ts";

export interface NeededRights {
  readonly about: Subject;
  readonly writes: boolean;
  /** Where the user is named, if the operation is about one. */
  readonly userIn: "query" | "body" | undefined;
  /** Whether the query may name groups of labels. */
  readonly takesGroups?: boolean;
}

interface RequestTerms {
  readonly about?: Subject | undefined;
  readonly writes?: boolean | undefined;
  readonly query?: TSchema;
  readonly body?: TSchema;
}

/** The rights that an operation needs; undefined where it needs no key. */
export function rightsOf({ about, writes, query, body }: RequestTerms): NeededRights | undefined {
  if (about === undefined || writes === undefined) return undefined;
  const groups = hasField(query, "groups") ? { takesGroups: true } : {};
  if (about !== "user") return { about, writes, userIn: undefined, ...groups };
  const [inQuery, inBody] = [hasField(query, "user_id"), hasField(body, "user_id")];
  assert(inQuery !== inBody, "an operation about a user names it in its query or in its body");
  return { about, writes, userIn: inQuery ? "query" : "body", ...groups };
}

/** Refuses what the caller's key is not for. */
export function requireRights(call: Call, { about, writes, userIn, takesGroups }: NeededRights): void {
  const { caller, memory, query } = call;
  assert(caller !== undefined, "an operation with rights has a caller");
  if (writes) requireWriteAccess(caller);
  if (writes && about === "account") {
    requireAllGroups(caller);
    requireAllLabels(caller);
  }
  if (takesGroups) call.memory = seenBy(memory!, groupsOf(query!.groups));
  if (caller.user === null) return;
  if (about === "account") requireWholeAccount(caller);
  if (userIn === "query") query!.user_id = allowedUser(caller, query!.user_id);
  if (userIn === "body" && isObject(call.body))
    call.body = { ...call.body, user_id: allowedUser(caller, call.body.user_id) };
}

function hasField(schema: TSchema | undefined, name: string): boolean {
  const { properties = {} } = (schema ?? {}) as { properties?: object };
  return name in properties;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
