/** What crosses the wire where a user is erased: the call, and its receipt. */

import * as wire from "./schemas.ts";
import { requiring, Type } from "./type.ts";

export const ForgetUserQuery = Type.Object({
  user_id: wire.UserId,
  project: wire.Project,
  details: Type.Optional(
    Type.String({ ...wire.FLAG, description: "`true` answers with a signed receipt of what was erased." }),
  ),
});
export const Receipt = Type.Object({
  account: Type.String(),
  user_id: Type.String(),
  project: Type.Union([Type.String(), Type.Null()], { description: "null: all that was kept of the user." }),
  facts: Type.Integer({ description: "Facts that had not ended." }),
  earlier: Type.Integer({ description: "Earlier values of facts." }),
  labels: Type.Integer({ description: "Labels, at each place, that had a fact or earlier values." }),
  places: Type.Integer(),
  connections: Type.Integer({
    description: "Applications that the user had connected: their tokens count no more. 0 for a project.",
  }),
  keys_left: Type.Integer({
    description:
      "Keys that are bound to the user, and go on until they are revoked: whoever has one can write for the user again. 0 for a project.",
  }),
  erased_at: wire.Time,
  tokens_until: Type.String({
    description: "Tokens are kept nowhere. One that was made before counts until then at the latest.",
  }),
  backups_until: Type.Union([wire.Time, Type.Null()], {
    description:
      "When the last backup that the service made before is removed; null where it makes none itself.",
  }),
  key: Type.Integer({ description: "The master key that it is signed with." }),
  signature: Type.String({ description: "`sideband verify-receipt` checks it." }),
});
export const LeftInProject = Type.Object({
  project: Type.String(),
  values: Type.Integer({ description: "Facts and earlier values that the user had written." }),
  why: Type.String(),
});
export const ErasureAnswer = Type.Object({
  status: wire.Ok,
  receipt: Type.Optional(Receipt),
  left: Type.Optional(
    Type.Array(LeftInProject, {
      description:
        "Only with `details`, where there is any: what stays in shared projects, without the user's name.",
    }),
  ),
});
export const ReceiptedErasureAnswer = requiring(ErasureAnswer, "receipt");
