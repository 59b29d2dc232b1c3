/** POST, GET and DELETE /console/session: sign in, ask, sign out. They are the website's own, not part of the API. */

import { Failure } from "../../base/errors.ts";
import { BODY_BYTES_MAX } from "../../base/limits.ts";
import { assertSameOrigin, type ConsoleSessions, cookieText, SESSION_MS } from "../access/console-session.ts";
import { enforce } from "../access/rate-limiter.ts";
import { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { Route } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

const NOT_STORED = ["cache-control", "no-store"];

export function consoleRoutes(sessions: ConsoleSessions, { limits }: HttpServices): Route[] {
  const route = (method: string, handle: (call: Call) => Answer): Route => ({
    method,
    path: "/console/session",
    access: "page",
    bodyBytesMax: BODY_BYTES_MAX,
    handle,
  });
  return [
    route("POST", (call) => {
      assertSameOrigin(call);
      const token = (call.body as { token?: unknown } | null | undefined)?.token;
      if (typeof token !== "string")
        throw new Failure("invalid_request", "token is required.", { param: "token" });
      if (!sessions.isAdminToken(token)) {
        enforce(limits.adminFailures, call.client.address);
        throw new Failure("invalid_key", "This admin token is not valid.");
      }
      const { session, expiresAtMs } = sessions.open();
      const cookie = `${cookieText(call, session)}; Max-Age=${Math.floor(SESSION_MS / 1000)}`;
      return Answer.json(
        { expires_at: new Date(expiresAtMs).toISOString() },
        { headers: [...NOT_STORED, "set-cookie", cookie] },
      );
    }),
    route("GET", (call) => {
      const expiresAtMs = sessions.expiryOf(call.header("cookie"));
      const expiresAt = expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString();
      return Answer.json({ expires_at: expiresAt }, { headers: NOT_STORED });
    }),
    route("DELETE", (call) => {
      assertSameOrigin(call);
      const cookie = `${cookieText(call, "")}; Max-Age=0`;
      return new Answer(undefined, { status: 204, headers: ["set-cookie", cookie] });
    }),
  ];
}
