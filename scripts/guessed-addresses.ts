/**
 * Addresses that people guess, each with the address of the page that is meant: the name of its file in the repository
 * (/docs/QUICKSTART.md), its title, its last part alone (/docs/mcp), usual names, and each of these without /docs. They are written
 * as the service looks them up: in lower case, without an ending. An earlier rule wins, a page's own address first.
 */

import { posix } from "node:path";
import { type Page, slugOf } from "../src/web/shell.ts";
import type { GuideGroup } from "./guides.ts";

const DOCS = "/docs/";
const CALLS = "/docs/api/";
/** Usual names for pages that have another one here, by page. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  "/docs": [
    ...[
      "getting-started",
      "get-started",
      "start",
      "install",
      "installation",
      "setup",
      "tutorial",
      "first-steps",
    ],
    ...["introduction", "intro", "overview", "guide", "guides"],
  ],
  "/docs/api": [
    "reference",
    "api-docs",
    "rest",
    "rest-api",
    "http-api",
    "endpoints",
    "calls",
    "openapi",
    "swagger",
  ],
  "/docs/using-the-api": ["authentication", "auth", "limits", "rate-limits", "idempotency", "pagination"],
  "/docs/errors": ["error-codes", "problems", "troubleshooting"],
  "/docs/operations": ["self-hosting", "deploy", "deployment", "production", "backup", "monitoring", "admin"],
  "/docs/config": ["configuration", "settings", "environment", "env", "options"],
  "/docs/cluster": ["scaling", "postgres", "postgresql", "citus", "high-availability"],
  "/docs/format": ["block", "spec", "specification"],
  "/docs/agents": ["integrations", "hosts", "agent"],
  "/docs/agents/claude-code": ["claude"],
  "/docs/agents/sdk": ["client", "clients", "sdks", "typescript", "javascript", "node", "npm"],
  "/docs/agents/connect-by-address": ["oauth", "connectors", "chatgpt"],
  "/docs/agents/ai-sdk": ["vercel"],
  "/docs/agents/openai-agents": ["openai"],
  "/docs/agents/langgraph": ["langchain"],
  "/docs/agents/import": ["migrate", "migration", "mem0"],
  "/docs/api/channels": ["labels"],
};
/** The same for pages that are not docs. */
const OTHER_PAGES: Readonly<Record<string, readonly string[]>> = {
  "/docs": ["documentation", "doc", "help", "faq"],
  "/keys": ["key", "pricing", "plans", "tiers", "signup", "sign-up", "register", "api-keys"],
  "/account": ["login", "signin", "sign-in", "dashboard", "profile"],
  "/memory": ["memories", "facts-page"],
  "/console": ["admin", "operator"],
  "/benchmarks": ["compare", "comparison", "comparisons", "alternatives", "vs"],
  "/playground": ["demo", "try", "sandbox"],
};

export function guessedAddresses(
  pages: readonly Pick<Page, "path" | "title">[],
  groups: readonly GuideGroup[],
): Record<string, string> {
  const guides = groups.flatMap((group) => group.guides);
  const docs = pages.filter(({ path }) => path.startsWith(DOCS));
  const guesses = [
    ...pages.map(({ path }) => [path, path]),
    ...guides.map(({ file, path }) => [
      `/${posix.join(posix.dirname(file), posix.basename(file, ".md"))}`,
      path,
    ]),
    ...names(OTHER_NAMES, DOCS),
    ...names(OTHER_PAGES, "/"),
    ...docs.map(({ path, title }) => [DOCS + slugOf(title), path]),
    ...docs.filter(({ path }) => path.startsWith(CALLS)).flatMap(namesOfCall),
    ...docs.map(({ path }) => [DOCS + posix.basename(path), path]),
  ];
  const found: Record<string, string> = {};
  for (const [guess, path] of guesses) found[guess.toLowerCase()] ??= path;
  for (const [guess, path] of Object.entries(found))
    if (guess.startsWith(DOCS)) found[guess.slice(DOCS.length - 1)] ??= path;
  return found;
}

/** A call's page by the call's name in OpenAPI, and by the call's own path: /docs/api/encodeBatch, /docs/api/encode/batch. */
function namesOfCall({ path, title }: Pick<Page, "path" | "title">): [string, string][] {
  const [, called] = title.split(" ");
  return [
    [CALLS + path.slice(CALLS.length).replaceAll("-", ""), path],
    [CALLS + called.slice(1).replace(/[{}]/g, ""), path],
  ];
}

function names(table: Readonly<Record<string, readonly string[]>>, folder: string): [string, string][] {
  return Object.entries(table).flatMap(([path, others]) =>
    others.map((name): [string, string] => [folder + name, path]),
  );
}
