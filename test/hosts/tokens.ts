/**
 * What Sideband costs in a session: the tokens (o200k) that the first request of a session has beyond those of a session
 * without Sideband. Texts are counted as texts, and the tools as the JSON that they are sent as.
 */

import { REMEMBER_PROMPT } from "../../src/agent-side/prompts.ts";
import { o200kCounter } from "../fixtures/o200k.ts";
import type { ModelRequest } from "./stand-in-model.ts";

const count = o200kCounter();
/** What is sent for people, or another one in each request. */
const UNREAD = new Set([
  "id",
  "type",
  "role",
  "cache_control",
  "metadata",
  "prompt_cache_key",
  "client_metadata",
]);

/** The tokens of a request beyond those of one without Sideband. */
export function addedTokens(told: ModelRequest, bare: ModelRequest): number {
  return tokensOf(told) - tokensOf(bare);
}

/** Whether what is worth keeping is said once in a request. */
export function isToldOnce({ text }: ModelRequest): boolean {
  // Without the names of tools, which some hosts give a prefix.
  const [words] = /when the user states [^:]*/.exec(REMEMBER_PROMPT) ?? [];
  return text.split(String(words)).length === 2;
}

function tokensOf({ text }: ModelRequest): number {
  const { tools, ...body } = JSON.parse(text) as Record<string, unknown>;
  return count(textsIn(body).join("\n")) + count(JSON.stringify(tools ?? []));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "tools" ? [JSON.stringify(inner)] : UNREAD.has(name) ? [] : textsIn(inner),
  );
}
