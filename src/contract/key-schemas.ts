/** Keys, tokens, and what they have used, as they cross the wire. */

import { TOKEN_TTL_S_MAX, TOKEN_TTL_S_MIN, withThousands } from "../base/limits.ts";
import { Groups, Tier, Time, UserId, WriteLabels } from "./schemas.ts";
import { literals, Type } from "./type.ts";

export const KeyAccess = literals(["read", "write"]);
export const TokenBody = Type.Object({
  user_id: UserId,
  access: KeyAccess,
  ttl_s: Type.Integer({
    description: `Seconds that it counts, ${TOKEN_TTL_S_MIN} to ${withThousands(TOKEN_TTL_S_MAX)}.`,
  }),
  groups: Groups,
  write: WriteLabels,
});
export const TokenAnswer = Type.Object({
  token: Type.String({ description: "`sbt_…`; sent as a key is." }),
  expires_at: Type.String({ description: "RFC 3339, UTC; not after the key's own end." }),
});

export const UsageAnswer = Type.Object({
  account: Type.String(),
  tier: Type.Union([...Tier.anyOf, Type.Literal("owner")], {
    description: "`owner`: through the local socket of a data folder, which has no limit.",
  }),
  limit: Type.Union([Type.Integer(), Type.Null()], { description: "Encodes a month; null: no limit." }),
  used: Type.Integer(),
  remaining: Type.Union([Type.Integer(), Type.Null()]),
  resets_at: Time,
  user: Type.Optional(
    Type.String({ description: "Whose facts the key is for, where it is bound to one user." }),
  ),
  access: Type.Optional(Type.Literal("read", { description: "Where the key only reads." })),
  groups: Type.Optional(
    Type.String({ description: "The groups of labels that the key is for, where it is not for all." }),
  ),
  write: Type.Optional(
    Type.Array(Type.String(), {
      description: "The labels that the key may write, where it may not write all.",
    }),
  ),
});
const Day = Type.String({ description: "YYYY-MM-DD, UTC." });
export const DayCount = Type.Object({ day: Day, count: Type.Integer() });
export const UsageDaysAnswer = Type.Object({ from: Day, to: Day, days: Type.Array(DayCount) });
