/** What crosses the wire of the public demo, which needs no key and has one state for all. (schemas.ts) */

import { DEMO_VALUE_BYTES_MAX } from "../base/limits.ts";
import * as wire from "./schemas.ts";
import { Type } from "./type.ts";

const Sandbox = Type.Optional(
  Type.String({
    pattern: "^[0-9a-f]{3}$",
    title: "three hexadecimal digits (0-9, a-f)",
    description:
      "A state of one's own instead of the shared one: three hexadecimal digits of your choice. It is as public, and reset at the same times.",
  }),
);
export const DemoQuery = Type.Object({ sandbox: Sandbox });
export const DemoFactQuery = Type.Object({ label: wire.Label, sandbox: Sandbox });
export const DemoDecodeQuery = Type.Object({ label: wire.Label, use_model: wire.UseModel, sandbox: Sandbox });

const DemoValue = Type.String({
  description: `1 to ${DEMO_VALUE_BYTES_MAX} bytes of UTF-8 without control characters; stored and returned exactly.`,
});
export const DemoEncodeBody = Type.Object({ label: wire.Label, value: DemoValue });

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
