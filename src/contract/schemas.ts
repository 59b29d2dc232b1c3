/**
 * What crosses the wire, as JSON Schema (TypeBox): validation, TypeScript types and the OpenAPI document are
 * made of these. Rules that JSON Schema cannot say (bytes of UTF-8, control characters, the 40 labels) are
 * checked afterwards and described here in words.
 */

import { TIERS } from "../base/accounts.ts";
import { FACT_ORIGINS } from "../base/fact-origins.ts";
import { GROUPS_MAX } from "../base/groups.ts";
import { PATTERNS_MAX } from "../base/label-patterns.ts";
import {
  CHANNEL_COUNT,
  CHANNEL_COUNT_MAX,
  CONTEXT_TOKENS_MAX,
  CONTEXT_TOKENS_MIN,
  PROJECT_SEGMENT_LENGTH_MAX,
  TTL_S_MAX,
  USER_ID_LENGTH_MAX,
  VALUE_BYTES_MAX,
  WRITER_LENGTH_MAX,
  withThousands,
} from "../base/limits.ts";
import { literals, requiring, Type } from "./type.ts";

export const UserId = Type.String({
  minLength: 1,
  maxLength: USER_ID_LENGTH_MAX,
  description: `Owner of the facts: 1 to ${USER_ID_LENGTH_MAX} characters, no control characters. Belongs to the account of the key. A key that is bound to a user may leave it out.`,
});
export const Label = Type.String({
  description:
    "One of the account's labels (`GET /channels`), or one of the person's own; exact and case-sensitive.",
});
export const Value = Type.String({
  description: `1 to ${withThousands(VALUE_BYTES_MAX)} bytes of UTF-8 without control characters; stored and returned exactly.`,
});
const SessionId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: USER_ID_LENGTH_MAX,
    description: "Kept with the fact and logged with the request, otherwise without effect.",
  }),
);
export const Project = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2 * PROJECT_SEGMENT_LENGTH_MAX + 1,
    description: `Where the person works: a project, or a project and a worktree with a slash between, each 1 to ${PROJECT_SEGMENT_LENGTH_MAX} characters. Without it everything belongs to the person.`,
  }),
);
export const Groups = Type.Optional(
  Type.String({
    description: `Only labels of these groups, as in \`USER,PREF\`; with a minus, all but those: \`-HEALTH,-HOME\`. At most ${GROUPS_MAX}.`,
  }),
);
export const WriteLabels = Type.Optional(
  Type.Array(Type.String(), {
    description: `The labels that may be written, 1 to ${PATTERNS_MAX}: exact ones (\`PREF.tone\`) and groups (\`LANG.*\`). What may be read is not limited by them.`,
  }),
);
export const ScopeName = literals(["person", "project", "worktree"]);
export const Scope = Type.Optional(ScopeName);
const PLACE_KINDS = ["person", "project", "worktree", "shared", "own"] as const;
const WriteScopeName = literals(PLACE_KINDS, {
  description:
    "Where it goes, whatever its label says. In a shared project `project` and `shared` are what all members share, and `own` is the person's own place, which hides it from that person.",
});
const WriteScope = Type.Optional(WriteScopeName);
export const WrittenBy = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: WRITER_LENGTH_MAX,
    description: "Who writes, such as `claude-code`; shown with the fact and in its history.",
  }),
);
const TtlS = Type.Optional(
  Type.Integer({ description: `Seconds that the fact lives, 1 to ${withThousands(TTL_S_MAX)}.` }),
);
const ExpiresAt = Type.Optional(
  Type.String({
    description: "When the fact ends: RFC 3339 with its zone, in the future. Not together with `ttl_s`.",
  }),
);
export const Writer = { written_by: WrittenBy, session_id: SessionId };
export const NewLabel = Type.Optional(
  Type.Union([Type.Boolean(), Type.Literal("certain")], {
    description:
      "`true` makes an unknown label of the form `GROUP.name`, one of the person's own, unless a label that is there is a slip away; `certain` makes it all the same.",
  }),
);
const LabelDescription = Type.Optional(
  Type.String({
    description: "What a label of the person's own is for, 1 to 200 characters; kept with the label.",
  }),
);
export const FactOrigin = literals(FACT_ORIGINS, {
  description:
    "Where the value comes from: the person said it, an agent concluded it, or it was read in a file, a page or a tool's answer.",
});
export const Origin = Type.Optional(FactOrigin);
const Pinned = Type.Optional(
  Type.Boolean({
    description: "Comes first where a context has not room for all facts; kept until a write says otherwise.",
  }),
);
export const FactTerms = {
  scope: WriteScope,
  ttl_s: TtlS,
  expires_at: ExpiresAt,
  new_label: NewLabel,
  description: LabelDescription,
  origin: Origin,
  pinned: Pinned,
};
export const FLAG = {
  pattern: "^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0)$",
  title: "true, false, 1 or 0",
};
const DetailsQuery = Type.Optional(
  Type.String({ ...FLAG, description: "`true` answers with more fields than the specification has." }),
);
export const Details = Type.Optional(
  Type.Boolean({ description: "`true` answers with more fields than the specification has." }),
);
export const ChannelNumber = Type.Integer({
  minimum: 0,
  description: `The carrier channel of the label. Of a label of the person's own, ${CHANNEL_COUNT_MAX} and a number that it keeps as long as it is there.`,
});
const ChannelCount = Type.Integer({ minimum: 0, description: "Labels that hold facts." });
const Block = Type.String({ description: "`[MEM]`, 512 words, `[/MEM]`; empty when there are no facts." });
export const Tier = literals(TIERS);
export const Time = Type.String({ description: "RFC 3339, UTC." });
export const Ok = Type.Literal("ok");
export const CarriedFact = Type.Object({
  label: Type.String(),
  value: Type.String(),
  channel: ChannelNumber,
});

