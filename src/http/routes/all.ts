/** All routes of the service: the operations of the table, and what is not part of the API. */

import { OPERATIONS, type OperationId } from "../../contract/operations.ts";
import type { ConsoleSessions } from "../access/console-session.ts";
import { audited } from "../request/audited.ts";
import type { ByteBudget } from "../request/byte-budget.ts";
import type { CallHistory } from "../request/recent-calls.ts";
import { type Handlers, type Route, routeOf } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { accountRoutes } from "./account.ts";
import { adminRoutes } from "./admin.ts";
import { auditRoutes } from "./audit.ts";
import { consoleRoutes } from "./console.ts";
import { demoRoutes } from "./demo.ts";
import { eventRoutes } from "./events.ts";
import { factRoutes } from "./facts.ts";
import { mcpRoutes } from "./mcp.ts";
import { oauthRoutes } from "./oauth.ts";
import { operatorRoutes } from "./operator.ts";
import { projectRoutes } from "./projects.ts";
import { Readiness, serviceRoutes } from "./public.ts";
import { ContextAnswers, recallRoutes } from "./recall.ts";
import { userRoutes } from "./users.ts";

interface RouteOptions {
  readonly services: HttpServices;
  readonly sessions: ConsoleSessions;
  readonly recent: CallHistory;
  /** What of the answers was not yet read. */
  readonly answers: ByteBudget;
  /** The routes of the website; none where it was not built. */
  readonly pages: readonly Route[];
}

export function allRoutes({ services, sessions, recent, answers, pages }: RouteOptions): Route[] {
  const contexts = new ContextAnswers(services.memory.tokenCounts);
  const readiness = new Readiness(services);
  const handlers: Handlers = {
    ...factRoutes(),
    ...recallRoutes(contexts, answers),
    ...userRoutes(answers, services.receipts),
    ...eventRoutes(services, answers),
    ...projectRoutes(),
    ...accountRoutes(services),
    ...demoRoutes(services, contexts),
    ...serviceRoutes(services, readiness),
    ...adminRoutes(services, readiness, recent),
    ...auditRoutes(services),
  };
  const operationRoute = <Id extends OperationId>(id: Id) =>
    audited(id, routeOf(OPERATIONS[id], handlers[id]), services.audit);
  return [
    ...(Object.keys(OPERATIONS) as OperationId[]).map(operationRoute),
    ...consoleRoutes(sessions, services),
    ...operatorRoutes(services),
    ...mcpRoutes(services),
    ...oauthRoutes(services.oauth),
    ...pages,
  ];
}
