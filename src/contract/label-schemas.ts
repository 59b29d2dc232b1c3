/** Labels as they cross the wire: the standard ones, those of an account, and the sets that it can add. */

import { LABEL_SET_NAMES } from "../base/label-sets.ts";
import { ChannelNumber, Ok, ScopeName, Time, WrittenBy } from "./schemas.ts";
import { literals, requiring, Type } from "./type.ts";

export const ListedLabel = Type.Object({
  channel: ChannelNumber,
  label: Type.String(),
  description: Type.String(),
  example: Type.String(),
  own: Type.Optional(Type.Boolean({ description: "With a key: a label of the account's own." })),
  scope: Type.Optional(ScopeName),
  hidden: Type.Optional(Type.Boolean()),
  one_of: Type.Optional(Type.Array(Type.String())),
  max_bytes: Type.Optional(Type.Integer()),
  ttl_s: Type.Optional(Type.Integer()),
  writers: Type.Optional(
    Type.Literal("account", { description: "Only the account's own key, bound to no user, writes it." }),
  ),
  read_only: Type.Optional(Type.Literal(true, { description: "With a key that may not write it." })),
  // Of an own label, for a key of the whole account.
  created_at: Type.Optional(Time),
  created_by: Type.Optional(Type.String({ description: "The `written_by` of the call that added it." })),
  created_key: Type.Optional(
    Type.String({ description: "The first 12 characters of the key that added it." }),
  ),
});
export const LabelAnswer = requiring(ListedLabel, "own", "scope", "hidden");
export const StrictBody = Type.Object({
  strict: Type.Boolean({ description: "Only standard labels and the account's own can be written." }),
});
export const StrictAnswer = Type.Object({ status: Ok, strict: Type.Boolean() });
export const LabelSetName = literals(LABEL_SET_NAMES);
export const LabelSetBody = Type.Object({ set: LabelSetName, written_by: WrittenBy });
export const LabelSetAnswer = Type.Object({
  set: LabelSetName,
  added: Type.Array(LabelAnswer, { description: "Those that the account did not have." }),
});
export const SetLabel = Type.Object({
  label: Type.String(),
  description: Type.String(),
  example: Type.String(),
  scope: ScopeName,
});
export const LabelSet = Type.Object({ set: LabelSetName, labels: Type.Array(SetLabel) });
export const LabelSetsAnswer = Type.Object({ sets: Type.Array(LabelSet) });
export const ChannelsAnswer = Type.Object({
  channels: Type.Array(ListedLabel),
  strict: Type.Optional(Type.Boolean({ description: "With a key of an account where nobody makes labels." })),
  write: Type.Optional(
    Type.Array(Type.String(), {
      description: "With a key or token that may write some labels: those, and groups of them (`LANG.*`).",
    }),
  ),
  free: Type.Optional(
    Type.Integer({
      description:
        "With a key: labels that it may still add; 0 for one that only reads, or is for one user or some groups.",
    }),
  ),
});
