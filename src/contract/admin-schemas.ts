/** What crosses the wire under /admin, and the request for a key that anyone may make. */

import { KeyAccess } from "./key-schemas.ts";
import { LabelAnswer, LabelSetName, StrictBody } from "./label-schemas.ts";
import { UsersQuery } from "./life-schemas.ts";
import { ProjectAnswer } from "./project-schemas.ts";
import { Groups, Tier, Time, WriteLabels } from "./schemas.ts";
import { literals, type Static, Type } from "./type.ts";

const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", title: "a day as YYYY-MM-DD" });
const OptionalTime = Type.Union([Time, Type.Null()]);
const OptionalMoment = Type.Union([
  Type.String({ description: "RFC 3339, with Z or another zone; or a day, which begins at midnight UTC." }),
  Type.Null(),
]);
const Account = Type.String({ description: "1 to 64 of a-z, 0-9, dot, underscore and hyphen." });
const Line = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export const KeyView = Type.Object({
  id: Type.String(),
  account: Type.String(),
  tier: Tier,
  prefix: Type.String({ description: "The key's first 12 characters." }),
  note: Type.String(),
  user: Type.Union([Type.String(), Type.Null()], {
    description: "The one user whose facts the key is for; null: all users of the account.",
  }),
  access: KeyAccess,
  created_at: Time,
  expires_at: OptionalTime,
  revoked_at: OptionalTime,
  last_used_at: OptionalTime,
  groups: Type.Union([Type.String(), Type.Null()], {
    description: "The groups of labels that the key is for; null: all.",
  }),
  write: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "The labels that the key may write; null: all.",
  }),
});

export const KeysQuery = Type.Object({ account: Type.Optional(Account) });
export const KeysAnswer = Type.Object({ keys: Type.Array(KeyView) });
export const CreateKeyBody = Type.Object({
  account: Account,
  tier: Type.Optional(Tier),
  expires_at: Type.Optional(OptionalMoment),
  note: Type.Optional(Type.String({ maxLength: 200 })),
  user: Type.Optional(
    Type.Union([
      Type.String({ description: "Binds the key to this user_id, with its projects." }),
      Type.Null(),
    ]),
  ),
  access: Type.Optional(KeyAccess),
  groups: Groups,
  write: WriteLabels,
});
export const CreatedKey = Type.Object({
  key: Type.String({ description: "Shown this once." }),
  ...KeyView.properties,
});
export const KeyIdParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
export const ExpireKeyBody = Type.Object({ expires_at: OptionalMoment });

export const ChangeKeyBody = Type.Object({ tier: Tier });

const MonthlyLimit = Type.Union([Type.Integer(), Type.Null()], {
  description: "Encodes a month of all keys together; null: what the tier of each key allows.",
});
export const AccountView = Type.Object({
  account: Type.String(),
  created_at: Time,
  monthly_limit: MonthlyLimit,
});
export const AccountsAnswer = Type.Object({
  accounts: Type.Array(
    Type.Object({
      ...AccountView.properties,
      keys: Type.Integer(),
      used_this_month: Type.Union([Type.Integer(), Type.Null()], {
        description: "Of the limit of the whole account; null where it has none.",
      }),
    }),
  ),
});
export const AccountParams = Type.Object({ account: Account });
export const ChangeAccountBody = Type.Object({
  monthly_limit: MonthlyLimit,
});

export const OperatorView = Type.Object({
  name: Type.String(),
  access: literals(["read", "write"], {
    description: "`read`: looks at everything of the operator's, and changes nothing.",
  }),
  created_at: Time,
});
export const OperatorsAnswer = Type.Object({ operators: Type.Array(OperatorView) });
export const AddOperatorBody = Type.Object({
  name: Type.String({ description: "1 to 64 of a-z, 0-9, dot, underscore and hyphen." }),
  access: Type.Optional(KeyAccess),
});
export const AddedOperator = Type.Object({
  token: Type.String({ description: "Shown this once." }),
  ...OperatorView.properties,
});
export const OperatorParams = Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) });

