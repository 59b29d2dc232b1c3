/** Where values come from, over HTTP: kept with them, shown where there is one, back with them, and waited for. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsOf } from "../fixtures/fields.ts";
import { memoryService, ok } from "./memory-calls.ts";
import { problemCode, startPortless } from "./running-service.ts";

const memory = memoryService();
const { clock, post, get, encode } = memory;

type Shown = { label: string; value: string; origin?: string };
const originsOf = async (user_id: string) =>
  ok(await get("/facts", { user_id })).facts.map(({ label, origin }: Shown) => [label, origin]);

test("an origin is kept with the value, and no answer has one where none was named", async () => {
  ok(await encode("ada", "USER.name", "Ada", { origin: "said" }));
  const facts = [
    { label: "USER.os", value: "Debian", origin: "read" },
    { label: "PREF.tone", value: "dry", origin: "concluded" },
    { label: "USER.gpu", value: "none" },
  ];
  ok(await post("/encode/batch", { user_id: "ada", facts }));
  assert.deepEqual(await originsOf("ada"), [
    ["USER.name", "said"],
    ["USER.gpu", undefined],
    ["USER.os", "read"],
    ["PREF.tone", "concluded"],
  ]);
  const decode = { user_id: "ada", label: "USER.os" };
  assert.equal("origin" in ok(await get("/decode", decode)), false);
  assert.equal(ok(await get("/decode", { ...decode, details: "true" })).origin, "read");
  const { changes } = ok(await get("/users/history", { user_id: "ada" }));
  assert.deepEqual(
    changes.map(({ label, origin }: Shown) => [label, origin]).sort(),
    (await originsOf("ada")).sort(),
  );
  const wrong = await encode("ada", "USER.os", "Debian", { origin: "guessed" });
  assert.deepEqual([problemCode(wrong), wrong.json.param], ["400 invalid_request", "origin"]);
});

test("the same value with another origin is a change; restore and rollback bring it back", async () => {
  const first = ok(await encode("bo", "USER.os", "Debian", { origin: "read", details: true }));
  ok(await encode("bo", "USER.os", "Debian"));
  assert.deepEqual(await originsOf("bo"), [["USER.os", "read"]]);
  const accepted = ok(await encode("bo", "USER.os", "Debian", { origin: "said", details: true }));
  assert.equal(accepted.previous.value, "Debian");
  const historyOf = async () => {
    const { revisions } = ok(await get("/facts/history", { user_id: "bo", label: "USER.os" }));
    return revisions.map(({ value, origin }: Shown) => [value, origin]);
  };
  assert.deepEqual(await historyOf(), [
    ["Debian", "said"],
    ["Debian", "read"],
  ]);
  const { at } = ok(await get("/users/history", { user_id: "bo" })).changes[0];
  clock.ms += 1000;
  ok(await encode("bo", "USER.os", "Plan 9"));
  assert.deepEqual(await historyOf(), [
    ["Plan 9", undefined],
    ["Debian", "said"],
    ["Debian", "read"],
  ]);
  ok(await post("/users/rollback", { user_id: "bo", to: at }));
  assert.deepEqual(await originsOf("bo"), [["USER.os", "said"]]);
  ok(await encode("bo", "USER.os", "Unix", { origin: "concluded" }));
  const { revision } = ok(await get("/facts/history", { user_id: "bo", label: "USER.os" })).revisions[1];
  assert.ok(revision > first.revision);
  ok(await post("/facts/restore", { user_id: "bo", label: "USER.os", revision }));
  assert.deepEqual(await originsOf("bo"), [["USER.os", "said"]]);
});

test("a list with an item that was read somewhere was read, until another origin is written", async () => {
  const append = (item: string, more: object = {}) =>
    post("/facts/append", { user_id: "cy", label: "PREF.tools", item, ...more });
  const origins: unknown[] = [];
  for (const [item, origin] of [["vim", "said"], ["sed"], ["tmux", "read"], ["awk", "said"]]) {
    ok(await append(item, origin === undefined ? {} : { origin }));
    origins.push((await originsOf("cy"))[0][1]);
  }
  assert.deepEqual(origins, ["said", "said", "read", "read"]);
  const { value } = ok(await post("/facts/remove", { user_id: "cy", label: "PREF.tools", item: "vim" }));
  assert.deepEqual([value, await originsOf("cy")], ["sed; tmux; awk", [["PREF.tools", "read"]]]);
  ok(await encode("cy", "PREF.tools", value, { origin: "said" }));
  assert.deepEqual(await originsOf("cy"), [["PREF.tools", "said"]]);
  // Of two facts that become a list, and of one that is moved.
  ok(await encode("cy", "PREF.avoid", "nano", { origin: "read" }));
  ok(await post("/facts/rename", { user_id: "cy", label: "PREF.avoid", to: "PREF.tools", merge: "append" }));
  ok(await post("/facts/rename", { user_id: "cy", label: "PREF.tools", to: "PREF.editor" }));
  assert.deepEqual(await originsOf("cy"), [["PREF.editor", "read"]]);
});

test("another origin is another request under the same Idempotency-Key", async () => {
  const key = { "idempotency-key": "once" };
  const body = { user_id: "dot", label: "USER.os", value: "Debian" };
  ok(await post("/encode", { ...body, origin: "read" }, key));
  assert.equal(ok(await post("/encode", { ...body, origin: "read" }, key)).value, "Debian");
  const other = await post("/encode", { ...body, origin: "said" }, key);
  assert.equal(problemCode(other), "422 idempotency_mismatch");
});

test("with SIDEBAND_REVIEW=read, what was read is in no context and no block until it is accepted", async () => {
  const reviewing = await startPortless({ SIDEBAND_DEMO: "0", SIDEBAND_REVIEW: "read" }, undefined, {
    warm: false,
  });
  const { call } = reviewing;
  const write = async (label: string, value: string, origin?: string) =>
    ok(await call("POST", "/encode", { body: { user_id: "ada", label, value, origin } }));
  const asked = async (path: string, query: object = {}) =>
    ok(await call("GET", `${path}?${new URLSearchParams({ user_id: "ada", details: "true", ...query })}`));
  const labelsIn = async (block: string) => {
    const read = ok(await call("POST", "/read", { body: { user_id: "ada", block } }));
    return read.facts.map(({ label }: Shown) => label);
  };
  try {
    await write("USER.os", "Debian", "read");
    const empty = await asked("/context");
    assert.deepEqual([empty.fdm_block, empty.plain_index, empty.channel_count], ["", "", 0]);
    assert.equal(ok(await call("POST", "/flush", { body: { user_id: "ada" } })).status, "empty");
    await write("USER.name", "Ada", "said");
    await write("PREF.tone", "dry");
    for (const include of ["index", "both"]) {
      const { channel_labels, read_labels } = await asked("/context", { include });
      assert.deepEqual([channel_labels, read_labels], [["USER.name", "PREF.tone"], undefined]);
    }
    const shown = ["USER.name", "PREF.tone"];
    assert.deepEqual(await labelsIn((await asked("/context")).fdm_block), shown);
    assert.deepEqual(
      await labelsIn(ok(await call("POST", "/flush", { body: { user_id: "ada" } })).fdm_block),
      shown,
    );
    // The person, and who asks for it by name, find it.
    assert.equal((await asked("/facts")).facts.length, 3);
    const decoded = await asked("/decode", { label: "USER.os", use_model: "true" });
    assert.deepEqual([decoded.value, decoded.source, decoded.verified], ["Debian", "state", false]);
    await write("USER.os", "Debian", "said");
    const all = ["USER.name", "USER.os", "PREF.tone"];
    // What was said stays until another value is accepted, however often one is read.
    await write("USER.os", "Plan 9", "read");
    await write("USER.os", "Windows", "read");
    const both = await asked("/context");
    assert.equal(both.plain_index, "USER.name=Ada\nUSER.os=Debian\nPREF.tone=dry");
    assert.equal((await asked("/context", { include: "index" })).plain_index, both.plain_index);
    const carried = ok(
      await call("POST", "/read", { body: { user_id: "ada", block: both.fdm_block } }),
    ).facts;
    assert.deepEqual(rowsOf(carried, "value", "mark"), [
      ["Ada", "current"],
      ["Debian", "replaced"],
      ["dry", "current"],
    ]);
    assert.equal((await asked("/decode", { label: "USER.os" })).value, "Windows");
    // What the person has taken away does not come back with it.
    ok(await call("DELETE", "/facts?user_id=ada&label=PREF.tone&keep_history=true"));
    await write("PREF.tone", "loud", "read");
    assert.equal(
      (await asked("/context", { include: "index" })).plain_index,
      "USER.name=Ada\nUSER.os=Debian",
    );
    await write("PREF.tone", "dry");
    await write("USER.os", "Debian", "said");
    assert.deepEqual((await asked("/context", { include: "index" })).channel_labels, all);
    assert.deepEqual(await labelsIn((await asked("/context")).fdm_block), all);
  } finally {
    await reviewing.end();
  }
});