export const FactsQuery = Type.Object({
  user_id: UserId,
  project: Project,
  details: DetailsQuery,
  groups: Groups,
});
export const FactQuery = Type.Object({
  user_id: UserId,
  label: Label,
  project: Project,
  details: DetailsQuery,
});
export const ContextQuery = Type.Object({
  user_id: UserId,
  project: Project,
  include: Type.Optional(
    literals(["index", "block", "both"], {
      description:
        "`index` does no block work and leaves `fdm_block` empty; `block` leaves `plain_index` empty; `both` is the default.",
    }),
  ),
  details: DetailsQuery,
  max_tokens: Type.Optional(
    Type.String({
      pattern: "^(?:[5-9][0-9]|[1-9][0-9]{2,4}|100000)$",
      title: `a whole number from ${CONTEXT_TOKENS_MIN} to ${withThousands(CONTEXT_TOKENS_MAX)}`,
      description:
        "Only with `include=index`: facts as a prompt shows them, and the names of the others, have no more tokens of o200k than this. Pinned facts come first, then those of the innermost place, then the latest; the order of the lines stays.",
    }),
  ),
  groups: Groups,
});
export const ForgetQuery = Type.Object({
  user_id: UserId,
  label: Label,
  project: Project,
  scope: WriteScope,
  keep_history: Type.Optional(
    Type.String({
      ...FLAG,
      description: "`true` keeps the earlier values, and the forgotten one as the last of them.",
    }),
  ),
});
export const UseModel = Type.Optional(
  Type.String({
    ...FLAG,
    description: "`true` verifies the value by model inference instead of the fast path.",
  }),
);
export const DecodeQuery = Type.Object({
  user_id: UserId,
  label: Label,
  project: Project,
  use_model: UseModel,
  details: DetailsQuery,
});
export const EncodeBody = Type.Object({
  user_id: UserId,
  label: Label,
  value: Value,
  project: Project,
  ...FactTerms,
  ...Writer,
  details: Details,
});
export const Revision = Type.Integer({
  description: "Another, larger number after every write of the user's facts.",
});
export const PlaceKind = literals(PLACE_KINDS, {
  description:
    "Whose the fact is: the person's, the project's or the worktree's. In a shared project: `shared`, or the person's `own`.",
});
export const AuthorId = Type.Optional(
  Type.String({ description: "Of a shared project's fact: the user_id of who wrote it." }),
);
export const PreviousFact = Type.Object({
  value: Type.String(),
  revision: Revision,
  updated_at: Time,
  written_by: Type.Optional(Type.String()),
  user_id: AuthorId,
});
/** With `details`. */
const WrittenDetails = {
  revision: Type.Optional(Revision),
  place: Type.Optional(PlaceKind),
  expires_at: Type.Optional(Time),
  previous: Type.Optional(Type.Union([PreviousFact, Type.Null()])),
};
export const EncodeAnswer = Type.Object({
  status: Ok,
  label: Type.String(),
  value: Type.String(),
  channel: ChannelNumber,
  channel_count: ChannelCount,
  ...WrittenDetails,
});
export const WrittenAnswer = requiring(EncodeAnswer, "revision", "place", "previous");