export const AccountLabelsQuery = Type.Object({ account: Account });
export const AccountUsersQuery = Type.Object({ account: Account, ...UsersQuery.properties });
export const AccountLabelsAnswer = Type.Object({
  labels: Type.Array(LabelAnswer),
  free: Type.Integer({ description: "Labels that the account may still add." }),
  strict: Type.Boolean({ description: "Whether its persons make no labels of their own." }),
});
export const AccountProjectsQuery = AccountLabelsQuery;
export const AccountProjectsAnswer = Type.Object({
  projects: Type.Array(ProjectAnswer, { description: "By name." }),
});
export const ChangeLabelsBody = Type.Object({
  account: Account,
  strict: Type.Optional(StrictBody.properties.strict),
  add_set: Type.Optional(LabelSetName),
});

export const UsageQuery = Type.Object({
  key_id: Type.Optional(Type.String({ maxLength: 64 })),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
});
export const UsageByDayAnswer = Type.Object({
  from: Type.String(),
  to: Type.String(),
  keys: Type.Array(
    Type.Object({
      key_id: Type.String(),
      account: Type.String(),
      tier: Tier,
      limit: Type.Union([Type.Integer(), Type.Null()]),
      used_this_month: Type.Integer(),
      days: Type.Array(Type.Object({ day: Type.String(), count: Type.Integer() })),
    }),
  ),
});

export const KeyRequestBody = Type.Object({
  name: Line(200),
  email: Type.String({ minLength: 3, maxLength: 254, description: "With an @ and a dot behind it." }),
  purpose: Line(2000),
  tier: Type.Optional(Tier),
});
export const KeyRequestReceived = Type.Object({ status: Type.Literal("received") });
export const KeyRequestView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  purpose: Type.String(),
  tier: Tier,
  status: literals(["open", "approved", "declined"]),
  created_at: Time,
  decided_at: OptionalTime,
  key_id: Type.Union([Type.String(), Type.Null()]),
});
export const KeyRequestsAnswer = Type.Object({ requests: Type.Array(KeyRequestView) });
export const ApproveBody = Type.Object({
  account: Type.Optional(
    Type.String({
      description:
        "1 to 64 of a-z, 0-9, dot, underscore and hyphen. Without it, a new account under an unused name, made of the address.",
    }),
  ),
  tier: Type.Optional(Tier),
  expires_at: Type.Optional(OptionalMoment),
  join: Type.Optional(
    Type.Boolean({
      description: "True gives the key access to an account that exists; else the account must be new.",
    }),
  ),
});

export const RecentError = Type.Object({
  at: Time,
  method: Type.String(),
  route: Type.String(),
  status: Type.Integer(),
  code: Type.String(),
  request_id: Type.String(),
});
export const RecentRequest = Type.Object({
  at: Time,
  method: Type.String(),
  route: Type.String(),
  status: Type.Integer(),
  account: Type.String(),
  key_id: Type.String(),
  request_id: Type.String(),
});
export const AdminStatusAnswer = Type.Object({
  version: Type.String(),
  process_id: Type.Integer(),
  started_at: Time,
  ready: Type.Boolean(),
  store: Type.Object({ facts: Type.Integer(), users: Type.Integer(), size_bytes: Type.Integer() }),
  demo: Type.Union([
    Type.Object({ labels: Type.Array(Type.String()), resets_in_s: Type.Integer() }),
    Type.Null(),
  ]),
  recent_errors: Type.Array(RecentError, {
    description: "Of this process since it started, the newest first.",
  }),
  recent_requests: Type.Array(RecentRequest, {
    description: "With a key, to this process: at most 100, the newest first.",
  }),
});

export type KeyView = Static<typeof KeyView>;
export type CreateKeyBody = Static<typeof CreateKeyBody>;
export type CreatedKey = Static<typeof CreatedKey>;
export type KeyRequestView = Static<typeof KeyRequestView>;
export type ChangeLabelsBody = Static<typeof ChangeLabelsBody>;
export type ApproveBody = Static<typeof ApproveBody>;
export type RecentRequest = Static<typeof RecentRequest>;
export type RecentError = Static<typeof RecentError>;
export type AdminStatusAnswer = Static<typeof AdminStatusAnswer>;

export const HealthAnswer = Type.Object({ status: Type.String() });
export const ReadyAnswer = Type.Object({
  status: Type.String(),
  note: Type.Optional(Type.String({ description: "What the operator should see to." })),
  database: Type.Optional(
    Type.Object(
      { server: Type.String(), timeline: Type.Integer() },
      { description: "The PostgreSQL server that takes the writes, and its timeline." },
    ),
  ),
});
