/** The search of the docs: forty questions of people, each with the page that must be among the first three answers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findGuides } from "../../../scripts/guides.ts";
import { renderGuides } from "../../../scripts/render-guides.ts";
import { searchIndex } from "../../../scripts/search-index.ts";
import { SEARCH_WORDS } from "../../../scripts/search-words.ts";
import { DocsSearch } from "../../../src/web/docs/search.ts";

const FIRST = 3;

/** What is asked, and the pages of which one must be found; with an anchor the section. */
const QUESTIONS: readonly (readonly [question: string, ...pages: string[]])[] = [
  ["how do i delete a user", "/docs/api/forget-user"],
  ["delete one fact", "/docs/api/forget-fact"],
  ["edit a fact", "/docs/api/encode", "/docs/memory-page"],
  ["newline", "/docs/using-the-api"],
  ["how do I write a fact", "/docs/api/encode", "/docs#2-write"],
  ["store several facts at once", "/docs/api/encode-batch"],
  ["read a fact by label", "/docs/api/decode"],
  ["list all facts of a user", "/docs/api/facts"],
  ["list users", "/docs/api/users"],
  ["undo a write", "/docs/api/restore", "/docs/api/rollback", "/docs/memory-page"],
  ["roll back to yesterday", "/docs/api/rollback"],
  ["history of a fact", "/docs/api/history"],
  ["what changed last night", "/docs/api/changes", "/docs/memory-page"],
  ["fact that expires", "/docs/using-the-api"],
  ["ttl_s", "/docs/using-the-api", "/docs/api/encode"],
  ["add my own label", "/docs/api/add-label", "/docs/using-the-api"],
  ["list of labels", "/docs/api/channels"],
  ["block_unreadable", "/docs/errors", "/docs/api/read"],
  ["read a damaged block", "/docs/api/read"],
  ["idempotency key", "/docs/using-the-api"],
  ["if-match revision conflict", "/docs/using-the-api", "/docs/errors"],
  ["rate limit", "/docs/using-the-api", "/docs/config"],
  ["how many facts can i write a month", "/docs", "/docs/using-the-api"],
  ["install in claude code", "/docs/agents/claude-code"],
  ["codex", "/docs/agents/codex"],
  ["mcp server", "/docs/agents/mcp"],
  ["vercel ai sdk", "/docs/agents/ai-sdk"],
  ["langgraph store", "/docs/agents/langgraph"],
  ["typescript client", "/docs/agents/sdk"],
  ["import from mem0", "/docs/agents/import"],
  ["import CLAUDE.md", "/docs/agents/import"],
  ["token for a browser page", "/docs/api/create-token"],
  ["subscribe to changes", "/docs/api/events"],
  ["export a user", "/docs/api/export", "/docs/memory-page"],
  ["backup and restore", "/docs/operations"],
  ["DATABASE_URL", "/docs/config"],
  ["postgres cluster", "/docs/cluster"],
  ["reverse proxy with tls", "/docs/operations"],
  ["prometheus metrics", "/docs/api/metrics", "/docs/operations"],
  ["how does the block work", "/docs/format", "/docs/architecture"],
];

const groups = findGuides(fileURLToPath(new URL("../../../", import.meta.url)));
const entries = searchIndex(renderGuides(groups, (file) => file));
const search = new DocsSearch(entries);

const addressesFor = (question: string) => search.find(question).hits.map(({ entry }) => entry.address);
const leadsTo = (address: string, page: string) =>
  page.includes("#") ? address === page : address.split("#")[0] === page;

test("forty questions find their page among the first three", () => {
  assert.equal(QUESTIONS.length, 40);
  const missed = QUESTIONS.flatMap(([question, ...pages]) => {
    const first = addressesFor(question).slice(0, FIRST);
    const isFound = first.some((address) => pages.some((page) => leadsTo(address, page)));
    return isFound ? [] : [`${question}: ${first.join(", ")}`];
  });
  assert.deepEqual(missed, []);
});

test("a word is found by its beginning, with a slip, in another form and as a part of a name; nothing is found for none", () => {
  for (const query of ["idempo", "idempotancy", "rolling backs"])
    assert.notEqual(addressesFor(query).length, 0, query);
  assert.ok(addressesFor("database url").some((address) => address.startsWith("/docs/config")));
  for (const nothing of ["", "  ", "how do i", "zzzzqqq"])
    assert.deepEqual(search.find(nothing), { total: 0, hits: [] }, nothing);
});

test("of one page at most two sections are among the answers", () => {
  const pages = addressesFor("block").map((address) => address.split("#")[0]);
  for (const page of pages) assert.ok(pages.filter((other) => other === page).length <= 2, page);
});

test("every address that has words of its own is in the docs", () => {
  const known = new Set(entries.map(({ address }) => address));
  assert.deepEqual(
    Object.keys(SEARCH_WORDS).filter((address) => !known.has(address)),
    [],
  );
});