export const BatchBody = Type.Object({
  user_id: UserId,
  facts: Type.Array(
    Type.Object({
      label: Label,
      value: Value,
      ...FactTerms,
      if_revision: Type.Optional(
        Type.Integer({ description: "The revision that the fact must have now; 0: there must be none." }),
      ),
    }),
    { minItems: 1, maxItems: CHANNEL_COUNT },
  ),
  new_label: Type.Optional(
    Type.Union(NewLabel.anyOf, { description: "For all facts that do not say otherwise." }),
  ),
  project: Project,
  ...Writer,
  details: Details,
});
export const BatchFact = Type.Object({ ...CarriedFact.properties, ...WrittenDetails });
export const BatchAnswer = Type.Object({
  status: Ok,
  channel_count: ChannelCount,
  facts: Type.Array(BatchFact),
});
export const WrittenFact = requiring(BatchFact, "revision", "place", "previous");
export const WrittenBatchAnswer = Type.Object({
  ...BatchAnswer.properties,
  facts: Type.Array(WrittenFact),
});

export const TokenCounts = Type.Object(
  { index: Type.Integer(), block: Type.Integer() },
  { description: "Only with `details`: tokens of o200k that the index and the block of this answer have." },
);
export const Carriers = Type.Object(
  { used: Type.Integer(), max: Type.Integer() },
  { description: "Only with `details`, and unless `include` is `index`: how full the block is." },
);
export const OldFact = Type.Object({
  label: Type.String(),
  month: Type.String({ description: "The month of its last change: YYYY-MM, UTC." }),
});
export const EndingFact = Type.Object({ label: Type.String(), expires_at: Time });
export const ContextAnswer = Type.Object({
  user_id: Type.String(),
  fdm_block: Block,
  channel_count: ChannelCount,
  channel_labels: Type.Array(Type.String(), {
    description: "In channel order, the person's own labels last.",
  }),
  plain_index: Type.String({ description: "`<label>=<value>` lines in the same order." }),
  project: Type.Optional(Type.String({ description: "Only with `details`." })),
  overflow: Type.Optional(
    Type.Array(Type.String(), { description: "Only with `details`: labels that did not fit the block." }),
  ),
  tokens: Type.Optional(TokenCounts),
  carriers: Type.Optional(Carriers),
  read_labels: Type.Optional(
    Type.Array(Type.String(), {
      description: "Only with `details`, where there are any: labels whose facts have the origin `read`.",
    }),
  ),
  shared_labels: Type.Optional(
    Type.Array(Type.String(), {
      description:
        "Only with `details`, where there are any: labels whose facts the members of the project share.",
    }),
  ),
  old_facts: Type.Optional(
    Type.Array(OldFact, {
      description:
        "Only with `details`, where there are any: facts of the index that have not changed for three months.",
    }),
  ),
  ending_facts: Type.Optional(
    Type.Array(EndingFact, {
      description: "Only with `details`, where there are any: facts of the index that end.",
    }),
  ),
  left_out: Type.Optional(
    Type.Array(Type.String(), {
      description: "Only with `details` and `max_tokens`: labels of the facts that are not in the index.",
    }),
  ),
  left_out_summary: Type.Optional(
    Type.String({
      description:
        "Where `left_out` is not empty: as many of its labels as there is room for, then groups with the count of theirs.",
    }),
  ),
});
export const DetailedContextAnswer = requiring(ContextAnswer, "overflow", "tokens");

