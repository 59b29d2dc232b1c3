/** The applications that a person has allowed to use their memory (OAuth), where the service lets any connect. */

import { SidebandError } from "../../sdk/errors.ts";
import { send } from "./request.ts";

export interface GrantView {
  readonly id: string;
  readonly application: string;
  readonly returns_to: string;
  readonly access: "read" | "write";
  readonly groups: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

export interface GrantCalls {
  /** Undefined where no application can connect. */
  list(userId: string): Promise<readonly GrantView[] | undefined>;
  end(userId: string, id: string): Promise<void>;
}

export function grantCalls(key: string): GrantCalls {
  const headers = { authorization: `Bearer ${key}` };
  return {
    async list(userId) {
      try {
        const query = { user_id: userId };
        const { data } = await send<{ grants: GrantView[] }>({
          method: "GET",
          path: "/grants",
          query,
          headers,
        });
        return data.grants;
      } catch (error) {
        if (error instanceof SidebandError && error.status === 404) return undefined;
        throw error;
      }
    },
    async end(userId, id) {
      const query = { user_id: userId };
      await send({ method: "DELETE", path: `/grants/${encodeURIComponent(id)}`, query, headers });
    },
  };
}
