/** What crosses the wire of the audit: who has changed what, by names and never with a value. */

import { Cursor, Limit, Moment, NextCursor } from "./life-schemas.ts";
import { Time } from "./schemas.ts";
import { Type } from "./type.ts";

const Text = Type.Optional(Type.String());
const Person = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { description: "null where the person was erased." }),
);

export const AuditQuery = Type.Object({
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "Entries by or about this user_id, also after the user was erased.",
    }),
  ),
  operation: Type.Optional(Type.String({ maxLength: 64, description: "As entries name it." })),
  since: Type.Optional(Moment),
  until: Type.Optional(Type.String({ description: "Before this moment." })),
  limit: Limit,
  cursor: Cursor,
});
export const AccountAuditQuery = Type.Object({
  account: Type.Optional(Type.String({ description: "Only of this account; `user` needs it." })),
  ...AuditQuery.properties,
});
export const AuditAuthor = Type.Object(
  {
    key_id: Text,
    operator: Type.Optional(Type.String({ description: "The name; to an account only `operator`." })),
    person: Person,
  },
  { description: "`person`: whom the key, the token or the connected application is bound to." },
);
export const AuditSubject = Type.Object(
  {
    user_id: Person,
    members: Type.Optional(Type.Array(Type.String())),
    project: Text,
    label: Text,
    set: Text,
    key_id: Text,
    request_id: Type.Optional(Type.String({ description: "Of a request for a key." })),
    operator: Text,
  },
  { description: "What was changed, by its names." },
);
export const AuditedChange = Type.Object({
  id: Type.String(),
  at: Time,
  operation: Type.String({ description: "As the table of calls names it, such as `forgetUser`." }),
  account: Type.Union([Type.String(), Type.Null()], { description: "null: of no account." }),
  by: AuditAuthor,
  of: AuditSubject,
  erased: Type.Optional(
    Type.Array(Type.String(), { description: "Keyed hashes of persons in it who were erased." }),
  ),
  address: Type.Union([Type.String(), Type.Null()], {
    description:
      "The client's, as the log has it; null: through the local socket, and to an account of an operator.",
  }),
  request_id: Type.String({ description: "As the log and the answer have it." }),
});
export const AuditAnswer = Type.Object({ entries: Type.Array(AuditedChange), next_cursor: NextCursor });
