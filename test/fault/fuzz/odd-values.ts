/** What no client should send: odd texts, numbers and bodies, broken encodings, JSON that is cut or scratched. */

import type { Random } from "../../../src/base/random.ts";

export const ODD_TEXTS = [
  "",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\u2028",
  "\uFEFF",
  "\u202e",
  "𝕳".repeat(40),
  "a".repeat(2000),
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "'; DROP TABLE facts; --",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "%00",
  "%ff",
  "NaN",
  "1e999",
  "USER.name",
  "USER.",
  "\r\nX-Injected: 1",
  "sb_live_000000000000000000000000000000000000",
];
const ODD_NUMBERS = [0, -0, 1e308, -1, 2 ** 53, 0.1, Number.MAX_SAFE_INTEGER];
const BROKEN_ESCAPES = ["%", "%zz", "%ff%fe", "%c0%80", "%ed%a0%80"];
const QUERY_NAMES = ["user_id", "label", "use_model", "api_key", "account", "from", "to", "key_id"];
const QUERY_VALUES = ["ada", "USER.name", "true", "2026-02-30", "0"];
const BODY_NAMES = [
  ...["user_id", "label", "value", "facts", "block", "session_id", "account", "tier"],
  ...["name", "email", "purpose", "expires_at", "token", "join", "note"],
];
const DEPTH_MAX = 3;

export function oddQuery(random: Random): string {
  const part = (known: readonly string[]) => {
    if (random.below(8) === 0) return random.pick(BROKEN_ESCAPES);
    return encodeURIComponent(
      random.below(3) > 0 ? random.pick(known) : random.pick(ODD_TEXTS).toWellFormed(),
    );
  };
  const pairs = Array.from({ length: random.below(4) }, () => `${part(QUERY_NAMES)}=${part(QUERY_VALUES)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Printable ASCII, as a header may have. */
export function headerText(random: Random): string {
  return String.fromCharCode(...Array.from({ length: random.below(60) }, () => 0x20 + random.below(0x5f)));
}

export function oddBody(random: Random): Buffer {
  if (random.below(12) === 0) return Buffer.from(random.bytes(random.below(400)));
  if (random.below(40) === 0) return Buffer.alloc(70_000, "x");
  if (random.below(20) === 0) return Buffer.from("[".repeat(random.below(20_000)));
  return scratched(random, JSON.stringify(oddObject(random)) ?? "undefined");
}

/** A text that is cut, doubled or changed, or stays as it is. */
export function scratched(random: Random, text: string): Buffer {
  const kind = random.below(8);
  if (kind === 0) return Buffer.from(text.slice(0, random.below(text.length + 1)));
  if (kind === 1) return Buffer.from(text + text);
  if (kind === 2) return Buffer.from(text.replace(/"/, "'"));
  const bytes = Buffer.from(text);
  if (kind === 3 && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

function oddObject(random: Random): unknown {
  if (random.below(12) === 0) return oddValue(random);
  const body: Record<string, unknown> = {};
  for (const name of BODY_NAMES) if (random.below(4) > 0) body[name] = oddValue(random);
  if (random.below(3) > 0) body.user_id = "fuzz";
  if (random.below(3) === 0) body.label = "USER.name";
  return body;
}

export function oddValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > DEPTH_MAX ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.pick(ODD_NUMBERS);
    case 6:
      return Array.from({ length: random.below(45) }, () => oddValue(random, depth + 1));
    case 7:
      return { label: oddValue(random, depth + 1), value: oddValue(random, depth + 1) };
    case 8:
      return [{ label: "USER.name", value: oddValue(random, depth + 1) }];
    default:
      return random.pick(ODD_TEXTS);
  }
}