export const DecodeAnswer = Type.Object({
  user_id: Type.String(),
  label: Type.String(),
  value: Type.String(),
  source: literals(["state", "model"], {
    description: "`state`: read from the store. `model`: read from the block by the reader.",
  }),
  latency_ms: Type.Integer({ minimum: 0, description: "0 without the model." }),
  verified: Type.Optional(
    Type.Boolean({ description: "Only with the model: what the reader read equals the state." }),
  ),
  revision: Type.Optional(Revision),
  updated_at: Type.Optional(Time),
  written_by: Type.Optional(Type.String()),
  expires_at: Type.Optional(Time),
  place: Type.Optional(PlaceKind),
  written_by_user_id: AuthorId,
  origin: Origin,
  pinned: Pinned,
});
export const DetailedDecodeAnswer = requiring(DecodeAnswer, "revision", "updated_at", "place");
export const DetailedModelDecodeAnswer = requiring(DetailedDecodeAnswer, "verified");

export const FlushBody = Type.Object({ user_id: UserId, project: Project, session_id: SessionId });
export const FlushAnswer = Type.Object({
  status: Type.Union([Ok, Type.Literal("empty")]),
  channel_count: ChannelCount,
  lossless: Type.Boolean({ description: "Every fact was read back from the fresh block and found equal." }),
  fdm_block: Block,
  overflow: Type.Array(Type.String(), {
    description: "Labels that did not fit the block; they stay in the state.",
  }),
});

export const ReadBody = Type.Object({
  user_id: UserId,
  project: Project,
  block: Type.String({
    description: "A block (`fdm_block` of `GET /context`), even if it is damaged or inside other text.",
  }),
});
export const ReadMark = literals(["current", "replaced", "forgotten", "expired", "unknown_here"], {
  description: "What has become of the fact since the block was made.",
});
export const ReadFact = Type.Object({ ...CarriedFact.properties, mark: Type.Optional(ReadMark) });
export const ReadAnswer = Type.Object({
  status: Ok,
  user_id: Type.String(),
  facts: Type.Array(ReadFact),
  missing: Type.Integer({ description: "How many words of the block were missing." }),
  wrong: Type.Integer({ description: "How many were wrong." }),
  repaired: Type.Integer({ description: "How many were corrected." }),
  guard_left: Type.Integer({ description: "How many more could have been missing." }),
});

export const StoredFact = Type.Object({
  ...CarriedFact.properties,
  revision: Type.Integer(),
  updated_at: Time,
  place: Type.Optional(PlaceKind),
  written_by: Type.Optional(Type.String()),
  user_id: AuthorId,
  expires_at: Type.Optional(Time),
  description: Type.Optional(
    Type.String({ description: "Only with `details`: what a label of the person's own is for." }),
  ),
  hides: Type.Optional(
    Type.Object(PreviousFact.properties, {
      description:
        "Only with `details`: the shared project's fact on this label, where the person's own hides it.",
    }),
  ),
  origin: Origin,
  pinned: Pinned,
});
export const FactsAnswer = Type.Object({
  user_id: Type.String(),
  channel_count: ChannelCount,
  facts: Type.Array(StoredFact),
});
export const ForgetFactAnswer = Type.Object({ status: Ok, channel_count: ChannelCount });
export const StatusAnswer = Type.Object({ status: Ok });
