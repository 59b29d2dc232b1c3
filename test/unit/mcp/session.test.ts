/** How many sessions are kept, and whose goes where there are too many. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNT_SESSIONS_MAX, OWNER_SESSIONS_MAX, Session, Sessions } from "../../../src/mcp/session.ts";

function opener(sessions: Sessions, owner: string) {
  return (count: number) =>
    Array.from({ length: count }, () => {
      const session = new Session(null);
      sessions.add(session, owner);
      return session.id;
    });
}

test("who opens more sessions than one key and user may have ends its own oldest, and nobody else's", () => {
  const sessions = new Sessions();
  const others = opener(sessions, "key ada")(2);
  const own = opener(sessions, "key eve")(OWNER_SESSIONS_MAX);
  // It is in use, so that the next one is the oldest.
  assert.ok(sessions.get(own[0]));
  opener(sessions, "key eve")(10);
  for (const id of [...others, own[0]]) assert.equal(sessions.get(id)?.id, id);
  for (const id of own.slice(1, 11)) assert.equal(sessions.get(id), undefined);
  assert.ok(sessions.get(own[11]));
});

test("where an account has too many sessions, the oldest of whoever has most goes", () => {
  const sessions = new Sessions();
  const [single] = opener(sessions, "single")(1);
  const owners = Array.from({ length: ACCOUNT_SESSIONS_MAX / OWNER_SESSIONS_MAX }, (_, i) => `owner ${i}`);
  const ids = owners.map((owner) =>
    opener(sessions, owner)(OWNER_SESSIONS_MAX - (owner === "owner 1" ? 0 : 1)),
  );
  const isKept = (id: string) => sessions.get(id) !== undefined;
  const before = ids.flat().filter(isKept).length + 1;
  opener(sessions, "new")(ACCOUNT_SESSIONS_MAX - before + 1);
  assert.ok(isKept(single));
  assert.deepEqual([isKept(ids[0][0]), isKept(ids[1][0])], [true, false]);
});
