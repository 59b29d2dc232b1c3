/** The bound on queries to PostgreSQL. No connection is needed: the queries of the test answer when told to. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DATABASE_DEFAULTS, Database } from "../../../src/store/postgres/database.ts";

test("database: a query beyond the bound is refused at once, and taken when another has ended", async () => {
  const database = new Database({ ...DATABASE_DEFAULTS, url: "postgres://127.0.0.1:9/none", pendingMax: 2 });
  const answers: (() => void)[] = [];
  const query = () => new Promise<void>((resolve) => answers.push(resolve));
  const [first, second, third] = [database.read(query), database.write(query), database.read(query)];
  const refusal = third.then(
    () => "answered",
    ({ code }) => code,
  );
  answers[0]();
  await first;
  const fourth = database.read(query);
  for (const answer of answers) answer();
  await Promise.all([second, fourth]);
  assert.equal(await refusal, "overloaded");
  await database.close();
});
