/** What crosses the wire for shared projects: what a team knows together. */

import { PROJECT_MEMBERS_MAX, PROJECT_SEGMENT_LENGTH_MAX, withThousands } from "../base/limits.ts";
import * as wire from "./schemas.ts";
import { literals, Type } from "./type.ts";

export const ProjectParams = Type.Object({
  project: Type.String({ minLength: 1, maxLength: PROJECT_SEGMENT_LENGTH_MAX }),
});
const Access = literals(["read", "write"], {
  description:
    "What its members may do with what they share; who calls may always write, by the rights of its key.",
});
const Members = Type.Union([Type.Array(Type.String()), Type.Null()], {
  description: `The user_ids that share it, at most ${withThousands(PROJECT_MEMBERS_MAX)}; null: all of the account.`,
});
export const ShareBody = Type.Object({
  shared: Type.Boolean({
    description: "`false`: what is shared must be gone, or given to a member (`give_to`), before.",
  }),
  members: Type.Optional(Members),
  access: Type.Optional(Access),
  take: Type.Optional(
    Type.Object(
      {
        user_id: wire.UserId,
        labels: Type.Optional(
          Type.Array(wire.Label, { description: "Only these; else all but those of a worktree." }),
        ),
      },
      { description: "Moves what a member has in the project to what is shared, with its history." },
    ),
  ),
  give_to: Type.Optional(
    Type.String({
      description: "Only with `shared: false`: the member who gets what was shared, with its history.",
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: "Changes nothing, and lists what `take` would move." })),
});
export const TakenFact = Type.Object({ label: Type.String(), value: Type.String() });
const Common = {
  project: Type.String(),
  shared: Type.Boolean(),
  access: Access,
  created_at: Type.Optional(wire.Time),
};
export const ProjectAnswer = Type.Object({
  ...Common,
  members: Type.Optional(
    Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: "null: all of the account. Only for a key that is bound to no user.",
    }),
  ),
  facts: Type.Integer({ description: "Facts that its members share." }),
  updated_at: Type.Union([wire.Time, Type.Null()], {
    description: "When one of them was last written; null where there is none.",
  }),
});
export const SharedProjectAnswer = Type.Object({
  ...ProjectAnswer.properties,
  taken: Type.Array(TakenFact, { description: "What `take` has moved, or would." }),
  given: Type.Optional(Type.Integer({ description: "With `give_to`: facts that the member has got." })),
});
export const ListedProject = Type.Object({
  ...Common,
  member_count: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: "null: all of the account. Only for a key that is bound to no user.",
    }),
  ),
});
export const ProjectsAnswer = Type.Object({
  projects: Type.Array(ListedProject, {
    description: "By name; those of a bound key's user, for that.",
  }),
});
export const ErasedProjectAnswer = Type.Object({
  status: wire.Ok,
  erased: Type.Integer({ description: "Facts that had not ended." }),
});
