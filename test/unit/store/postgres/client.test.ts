/**
 * The client of the database, whose inner parts are relied on: it looks at `options.prepare` before each statement, calls
 * `options.socket` for its stream, has the server's process number in `state.pid` of an answer, throws TypeError and
 * RangeError for answers of another shape, adds the place of a statement to the stack of its error, and takes the close of
 * its stream by the first listener that it adds for it.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** The release whose source was read for these. Read that of another one before this is changed. */
const EXAMINED = "3.4.9";

test("the client of the database is the release whose inner parts were examined, and no other is installed", () => {
  const json = (path: string) =>
    JSON.parse(readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8"));
  assert.equal(json("node_modules/postgres/package.json").version, EXAMINED);
  assert.equal(json("package.json").dependencies.postgres, EXAMINED);
});
