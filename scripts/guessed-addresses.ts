/**
 * Addresses that people guess, each with the address of the page that is meant: the name of its file in the repository
 * (/docs/QUICKSTART.md), its title, its last part alone (/docs/mcp), and each of these without /docs. They are written
 * as the service looks them up: in lower case, without an ending. An earlier rule wins, a page's own address first.
 */

import { posix } from "node:path";
import { slugOf } from "../src/web/docs/code-samples.ts";
import type { Page } from "../src/web/shell.ts";
import type { GuideGroup } from "./guides.ts";

const DOCS = "/docs/";
/** Usual names for a page that has another one here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "/docs/getting-started": "/docs",
  "/docs/reference": "/docs/api",
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
    ...Object.entries(OTHER_NAMES),
    ...docs.map(({ path, title }) => [DOCS + slugOf(title), path]),
    ...docs.map(({ path }) => [DOCS + posix.basename(path), path]),
  ];
  const found: Record<string, string> = {};
  for (const [guess, path] of guesses) found[guess.toLowerCase()] ??= path;
  for (const [guess, path] of Object.entries(found))
    if (guess.startsWith(DOCS)) found[guess.slice(DOCS.length - 1)] ??= path;
  return found;
}
