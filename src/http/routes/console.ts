/** POST, GET and DELETE /console/session: sign in, ask, sign out. They are the website's own, not part of the API. */

import { Type } from "../../contract/type.ts";
import { hashOfToken } from "../../memory/operators.ts";
import { operatorWithToken } from "../access/access.ts";
import {
  type ConsoleSessions,
  cookieText,
  requireSameOrigin,
  SESSION_MS,
} from "../access/console-session.ts";
import { Answer } from "../request/answer.ts";
import { type Route, routeOf } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

const NOT_STORED = ["cache-control", "no-store"];
const SESSION = { path: "/console/session", access: "page" } as const;
const SignInBody = Type.Object({ token: Type.String() });

export function consoleRoutes(sessions: ConsoleSessions, services: HttpServices): Route[] {
  return [
    routeOf({ ...SESSION, method: "POST", body: SignInBody }, async (call) => {
      requireSameOrigin(call);
      const { token } = call.body;
      const operator = await operatorWithToken(token, call, services);
      const { session, pageSecret, expiresAtMs } = sessions.open(hashOfToken(token));
      const cookie = `${cookieText(call, session)}; Max-Age=${Math.floor(SESSION_MS / 1000)}`;
      return Answer.json(
        { expires_at: new Date(expiresAtMs).toISOString(), page_secret: pageSecret, operator: operator.name },
        { headers: [...NOT_STORED, "set-cookie", cookie] },
      );
    }),
    routeOf({ ...SESSION, method: "GET" }, async (call) => {
      const session = await sessions.sessionOf(call.request.headers);
      const { name, access } = session?.operator ?? { name: null, access: null };
      const expiresAt = session === undefined ? null : new Date(session.expiresAtMs).toISOString();
      return Answer.json({ expires_at: expiresAt, operator: name, access }, { headers: NOT_STORED });
    }),
    routeOf({ ...SESSION, method: "DELETE" }, (call) => {
      requireSameOrigin(call);
      sessions.end(call.request.headers);
      const cookie = `${cookieText(call, "")}; Max-Age=0`;
      return new Answer(undefined, { status: 204, headers: ["set-cookie", cookie] });
    }),
  ];
}
