/** All routes of the service: the operations of the table, and what is not part of the API. */

import { BODY_BYTES_MAX } from "../../base/limits.ts";
import type { Operation } from "../../contract/operation.ts";
import { OPERATIONS, type OperationId } from "../../contract/operations.ts";
import type { TSchema } from "../../contract/type.ts";
import { compileSchema } from "../../contract/validation.ts";
import type { ConsoleSessions } from "../access/console-session.ts";
import type { RecentErrors } from "../request/recent-errors.ts";
import type { Handlers, Route } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { adminRoutes } from "./admin.ts";
import { blockRoutes } from "./blocks.ts";
import { consoleRoutes } from "./console.ts";
import { ContextAnswers } from "./context-answers.ts";
import { demoRoutes } from "./demo.ts";
import { encodeRoutes } from "./encode.ts";
import { forgetRoutes } from "./forget.ts";
import { mcpRoutes } from "./mcp.ts";
import { operatorRoutes } from "./operator.ts";
import { recallRoutes } from "./recall.ts";
import { serviceRoutes } from "./service.ts";
import { usageRoutes } from "./usage.ts";
import { websiteRoutes } from "./website-files.ts";

export interface RouteOptions {
  readonly services: HttpServices;
  readonly sessions: ConsoleSessions;
  readonly recentErrors: RecentErrors;
  /** Where the built website is; without it there is none. */
  readonly websiteFolder: string | undefined;
}

export function allRoutes({ services, sessions, recentErrors, websiteFolder }: RouteOptions): Route[] {
  const contexts = new ContextAnswers();
  const handlers: Handlers = {
    ...encodeRoutes(services),
    ...recallRoutes(services, contexts),
    ...blockRoutes(services),
    ...forgetRoutes(services),
    ...usageRoutes(services),
    ...demoRoutes(services, contexts),
    ...serviceRoutes(services),
    ...adminRoutes(services, recentErrors),
  };
  return [
    ...(Object.keys(OPERATIONS) as OperationId[]).map((id) => routeOf(OPERATIONS[id], handlers[id])),
    ...consoleRoutes(sessions, services),
    ...operatorRoutes(services),
    ...mcpRoutes(services),
    ...(websiteFolder === undefined ? [] : websiteRoutes(websiteFolder)),
  ];
}

function routeOf(operation: Operation, handler: Handlers[OperationId]): Route {
  const { method, path, access, query, params, body, bodyBytesMax = BODY_BYTES_MAX } = operation;
  const validator = (schema: TSchema | undefined) =>
    schema === undefined ? undefined : compileSchema(schema);
  return {
    method,
    path,
    access,
    query: validator(query),
    params: validator(params),
    body: validator(body),
    bodyBytesMax,
    // The one place where the types of the table are taken on trust: the validators above make them true.
    handle: handler as Route["handle"],
  };
}
