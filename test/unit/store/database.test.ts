/** The bound on queries to PostgreSQL. The queries of the test answer when told to. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DATABASE_DEFAULTS, Database } from "../../../src/store/postgres/connection/database.ts";
import { newDatabase } from "../../postgres/server.ts";

test("database: a query beyond the bound is refused at once, and taken when another has ended", async () => {
  const database = new Database({ ...DATABASE_DEFAULTS, url: await newDatabase(), pendingMax: 2 });
  const answers: (() => void)[] = [];
  const query = () => new Promise<void>((resolve) => answers.push(resolve));
  const [first, second, third] = [database.read(query), database.write(query), database.read(query)];
  const refusal = third.then(
    () => "answered",
    ({ code }) => code,
  );
  assert.equal(await refusal, "overloaded");
  while (answers.length < 2) await new Promise(setImmediate);
  for (const answer of answers.splice(0)) answer();
  await Promise.all([first, second]);
  const fourth = database.read(query);
  while (answers.length < 1) await new Promise(setImmediate);
  answers[0]();
  await fourth;
  await database.close();
});
