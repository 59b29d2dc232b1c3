/** A fact's life over HTTP: places, ends, revisions, lists, history, going back, users. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { memoryService, ok } from "./memory-calls.ts";
import { problemCode } from "./running-service.ts";

const START = Date.UTC(2026, 10, 30, 23, 59, 50);
const memory = memoryService(START);
const { clock, post, get, encode } = memory;

const factsOf = async (user_id: string, project?: string) => {
  const { json } = await get("/facts", { user_id, ...(project === undefined ? {} : { project }) });
  return json.facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`);
};

test("without the new parameters answers have the fields of the specification, and no other", async () => {
  const written = ok(await encode("plain", "USER.name", "Ada"));
  assert.deepEqual(written, {
    status: "ok",
    label: "USER.name",
    value: "Ada",
    channel: 0,
    channel_count: 1,
  });
  const batch = ok(
    await post("/encode/batch", { user_id: "plain", facts: [{ label: "USER.os", value: "Debian" }] }),
  );
  assert.deepEqual(Object.keys(batch), ["status", "channel_count", "facts"]);
  assert.deepEqual(Object.keys(batch.facts[0]), ["label", "value", "channel"]);
  const decoded = ok(await get("/decode", { user_id: "plain", label: "USER.name" }));
  assert.deepEqual(Object.keys(decoded), ["user_id", "label", "value", "source", "latency_ms"]);
  const context = ok(await get("/context", { user_id: "plain" }));
  assert.deepEqual(Object.keys(context), [
    "user_id",
    "fdm_block",
    "channel_count",
    "channel_labels",
    "plain_index",
  ]);
  const { facts } = ok(await get("/facts", { user_id: "plain" }));
  assert.deepEqual(Object.keys(facts[0]), ["label", "value", "channel", "revision", "updated_at"]);
  const open = await memory.running.call("GET", "/channels", { key: null });
  assert.deepEqual(Object.keys(open.json), ["channels"]);
  assert.deepEqual(Object.keys(open.json.channels[0]), ["channel", "label", "description", "example"]);
});

test("a project's facts are its own, count inside it, and no user_id reaches them", async () => {
  ok(await encode("ada", "PREF.tone", "dry"));
  const task = ok(
    await encode("ada", "TASK.current", "weave", { project: "loom-1/feature-x", details: true }),
  );
  assert.equal(task.place, "worktree");
  assert.equal(
    ok(await encode("ada", "PROJ.goal", "cloth", { project: "loom-1/feature-x", details: true })).place,
    "project",
  );
  ok(await encode("ada", "PREF.tone", "warm", { project: "loom-1", scope: "project" }));
  assert.deepEqual(await factsOf("ada"), ["PREF.tone=dry"]);
  assert.deepEqual(await factsOf("ada", "loom-1"), ["PREF.tone=warm", "PROJ.goal=cloth"]);
  assert.deepEqual(await factsOf("ada", "loom-1/feature-x"), [
    "PREF.tone=warm",
    "TASK.current=weave",
    "PROJ.goal=cloth",
  ]);
  for (const user of ["ada/loom-1", "ada/loom-1/feature-x", "ada ", "loom-1"])
    assert.deepEqual(await factsOf(user), []);
  const context = ok(await get("/context", { user_id: "ada", project: "loom-1/feature-x", details: "true" }));
  assert.equal(context.plain_index, "PREF.tone=warm\nTASK.current=weave\nPROJ.goal=cloth");
  assert.deepEqual([context.project, context.overflow], ["loom-1/feature-x", []]);
  const read = (project: object) => post("/read", { user_id: "ada", block: context.fdm_block, ...project });
  assert.equal(ok(await read({ project: "loom-1/feature-x" })).facts.length, 3);
  assert.equal(problemCode(await read({})), "422 block_unreadable");
  for (const project of ["", "a/b/c", "/a", "a/", "x".repeat(101), "a\u0001"])
    assert.equal(problemCode(await get("/facts", { user_id: "ada", project })), "400 invalid_request");
  ok(await memory.running.call("DELETE", "/users?user_id=ada&project=loom-1"));
  assert.deepEqual(await factsOf("ada", "loom-1/feature-x"), ["PREF.tone=dry"]);
});

test("the index alone does no block work", async () => {
  ok(await encode("light", "USER.name", "Ada"));
  const { scheduler } = memory.running.service.core.blockWork as unknown as { scheduler?: unknown };
  assert.equal(scheduler, undefined);
  // But for those in the background, which the write may have led to.
  const tasks = async () => {
    const { text } = await memory.running.call("GET", "/metrics", { key: null });
    return [...text.matchAll(/^sideband_block_tasks_total\{(?!kind="background").*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  };
  const before = await tasks();
  const index = ok(await get("/context", { user_id: "light", include: "index" }));
  assert.deepEqual([index.fdm_block, index.plain_index], ["", "USER.name=Ada"]);
  assert.equal(await tasks(), before);
  const block = ok(await get("/context", { user_id: "light", include: "block" }));
  assert.ok(block.fdm_block.startsWith("[MEM] "));
  assert.equal(block.plain_index, "");
  assert.ok((await tasks()) > before, "the count counts");
});

test("a fact is gone to the second, from caches and entity tags too, at the month's turn", async () => {
  clock.ms = START;
  ok(await encode("brief", "USER.name", "Ada"));
  ok(await encode("brief", "TASK.next", "short", { ttl_s: 10 }));
  const until = await encode("brief", "TASK.current", "until", { expires_at: "2026-12-01T00:00:00+00:00" });
  assert.equal(until.status, 200);
  const first = await get("/context", { user_id: "brief" });
  const etag = first.headers.get("etag")!;
  const again = (headers: Record<string, string>) =>
    memory.running.call("GET", "/context?user_id=brief", { headers });
  clock.ms = START + 9_999;
  assert.equal((await again({ "if-none-match": etag })).status, 304);
  assert.equal((await factsOf("brief")).length, 3);
  clock.ms = START + 10_000;
  const later = await again({ "if-none-match": etag });
  assert.deepEqual([later.status, later.json?.plain_index], [200, "USER.name=Ada"]);
  assert.equal(
    problemCode(await get("/decode", { user_id: "brief", label: "TASK.next" })),
    "404 fact_not_found",
  );
  const { facts } = ok(await post("/read", { user_id: "brief", block: first.json.fdm_block }));
  assert.deepEqual(
    facts.map(({ label, mark }: { label: string; mark: string }) => `${label} ${mark}`),
    ["USER.name current", "TASK.current expired", "TASK.next expired"],
  );
  assert.equal(ok(await encode("brief", "USER.os", "x")).channel_count, 2);
  for (const [more, param] of [
    [{ ttl_s: 0 }, "ttl_s"],
    [{ ttl_s: 315_360_001 }, "ttl_s"],
    [{ ttl_s: 5, expires_at: "2027-01-01T00:00:00Z" }, "ttl_s"],
    [{ expires_at: "2027-01-01T00:00:00" }, "expires_at"],
    [{ expires_at: "2026-01-01T00:00:00Z" }, "expires_at"],
  ] as const) {
    const answer = await encode("brief", "TASK.next", "x", more);
    assert.deepEqual([problemCode(answer), answer.json.param], ["400 invalid_request", param]);
  }
});

test("If-Match writes only on the revision that it names, If-None-Match only where there is none", async () => {
  const first = await encode("cas", "USER.name", "a");
  const etag = first.headers.get("etag")!;
  assert.equal((await get("/decode", { user_id: "cas", label: "USER.name" })).headers.get("etag"), etag);
  const body = { user_id: "cas", label: "USER.name", value: "b" };
  const second = await post("/encode", body, { "if-match": etag });
  assert.equal(second.status, 200);
  const refused = await post("/encode", { ...body, value: "c" }, { "if-match": etag });
  assert.equal(problemCode(refused), "412 revision_mismatch");
  assert.equal(refused.json.present.value, "b");
  assert.equal(refused.json.param, "If-Match");
  const writes: [string, object][] = [
    ["/encode", body],
    ["/facts/append", { user_id: "cas", label: "USER.name", item: "c" }],
    ["/facts/remove", { user_id: "cas", label: "USER.name", item: "b" }],
    ["/facts/restore", { user_id: "cas", label: "USER.name", revision: Number(etag.slice(1, -1)) }],
    ["/facts/rename", { user_id: "cas", label: "USER.name", to: "USER.role" }],
  ];
  for (const [path, written] of writes) {
    const there = await post(path, written, { "if-none-match": "*" });
    assert.deepEqual(
      [problemCode(there), there.json.param],
      ["412 revision_mismatch", "If-None-Match"],
      path,
    );
  }
  const kept = await memory.running.call("DELETE", "/facts?user_id=cas&label=USER.name", {
    headers: { "if-none-match": "*" },
  });
  assert.deepEqual([problemCode(kept), kept.json.param], ["412 revision_mismatch", "If-None-Match"]);
  assert.equal((await post("/encode", { ...body, label: "USER.os" }, { "if-none-match": "*" })).status, 200);
  for (const header of ["17", '"x"', "*", 'W/"1"'])
    assert.equal(problemCode(await post("/encode", body, { "if-match": header })), "400 invalid_request");
  const gone = await memory.running.call("DELETE", "/facts?user_id=cas&label=USER.name", {
    headers: { "if-match": etag },
  });
  assert.equal(problemCode(gone), "412 revision_mismatch");
  const batch = await post("/encode/batch", {
    user_id: "cas",
    facts: [
      { label: "USER.role", value: "x", if_revision: 0 },
      { label: "USER.name", value: "y", if_revision: 1 },
    ],
  });
  assert.equal(problemCode(batch), "412 revision_mismatch");
  assert.equal(batch.json.param, "facts[1].if_revision");
  assert.equal(gone.json.param, "If-Match");
  assert.deepEqual(await factsOf("cas"), ["USER.name=b", "USER.os=b"]);
});

test("twenty appends at once are all there; an item is there once; a full list says its items", async () => {
  const append = (item: string, more: object = {}) =>
    post("/facts/append", { user_id: "list", label: "PREF.tools", item, ...more });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => append(`tool ${i}`)));
  for (const answer of answers) ok(answer);
  const value = () => get("/decode", { user_id: "list", label: "PREF.tools" }).then(({ json }) => json.value);
  assert.deepEqual(
    (await value()).split("; ").sort(),
    Array.from({ length: 20 }, (_, i) => `tool ${i}`).sort(),
  );
  ok(await append("tool 3"));
  assert.equal((await value()).split("; ").length, 20);
  assert.equal(problemCode(await append("a; b")), "400 invalid_value");
  const full = await append("x".repeat(900));
  assert.deepEqual([problemCode(full), full.json.items.length], ["400 invalid_value", 20]);
  const remove = (item: string) => post("/facts/remove", { user_id: "list", label: "PREF.tools", item });
  for (let i = 1; i < 20; i++) ok(await remove(`tool ${i}`));
  assert.equal(problemCode(await remove("tool 1")), "404 fact_not_found");
  assert.deepEqual(ok(await remove("tool 0")), {
    status: "ok",
    label: "PREF.tools",
    value: "",
    channel: 16,
    channel_count: 0,
  });
  assert.equal(
    problemCode(await get("/decode", { user_id: "list", label: "PREF.tools" })),
    "404 fact_not_found",
  );
});

test("a fact's history is kept, shown, restored and taken along", async () => {
  for (const [i, value] of ["one", "two", "three"].entries()) {
    clock.ms += 1000;
    ok(await encode("past", "PREF.tone", value, { written_by: `agent ${i}`, session_id: `s${i}` }));
  }
  const history = () => get("/facts/history", { user_id: "past", label: "PREF.tone" });
  const { revisions } = ok(await history());
  assert.deepEqual(rowsOf(revisions, "value", "written_by", "session_id", "ended"), [
    ["three", "agent 2", "s2", undefined],
    ["two", "agent 1", "s1", "replaced"],
    ["one", "agent 0", "s0", "replaced"],
  ]);
  const restore = (revision: number) =>
    post("/facts/restore", { user_id: "past", label: "PREF.tone", revision, details: true });
  const restored = ok(await restore(revisions[2].revision));
  assert.deepEqual(
    [restored.value, restored.previous.value, restored.previous.written_by],
    ["one", "three", "agent 2"],
  );
  assert.equal(problemCode(await restore(999_999_999)), "404 not_found");
  ok(await memory.running.call("DELETE", "/facts?user_id=past&label=PREF.tone&keep_history=true"));
  assert.equal(ok(await history()).revisions[0].ended, "forgotten");
  ok(await memory.running.call("DELETE", "/facts?user_id=past&label=PREF.tone"));
  assert.equal(problemCode(await history()), "404 fact_not_found");
});

test("what changed is listed page by page, and a user goes back to a moment, all or none", async () => {
  const user_id = "back";
  ok(await encode(user_id, "USER.name", "Ada"));
  ok(await encode(user_id, "PROJ.goal", "cloth", { project: "loom" }));
  clock.ms += 1000;
  const to = new Date(clock.ms).toISOString();
  clock.ms += 1000;
  ok(await encode(user_id, "USER.name", "Eve", { written_by: "intruder" }));
  ok(await encode(user_id, "USER.os", "new"));
  ok(
    await memory.running.call(
      "DELETE",
      `/facts?user_id=${user_id}&label=PROJ.goal&project=loom&keep_history=true`,
    ),
  );
  const page = ok(await get("/users/history", { user_id, since: to, limit: "2" }));
  const rest = ok(await get("/users/history", { user_id, since: to, limit: "2", cursor: page.next_cursor }));
  assert.deepEqual(
    rowsOf([...page.changes, ...rest.changes], "label", "kind", "project", "written_by", "was"),
    [
      ["USER.os", "written", undefined, undefined, undefined],
      // Its value before is older than all that is listed.
      ["USER.name", "written", undefined, "intruder", "Ada"],
      ["PROJ.goal", "forgotten", "loom", undefined, undefined],
    ],
  );
  assert.equal(rest.next_cursor, null);
  const plan = ok(await post("/users/rollback", { user_id, to, dry_run: true }));
  assert.equal(plan.status, "planned");
  assert.deepEqual(plan.changes, [
    { label: "USER.name", from: "Eve", to: "Ada" },
    { label: "USER.os", from: "new", to: null },
    { label: "PROJ.goal", project: "loom", from: null, to: "cloth" },
  ]);
  assert.deepEqual(await factsOf(user_id), ["USER.name=Eve", "USER.os=new"]);
  assert.equal(ok(await post("/users/rollback", { user_id, to })).status, "ok");
  assert.deepEqual(await factsOf(user_id, "loom"), ["USER.name=Ada", "PROJ.goal=cloth"]);
  // Of what was written at one time, only what has not changed since goes back, and nothing that came later.
  const before = new Date(clock.ms).toISOString();
  clock.ms += 1000;
  const imported = { user_id, facts: ["USER.os", "USER.gpu"].map((label) => ({ label, value: "imported" })) };
  ok(await post("/encode/batch", imported));
  const unchanged_since = new Date(clock.ms).toISOString();
  clock.ms += 1000;
  ok(await encode(user_id, "USER.gpu", "changed"));
  ok(await encode(user_id, "USER.language", "later"));
  const partly = ok(await post("/users/rollback", { user_id, to: before, unchanged_since }));
  assert.deepEqual(partly, {
    status: "ok",
    changes: [{ label: "USER.os", from: "imported", to: null }],
    unreached: [],
    changed_since: [{ label: "USER.gpu" }],
    at: new Date(clock.ms).toISOString(),
  });
  const left = ["USER.name=Ada", "USER.gpu=changed", "USER.language=later"];
  assert.deepEqual(await factsOf(user_id), left);
  const wrong = await post("/users/rollback", { user_id, to: before, unchanged_since: "soon" });
  assert.equal(problemCode(wrong), "400 invalid_request");
  for (let i = 0; i < 12; i++) {
    clock.ms += 1000;
    ok(await encode(user_id, "USER.role", `role ${i}`));
  }
  const early = new Date(clock.ms - 11_500).toISOString();
  const unreached = ok(await post("/users/rollback", { user_id, to: early }));
  assert.deepEqual([unreached.status, unreached.unreached], ["unreached", [{ label: "USER.role" }]]);
  const future = await post("/users/rollback", { user_id, to: "2100-01-01T00:00:00Z" });
  assert.equal(problemCode(future), "400 invalid_request");
});

test("a project is moved to another with its worktrees and its history, and that does not count", async () => {
  const user_id = "mover";
  const first = ok(await encode(user_id, "PROJ.goal", "cloth", { project: "old", details: true }));
  ok(await encode(user_id, "PROJ.goal", "silk", { project: "old" }));
  ok(await encode(user_id, "TASK.current", "weave", { project: "old/spike" }));
  const used = ok(await memory.running.call("GET", "/usage")).used;
  const move = (from: string, to: string) => post("/users/move", { user_id, from, to });
  assert.deepEqual(ok(await move("old", "new")), { status: "ok", moved: 2 });
  assert.deepEqual(await factsOf(user_id, "new/spike"), ["TASK.current=weave", "PROJ.goal=silk"]);
  assert.deepEqual(await factsOf(user_id, "old/spike"), []);
  const { revisions } = ok(await get("/facts/history", { user_id, label: "PROJ.goal", project: "new" }));
  assert.deepEqual(fieldsOf(revisions, "value"), ["silk", "cloth"]);
  // What was printed before, to restore an earlier value, still names it.
  assert.equal(revisions[1].revision, first.revision);
  assert.deepEqual(ok(await move("old", "new")), { status: "ok", moved: 0 });
  assert.equal(ok(await memory.running.call("GET", "/usage")).used, used);
  assert.equal(problemCode(await move("new/spike", "old")), "400 invalid_request");
});

test("the users of an account are listed with their projects, page by page", async () => {
  const key = await memory.running.newKey("listed");
  for (const user_id of ["a", "b", "c/d"]) {
    const body = { user_id, label: "TASK.current", value: "x", project: "p/w" };
    ok(await memory.running.call("POST", "/encode", { key, body }));
  }
  const list = async (query: string) => ok(await memory.running.call("GET", `/users${query}`, { key }));
  const { users, next_cursor } = await list("?limit=2");
  assert.deepEqual(users[0], {
    user_id: "a",
    projects: ["p/w"],
    channel_count: 0,
    updated_at: new Date(clock.ms).toISOString(),
  });
  const last = await list(`?limit=2&cursor=${next_cursor}`);
  assert.deepEqual(
    [last.users.map(({ user_id }: { user_id: string }) => user_id), last.next_cursor],
    [["c/d"], null],
  );
  assert.deepEqual((await list("?prefix=c")).users.length, 1);
  const wrong = await memory.running.call("GET", "/users?cursor=no!cursor");
  assert.deepEqual([wrong.status, wrong.json.param], [400, "cursor"]);
});
