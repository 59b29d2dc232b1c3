/** What crosses the wire for a fact's life: lists, history, going back, the users and the labels of an account. */

import { QUERY_LENGTH_MAX, TTL_S_MAX, VALUE_BYTES_MAX, withThousands } from "../base/limits.ts";
import * as wire from "./schemas.ts";
import { literals, Type } from "./type.ts";

const Item = Type.String({ description: "One item, without a semicolon; items are joined by `; `." });
export const Cursor = Type.Optional(
  Type.String({ minLength: 1, maxLength: 2000, description: "`next_cursor` of the page before." }),
);
export const NextCursor = Type.Union([Type.String(), Type.Null()], { description: "null on the last page." });
export const Limit = Type.Optional(
  Type.String({
    pattern: "^(?:[1-9]|[1-9][0-9]|1[0-9][0-9]|200)$",
    title: "a whole number from 1 to 200",
    description: "Entries on a page, 1 to 200; 50 by default.",
  }),
);
export const Moment = Type.String({ description: "RFC 3339 with its zone, such as `2026-11-15T18:00:00Z`." });
export const PlacedLabel = Type.Object({
  label: Type.String(),
  project: Type.Optional(
    Type.String({ description: "The project or worktree; absent for the person's own." }),
  ),
  place: Type.Optional(
    Type.Literal("shared", { description: "Only where it is what the members of the project share." }),
  ),
});

export const AppendBody = Type.Object({
  user_id: wire.UserId,
  label: wire.Label,
  item: Item,
  project: wire.Project,
  ...wire.FactTerms,
  ...wire.Writer,
  details: wire.Details,
});
export const RemoveBody = Type.Object({
  user_id: wire.UserId,
  label: wire.Label,
  item: Item,
  project: wire.Project,
  scope: wire.FactTerms.scope,
  ...wire.Writer,
  details: wire.Details,
});

export const RenameBody = Type.Object({
  user_id: wire.UserId,
  label: wire.Label,
  to: Type.String({
    description: "The other label. One that neither the account nor the person has is made.",
  }),
  merge: Type.Optional(
    Type.Literal("append", {
      description: "Makes a list of both where the other label has a fact; the history of each stays.",
    }),
  ),
  project: wire.Project,
  ...wire.Writer,
  details: wire.Details,
});

/** In a shared project a label may have a fact of all members, and one of the person's own. */
const KeptScope = Type.Optional(
  Type.Union(wire.PlaceKind.anyOf, {
    description: "Only that place of the call. Without it, of the innermost that has a fact on the label.",
  }),
);
export const HistoryQuery = Type.Object({
  user_id: wire.UserId,
  label: wire.Label,
  project: wire.Project,
  scope: KeptScope,
});
export const FactRevision = Type.Object({
  revision: wire.Revision,
  value: Type.String(),
  updated_at: wire.Time,
  written_by: Type.Optional(Type.String()),
  user_id: wire.AuthorId,
  session_id: Type.Optional(Type.String()),
  ended: Type.Optional(
    literals(["replaced", "forgotten", "expired", "renamed"], {
      description: "Absent for the present value.",
    }),
  ),
  ended_at: Type.Optional(wire.Time),
  expires_at: Type.Optional(Type.String({ description: "When it ends, or would have ended." })),
  renamed_from: Type.Optional(Type.String({ description: "The label that it had until it was renamed." })),
  origin: wire.Origin,
});
export const HistoryAnswer = Type.Object({
  user_id: Type.String(),
  label: Type.String(),
  place: wire.PlaceKind,
  revisions: Type.Array(FactRevision, { description: "The newest first." }),
});

export const RestoreBody = Type.Object({
  user_id: wire.UserId,
  label: wire.Label,
  revision: Type.Integer({ description: "A revision of `GET /facts/history`." }),
  project: wire.Project,
  scope: KeptScope,
  ...wire.Writer,
  details: wire.Details,
});

export const ChangesQuery = Type.Object({
  user_id: wire.UserId,
  project: wire.Project,
  since: Type.Optional(Moment),
  limit: Limit,
  cursor: Cursor,
});
export const FactChange = Type.Object({
  ...PlacedLabel.properties,
  kind: literals(["written", "forgotten", "expired", "renamed"]),
  value: Type.String(),
  was: Type.Optional(
    Type.String({
      description: "The value that was replaced; absent where there was none, or none is kept.",
    }),
  ),
  revision: wire.Revision,
  at: wire.Time,
  written_by: Type.Optional(Type.String()),
  user_id: wire.AuthorId,
  session_id: Type.Optional(Type.String()),
  renamed_from: Type.Optional(Type.String({ description: "The label that a renamed fact had." })),
  origin: wire.Origin,
});
export const ChangesAnswer = Type.Object({
  user_id: Type.String(),
  changes: Type.Array(FactChange, { description: "The newest first." }),
  next_cursor: NextCursor,
});

