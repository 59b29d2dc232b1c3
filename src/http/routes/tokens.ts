/** POST /tokens: short-lived tokens for pages and devices. */

import { Failure } from "../../base/errors.ts";
import { TOKEN_TTL_S_MAX, TOKEN_TTL_S_MIN } from "../../base/limits.ts";
import { Answer } from "../request/answer.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

export function tokenRoutes({ authentication }: HttpServices): Handlers<"createToken"> {
  return {
    createToken(call) {
      const { user_id: user, access, ttl_s: ttlS } = call.body;
      if (ttlS < TOKEN_TTL_S_MIN || ttlS > TOKEN_TTL_S_MAX)
        throw new Failure("invalid_request", `ttl_s must be from ${TOKEN_TTL_S_MIN} to ${TOKEN_TTL_S_MAX}.`, {
          param: "ttl_s",
        });
      const { token, expiresAtMs } = authentication.newToken(call.caller, { user, access, ttlS });
      const answer = { token, expires_at: new Date(expiresAtMs).toISOString() };
      return Answer.json(answer, { headers: ["cache-control", "no-store"] });
    },
  };
}
