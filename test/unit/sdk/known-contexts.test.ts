/** What the client keeps of contexts: answers that have not changed, and of how many users. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sideband } from "../../../src/sdk/index.ts";
import { scriptedServer } from "./scripted-server.ts";

const CONTEXT = {
  user_id: "u",
  fdm_block: "[MEM] a b [/MEM]",
  channel_count: 1,
  channel_labels: ["USER.name"],
  plain_index: "USER.name=Ada",
};

test("an unchanged context costs a 304 and gives a copy of the same answer", async (t) => {
  const { url, seen } = await scriptedServer(t, ({ headers }) =>
    headers["if-none-match"] === '"e1"'
      ? { status: 304, headers: { etag: '"e1"' } }
      : { headers: { etag: '"e1"' }, body: CONTEXT },
  );
  const client = new Sideband({ baseUrl: url });
  const first = await client.context("u");
  first.channel_labels.push("changed by the caller");
  const second = await client.context("u");
  assert.deepEqual(second, CONTEXT);
  second.channel_labels.push("changed by the caller");
  assert.deepEqual(await client.context("u"), CONTEXT);
  assert.deepEqual(
    seen.map(({ headers }) => headers["if-none-match"]),
    [undefined, '"e1"', '"e1"'],
  );
});

test("the contexts of 100 users are kept, and of those the ones used last", async () => {
  const asked: (string | null)[] = [];
  const client = new Sideband({
    baseUrl: "http://x",
    fetch: async (_url, { headers }) => {
      const known = new Headers(headers).get("if-none-match");
      asked.push(known);
      return known === null
        ? new Response(JSON.stringify(CONTEXT), { headers: { etag: '"e"' } })
        : new Response(null, { status: 304 });
    },
  });
  for (let i = 0; i < 100; i++) await client.context(`user ${i}`);
  await client.context("user 0");
  await client.context("one more");
  asked.length = 0;
  for (const user of ["user 0", "user 2", "one more", "user 1"]) await client.context(user);
  assert.deepEqual(asked, ['"e"', '"e"', '"e"', null]);
});

test("what may have changed what a user's facts are takes the known contexts of that user away, and of no other", async () => {
  let isAway = false;
  const client = new Sideband({
    retries: 0,
    onWarning: () => {},
    fetch: async (url) => {
      if (isAway) throw new Error("away");
      return new Response(JSON.stringify(CONTEXT), {
        headers: new URL(url).pathname === "/context" ? { etag: '"e"' } : {},
      });
    },
  });
  /** Whether a prompt gets the last known facts while memory is away. */
  const knows = async (userId: string) => {
    isAway = true;
    const prompt = await client.inject("p", userId, { include: "index" });
    isAway = false;
    return prompt.includes("USER.name=Ada");
  };
  const changes: [string, () => Promise<unknown>, boolean][] = [
    ["a plan", () => client.rollback("u", new Date(), { dryRun: true }), true],
    ["a rollback", () => client.rollback("u", new Date()), false],
    ["a move", () => client.moveProject("u", "loom", "weave"), false],
    ["a removal", () => client.remove("u", "PREF.tools", "vim"), false],
    ["forgetting", () => client.forget("u", "USER.name"), false],
    ["forgetting all", () => client.forgetUser("u"), false],
  ];
  for (const [what, change, isKnown] of changes) {
    for (const userId of ["u", "other"]) await client.inject("p", userId, { include: "index" });
    await change();
    assert.deepEqual([await knows("u"), await knows("other")], [isKnown, true], what);
  }
});