export const RollbackBody = Type.Object({
  user_id: wire.UserId,
  to: Moment,
  project: wire.Project,
  scope: Type.Optional(
    Type.Literal("project", {
      description:
        "In a shared project: only what its members share goes back. Without it that never does. Not with a worktree.",
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: "Only lists what would change." })),
  partial: Type.Optional(
    Type.Boolean({
      description:
        "Goes back also where the history of some labels does not reach that far; they stay as they are.",
    }),
  ),
  ...wire.Writer,
  unchanged_since: Type.Optional(
    Type.String({
      ...Moment,
      description:
        "Only facts that have not changed since this moment go back: with the moments before and after an import, what it wrote, and nothing that came later.",
    }),
  ),
});
const MovedProject = Type.String({ description: "A project, without a worktree." });
export const MoveProjectBody = Type.Object({ user_id: wire.UserId, from: MovedProject, to: MovedProject });
export const MoveProjectAnswer = Type.Object({
  status: wire.Ok,
  moved: Type.Integer({ description: "How many facts were moved." }),
});
const OptionalValue = Type.Union([Type.String(), Type.Null()]);
export const RolledBackFact = Type.Object({
  ...PlacedLabel.properties,
  from: OptionalValue,
  to: OptionalValue,
});
export const RollbackAnswer = Type.Object({
  status: Type.Union([wire.Ok, Type.Literal("planned"), Type.Literal("unreached")], {
    description:
      "`planned`: nothing was changed, as asked. `unreached`: nothing was changed, because the history of some labels does not reach back that far.",
  }),
  changes: Type.Array(RolledBackFact),
  unreached: Type.Array(PlacedLabel),
  changed_since: Type.Optional(
    Type.Array(PlacedLabel, {
      description: "With `unchanged_since`: what has changed again since, and stays as it is.",
    }),
  ),
  at: Type.Optional(
    Type.String({
      ...Moment,
      description:
        "When facts were changed: with `to` a millisecond before and this as `unchanged_since`, another rollback takes this one back, and nothing that came later.",
    }),
  ),
});

export const UserExportQuery = Type.Object({ user_id: wire.UserId });

export const EventsQuery = Type.Object({
  user_id: Type.Optional(wire.UserId),
  project: wire.Project,
  groups: wire.Groups,
});

export const UsersQuery = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: 128, description: "What the user_ids begin with." })),
  limit: Limit,
  cursor: Cursor,
});
export const ListedUser = Type.Object({
  user_id: Type.String(),
  projects: Type.Array(Type.String(), { description: "Projects and worktrees with facts." }),
  channel_count: Type.Integer({ description: "Facts of the person's own." }),
  updated_at: Type.Union([wire.Time, Type.Null()]),
});
export const UsersAnswer = Type.Object({
  users: Type.Array(ListedUser),
  next_cursor: NextCursor,
});

const LabelTerms = {
  description: Type.String({ description: "1 to 200 characters: a model chooses by it." }),
  example: Type.Optional(Type.String()),
  one_of: Type.Optional(
    Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: "The values that it may have, 2 to 32.",
    }),
  ),
  max_bytes: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: `The longest value, 1 to ${VALUE_BYTES_MAX} bytes.`,
    }),
  ),
  ttl_s: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: `The life of its facts where a write does not say, 1 to ${withThousands(TTL_S_MAX)} seconds.`,
    }),
  ),
  hidden: Type.Optional(
    Type.Boolean({ description: "Not offered to agents and pages, still readable and writable." }),
  ),
  writers: Type.Optional(
    literals(["account", "everyone"], {
      description: "`account`: only the account's own key, bound to no user, writes it.",
    }),
  ),
};
export const AddLabelBody = Type.Object({
  label: Type.String({
    description: "GROUP.name: a group of 1 to 16 of A-Z, 0-9 and _, a name of 1 to 48 of a-z, 0-9 and _.",
  }),
  ...LabelTerms,
  scope: wire.Scope,
  written_by: wire.WrittenBy,
});
export const LabelParams = Type.Object({ label: Type.String({ minLength: 1, maxLength: 100 }) });
export const ChangeLabelBody = Type.Object({
  ...LabelTerms,
  description: Type.Optional(LabelTerms.description),
  scope: Type.Optional(
    Type.Union(wire.ScopeName.anyOf, {
      description: "Cannot be changed: only the scope that the label has.",
    }),
  ),
});

export const FindQuery = Type.Object({
  user_id: wire.UserId,
  q: Type.String({
    minLength: 1,
    maxLength: QUERY_LENGTH_MAX,
    description: `Words of the label, its description or the value, in any order, 1 to ${QUERY_LENGTH_MAX} characters. Case, accents, the ends of words and a slip do not matter.`,
  }),
  project: wire.Project,
  limit: Type.Optional(
    Type.String({
      pattern: "^(?:[1-9]|[1-4][0-9]|50)$",
      title: "a whole number from 1 to 50",
      description: "How many facts at most, 1 to 50; 10 by default.",
    }),
  ),
  everywhere: Type.Optional(
    Type.String({
      ...wire.FLAG,
      description: "`true` looks in all projects of the user; what counts in `project` is preferred.",
    }),
  ),
  groups: wire.Groups,
});
export const FoundFact = Type.Object({
  label: Type.String(),
  value: Type.String(),
  place: wire.PlaceKind,
  project: PlacedLabel.properties.project,
  updated_at: wire.Time,
  written_by: Type.Optional(Type.String()),
  user_id: wire.AuthorId,
  expires_at: Type.Optional(wire.Time),
  origin: wire.Origin,
  score: Type.Number({ description: "More than 0, at most 1, to compare the facts of one answer." }),
  guess: Type.Optional(
    Type.Literal(true, {
      description:
        "Only where it is one: the fact has none of the words, but one that is like it; or it has half of them or fewer, and none in the name of its label.",
    }),
  ),
});
export const FindAnswer = Type.Object({
  user_id: Type.String(),
  query: Type.String(),
  by: Type.Union([Type.Literal("words"), Type.Literal("words+meaning")], {
    description:
      "How the facts were found; by meaning where the operator has set it up, and it answers in time.",
  }),
  facts: Type.Array(FoundFact, { description: "The best first; none where nothing fits." }),
});
