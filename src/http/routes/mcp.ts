/** /mcp: the Model Context Protocol over streamable HTTP, under the same keys. The protocol itself is handed in. */

import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { HISTORY, MEMORY_TOOLS } from "../../agent-side/memory-tools.ts";
import { invalidRequest } from "../../base/errors.ts";
import { groupsOf } from "../../base/groups.ts";
import { BODY_BYTES_MAX } from "../../base/limits.ts";
import { enforce } from "../../base/rate-limiter.ts";
import { fieldChecks } from "../../contract/field-checks.ts";
import { Type } from "../../contract/type.ts";
import { checkIdentifier } from "../../memory/identifiers.ts";
import { placesOf } from "../../memory/places.ts";
import { allowedUser, requireWriteAccess } from "../../memory/rights.ts";
import { Answer } from "../request/answer.ts";
import { sourceOf } from "../request/audited.ts";
import type { Call } from "../request/call.ts";
import { failureOf } from "../request/problem.ts";
import type { Route } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

const METHODS = ["GET", "POST", "DELETE"];
const Text = Type.Optional(Type.String());
/** What they may be is checked where they are used. */
const McpQuery = Type.Object({
  user_id: Text,
  project: Text,
  groups: Text,
  add_label: Text,
  include: Text,
});

export function mcpRoutes({ mcp, limits, door, log, audit }: HttpServices): Route[] {
  const handle = async (call: Call) => {
    const userId = allowedUser(call.caller!, call.query?.user_id);
    if (userId !== undefined) checkIdentifier(userId, "user_id");
    if (call.caller?.token?.grantId !== undefined && writesIn(call.body)) requireWriteAccess(call.caller);
    const project = call.query?.project;
    placesOf(project);
    const groups = call.query?.groups;
    groupsOf(groups);
    // The first was counted with the request.
    const more = Array.isArray(call.body) ? call.body.length - 1 : 0;
    if (limits.key !== undefined && more > 0 && !door.admits(call.request))
      enforce(limits.key, call.caller!.keyId, more);
    const ended = new AbortController();
    if (call.isGone) ended.abort();
    else call.end.once("close", () => ended.abort());
    const response = await mcp.answer({
      caller: call.caller!,
      userId,
      addLabel: addLabelIn(call.query?.add_label),
      project,
      groups,
      include: includeIn(call.query?.include),
      request: { method: call.method, url: call.request.url ?? "/mcp", headers: headersOf(call) },
      body: call.body,
      ended: ended.signal,
      failureOf: (error) => failureOf(error, call, log),
      audit: (operation, of) =>
        audit.note(operation, sourceOf(call), { account: call.caller!.account, ...of }),
    });
    const body = response.body === null ? undefined : Readable.fromWeb(response.body as ReadableStream);
    // Whether the connection is kept is not the protocol's to say.
    response.headers.delete("connection");
    return new Answer(body, { status: response.status, headers: [...response.headers].flat() });
  };
  return METHODS.map((method) => ({
    method,
    path: "/mcp",
    access: "mcp",
    query: fieldChecks({ method, access: "mcp", query: McpQuery }).query,
    bodyBytesMax: BODY_BYTES_MAX,
    handle,
  }));
}

/** Whether a client calls a tool that writes: one that may only read is told so as OAuth says, and can ask for more. */
function writesIn(body: unknown): boolean {
  const messages = Array.isArray(body) ? body : [body];
  return messages.some((message: { method?: unknown; params?: { name?: unknown } } | null | undefined) => {
    const tool = MEMORY_TOOLS.find(({ name }) => name === message?.params?.name);
    return (
      message?.method === "tools/call" &&
      tool !== undefined &&
      !tool.annotations.readOnlyHint &&
      tool.name !== HISTORY
    );
  });
}

/** Nothing in a host reads the block, so it is there only where it is asked for. */
function includeIn(text = "index"): "index" | "block" | "both" {
  if (text === "index" || text === "block" || text === "both") return text;
  throw invalidRequest("include", "include must be index, block or both.");
}

/** Undefined where it is not asked for. */
function addLabelIn(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw invalidRequest("add_label", "add_label must be true or false.");
}

/** The key has been checked already and goes no further. */
function headersOf({ request }: Call): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string" && name !== "authorization") headers.set(name, value);
  }
  return headers;
}
