/**
 * The operations that the website needs beside the service's own: the demo's key and reader, use by day for a
 * key's holder, and how the service is doing for the operator. Part of the one table in operations.ts.
 */

import type { Operation } from "./operations.ts";
import { ReadAnswer } from "./schemas.ts";
import { type Static, Type } from "./type.ts";

const Day = Type.String({ description: "YYYY-MM-DD, UTC." });
const Time = Type.String({ description: "RFC 3339, UTC." });

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
  block: Type.String({ description: "A block of the demo, also a damaged one or one inside other text." }),
});
export const UsageDaysAnswer = Type.Object({
  from: Day,
  to: Day,
  days: Type.Array(Type.Object({ day: Day, count: Type.Integer() })),
});
export const RecentError = Type.Object({
  at: Time,
  method: Type.String(),
  route: Type.String(),
  status: Type.Integer(),
  code: Type.String(),
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
});

export const WEBSITE_OPERATIONS = {
  demoKey: {
    id: "demoKey",
    method: "GET",
    path: "/demo/key",
    access: "demo",
    summary:
      "The block key of the demo. It is public, like the demo's state. No other block key is ever given out.",
    answer: DemoKeyAnswer,
    errors: [],
  },
  demoRead: {
    id: "demoRead",
    method: "POST",
    path: "/demo/read",
    access: "demo",
    summary: "Reads a block of the demo, even if it is damaged or inside other text.",
    body: DemoReadBody,
    answer: ReadAnswer,
    errors: ["invalid_request", "overloaded", "block_unreadable", "unsupported_media_type", "body_too_large"],
  },
  usageDays: {
    id: "usageDays",
    method: "GET",
    path: "/usage/days",
    access: "key",
    summary: "Facts written with the key by day, in the last 31 days.",
    answer: UsageDaysAnswer,
    errors: [],
  },
  adminStatus: {
    id: "adminStatus",
    method: "GET",
    path: "/admin/status",
    access: "admin",
    summary: "The state of the service: health, store, demo, recent errors.",
    answer: AdminStatusAnswer,
    errors: [],
  },
} as const satisfies Record<string, Operation>;

export type DemoKeyAnswer = Static<typeof DemoKeyAnswer>;
export type DemoReadBody = Static<typeof DemoReadBody>;
export type UsageDaysAnswer = Static<typeof UsageDaysAnswer>;
export type RecentError = Static<typeof RecentError>;
export type AdminStatusAnswer = Static<typeof AdminStatusAnswer>;
