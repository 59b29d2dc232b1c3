/**
 * What crosses the wire, as JSON Schema (TypeBox): validation, TypeScript types and the OpenAPI document are
 * made of these. Rules that JSON Schema cannot say (bytes of UTF-8, control characters, the 40 labels) are
 * checked afterwards and described here in words.
 */

import { CHANNEL_COUNT, DEMO_VALUE_BYTES_MAX, USER_ID_LENGTH_MAX, VALUE_BYTES_MAX } from "../base/limits.ts";
import { withThousands } from "../base/thousands.ts";
import { Type } from "./type.ts";

const UserId = Type.String({
  minLength: 1,
  maxLength: USER_ID_LENGTH_MAX,
  description: `Owner of the facts: 1 to ${USER_ID_LENGTH_MAX} characters, no control characters. Belongs to the account of the key.`,
});
export const Label = Type.String({
  description: "One of the 40 labels, exact and case-sensitive (`GET /channels`).",
});
const Value = Type.String({
  description: `1 to ${withThousands(VALUE_BYTES_MAX)} bytes of UTF-8 without control characters; stored and returned exactly.`,
});
const SessionId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: USER_ID_LENGTH_MAX,
    description: "Logged with the request, otherwise without effect.",
  }),
);
const ChannelNumber = Type.Integer({ minimum: 0, maximum: 39 });
const ChannelCount = Type.Integer({ minimum: 0, maximum: 40, description: "Channels that hold facts." });
const Block = Type.String({ description: "`[MEM]`, 512 words, `[/MEM]`; empty when there are no facts." });
const Time = Type.String({ description: "RFC 3339, UTC." });
const Ok = Type.Literal("ok");
const PlacedFact = Type.Object({ label: Type.String(), value: Type.String(), channel: ChannelNumber });

export const UserQuery = Type.Object({ user_id: UserId });
export const FactQuery = Type.Object({ user_id: UserId, label: Label });
const UseModel = Type.Optional(
  Type.String({
    pattern: "^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|1|0)$",
    title: "true, false, 1 or 0",
    description: "`true` verifies the value by model inference instead of the fast path.",
  }),
);
export const DecodeQuery = Type.Object({ user_id: UserId, label: Label, use_model: UseModel });
const Sandbox = Type.Optional(
  Type.String({
    pattern: "^[0-9a-f]{3}$",
    title: "three hexadecimal digits (0-9, a-f)",
    description:
      "A state of one's own instead of the shared one: three hexadecimal digits of your choice. It is as public, and reset at the same times.",
  }),
);
export const DemoQuery = Type.Object({ sandbox: Sandbox });
export const DemoFactQuery = Type.Object({ label: Label, sandbox: Sandbox });
export const DemoDecodeQuery = Type.Object({ label: Label, use_model: UseModel, sandbox: Sandbox });

export const EncodeBody = Type.Object({ user_id: UserId, label: Label, value: Value, session_id: SessionId });
export const EncodeAnswer = Type.Object({
  status: Ok,
  label: Type.String(),
  value: Type.String(),
  channel: ChannelNumber,
  channel_count: ChannelCount,
});

export const BatchBody = Type.Object({
  user_id: UserId,
  facts: Type.Array(Type.Object({ label: Label, value: Value }), { minItems: 1, maxItems: CHANNEL_COUNT }),
  session_id: SessionId,
});
export const BatchAnswer = Type.Object({
  status: Ok,
  channel_count: ChannelCount,
  facts: Type.Array(PlacedFact),
});

export const ContextAnswer = Type.Object({
  user_id: Type.String(),
  fdm_block: Block,
  channel_count: ChannelCount,
  channel_labels: Type.Array(Type.String(), { description: "In channel order." }),
  plain_index: Type.String({ description: "`<label>=<value>` lines in channel order." }),
});

export const DecodeAnswer = Type.Object({
  user_id: Type.String(),
  label: Type.String(),
  value: Type.String(),
  source: Type.Union([Type.Literal("state"), Type.Literal("model")]),
  latency_ms: Type.Integer({ minimum: 0 }),
  verified: Type.Optional(
    Type.Boolean({ description: "Only with the model: what the reader read equals the state." }),
  ),
});

export const FlushBody = Type.Object({ user_id: UserId, session_id: SessionId });
export const FlushAnswer = Type.Object({
  status: Type.Union([Ok, Type.Literal("empty")]),
  channel_count: ChannelCount,
  lossless: Type.Boolean({ description: "Every fact was read back from the fresh block and found equal." }),
  fdm_block: Block,
  overflow: Type.Array(Type.String(), { description: "Labels that did not fit the block." }),
});

export const ReadBody = Type.Object({
  user_id: UserId,
  block: Type.String({
    description: "A block (`fdm_block` of `GET /context`), even if it is damaged or inside other text.",
  }),
});
export const ReadAnswer = Type.Object({
  status: Ok,
  user_id: Type.String(),
  facts: Type.Array(PlacedFact),
  missing: Type.Integer(),
  wrong: Type.Integer(),
  repaired: Type.Integer(),
  guard_left: Type.Integer(),
});

export const FactsAnswer = Type.Object({
  user_id: Type.String(),
  channel_count: ChannelCount,
  facts: Type.Array(
    Type.Object({
      label: Type.String(),
      value: Type.String(),
      channel: ChannelNumber,
      revision: Type.Integer(),
      updated_at: Time,
    }),
  ),
});
export const ForgetFactAnswer = Type.Object({ status: Ok, channel_count: ChannelCount });
export const StatusAnswer = Type.Object({ status: Ok });

export const UsageAnswer = Type.Object({
  account: Type.String(),
  tier: Type.String(),
  limit: Type.Union([Type.Integer(), Type.Null()]),
  used: Type.Integer(),
  remaining: Type.Union([Type.Integer(), Type.Null()]),
  resets_at: Time,
});

export const ChannelsAnswer = Type.Object({
  channels: Type.Array(
    Type.Object({
      channel: ChannelNumber,
      label: Type.String(),
      description: Type.String(),
      example: Type.String(),
    }),
  ),
});

const DemoValue = Type.String({
  description: `1 to ${DEMO_VALUE_BYTES_MAX} bytes of UTF-8 without control characters; stored and returned exactly.`,
});
export const DemoEncodeBody = Type.Object({ label: Label, value: DemoValue });

const Day = Type.String({ description: "YYYY-MM-DD, UTC." });
export const DemoKeyAnswer = Type.Object({
  user_id: Type.String(),
  keys: Type.Array(
    Type.Object({
      key_id: Type.Integer({ description: "As it stands in the block." }),
      material: Type.String({ description: "The block key, 64 bytes in base64." }),
    }),
  ),
  versions: Type.Array(Type.Integer(), { description: "Format versions that the demo's blocks may have." }),
});
export const DemoReadBody = Type.Object({
  block: Type.String({
    description: "A block of the demo (`GET /demo/context`), even if it is damaged or inside other text.",
  }),
});
export const UsageDaysAnswer = Type.Object({
  from: Day,
  to: Day,
  days: Type.Array(Type.Object({ day: Day, count: Type.Integer() })),
});

export const HealthAnswer = Type.Object({ status: Type.String() });
