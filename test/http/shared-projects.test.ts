/** Shared projects: what members read and write together, who writes what, and who does not any more. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, rowsOf } from "../fixtures/fields.ts";
import { memoryService, ok } from "./memory-calls.ts";
import { type Answer, problemCode } from "./running-service.ts";

const memory = memoryService();
let count = 0;

/** A project of its own for each test. */
function team(...members: string[]) {
  count += 1;
  const project = `loom-${count}`;
  const call = (method: string, path: string, body?: object, key?: string): Promise<Answer> =>
    memory.running.call(method, path, { ...(body && { body }), ...(key && { key }) });
  const put = (body: object, key?: string) => call("PUT", `/projects/${project}`, body, key);
  const encode = (user_id: string, label: string, value: string, more: object = {}, key?: string) =>
    call("POST", "/encode", { user_id, label, value, project, details: true, ...more }, key);
  const get = async (path: string, query: Record<string, string>, key?: string) =>
    call("GET", `${path}?${new URLSearchParams({ project, ...query })}`, undefined, key);
  /** Without the person's own, which further tests have written, too. */
  const facts = async (user_id: string) =>
    (ok(await get("/facts", { user_id, details: "true" })).facts as Record<string, unknown>[]).flatMap(
      ({ label, value, place, user_id: author }) =>
        place === "person" ? [] : [[label, value, place, author].filter(Boolean).join(" ")],
    );
  const share = (more: object = {}) =>
    put({ shared: true, ...(members.length === 0 ? {} : { members }), ...more });
  return { project, call, put, encode, get, facts, share };
}

test("members read and write the same facts; what is a person's, or a worktree's, stays theirs", async () => {
  const { share, encode, facts, get } = team("ada", "bo");
  assert.deepEqual(ok(await share()).members, ["ada", "bo"]);
  const written = ok(await encode("ada", "PROJ.goal", "Ship it", { written_by: "codex" }));
  assert.deepEqual([written.place, written.previous, written.channel_count], ["shared", null, 1]);
  ok(await encode("ada", "TASK.current", "mine alone"));
  ok(await encode("ada", "USER.name", "Ada"));
  assert.deepEqual(await facts("ada"), ["TASK.current mine alone own", "PROJ.goal Ship it shared ada"]);
  assert.equal(ok(await get("/decode", { user_id: "ada", label: "USER.name" })).value, "Ada");
  assert.deepEqual(await facts("bo"), ["PROJ.goal Ship it shared ada"]);
  assert.equal(
    problemCode(await get("/decode", { user_id: "bo", label: "USER.name" })),
    "404 fact_not_found",
  );
  assert.deepEqual(await facts("eve"), []);
  const again = ok(await encode("bo", "PROJ.goal", "Ship it well"));
  assert.deepEqual([again.previous.value, again.previous.user_id], ["Ship it", "ada"]);
  const history = ok(await get("/facts/history", { user_id: "ada", label: "PROJ.goal" }));
  assert.equal(history.place, "shared");
  assert.deepEqual(rowsOf(history.revisions, "value", "user_id"), [
    ["Ship it well", "bo"],
    ["Ship it", "ada"],
  ]);
  const decoded = ok(await get("/decode", { user_id: "ada", label: "PROJ.goal", details: "true" }));
  assert.deepEqual(
    [decoded.user_id, decoded.value, decoded.written_by_user_id],
    ["ada", "Ship it well", "bo"],
  );
  const { changes } = ok(await get("/users/history", { user_id: "ada" }));
  assert.ok(
    changes.some(
      (one: Record<string, unknown>) =>
        one.place === "shared" && one.user_id === "bo" && one.was === "Ship it",
    ),
  );
  const found = ok(await get("/facts/find", { user_id: "bo", q: "ship" })).facts[0];
  assert.deepEqual([found.place, found.user_id], ["shared", "bo"]);
  const context = ok(await get("/context", { user_id: "bo", include: "index" }));
  assert.equal(context.plain_index, "PROJ.goal=Ship it well");
});

test("a block has what is shared, and is another one when a colleague has written", async () => {
  const { share, encode, get } = team("ada", "bo");
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "one"));
  const first = ok(await get("/context", { user_id: "bo" }));
  assert.match(first.fdm_block, /^\[MEM\]/);
  assert.equal(ok(await get("/context", { user_id: "bo" })).fdm_block, first.fdm_block);
  ok(await encode("ada", "PROJ.goal", "two"));
  const second = ok(await get("/context", { user_id: "bo" }));
  assert.equal(second.plain_index, "PROJ.goal=two");
  assert.notEqual(second.fdm_block, first.fdm_block);
  ok(await encode("bo", "PROJ.goal", "mine", { scope: "own" }));
  assert.equal(ok(await get("/context", { user_id: "bo" })).plain_index, "PROJ.goal=mine");
});

test("a fact of one's own hides the team's, which is still told, and comes back", async () => {
  const { share, encode, facts, get, call, project } = team("ada", "bo");
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "the team's"));
  const own = ok(await encode("bo", "PROJ.goal", "my own", { scope: "own" }));
  assert.equal(own.place, "own");
  assert.deepEqual(await facts("bo"), ["PROJ.goal my own own"]);
  const [fact] = ok(await get("/facts", { user_id: "bo", details: "true" })).facts;
  assert.deepEqual([fact.hides.value, fact.hides.user_id], ["the team's", "ada"]);
  assert.deepEqual(await facts("ada"), ["PROJ.goal the team's shared ada"]);
  const query = new URLSearchParams({ user_id: "bo", label: "PROJ.goal", project });
  ok(await call("DELETE", `/facts?${query}`));
  assert.deepEqual(await facts("bo"), ["PROJ.goal the team's shared ada"]);
  // What is shown with a place goes back there.
  assert.equal(ok(await encode("bo", "PROJ.goal", "both's", { scope: "shared" })).place, "shared");
  const elsewhere = await encode("eve", "PROJ.goal", "x", { scope: "shared" });
  assert.equal(problemCode(elsewhere), "403 not_a_member");
});

test("a removed member reads and writes nothing from the next call on, and a name that looks alike is another project", async () => {
  const { share, encode, facts, put, project, call } = team("ada", "bo");
  ok(await share());
  ok(await encode("bo", "PROJ.goal", "bo's"));
  ok(await put({ shared: true, members: ["ada"] }));
  assert.deepEqual(await facts("bo"), []);
  // It is bo's own now, and nobody else's.
  assert.equal(ok(await encode("bo", "PROJ.goal", "alone")).place, "project");
  assert.deepEqual(await facts("ada"), ["PROJ.goal bo's shared bo"]);
  for (const other of [`${project} `, project.toUpperCase(), `${project}2`, `x${project}`])
    assert.equal(ok(await encode("ada", "PROJ.goal", "x", { project: other })).place, "project", other);
  for (const bad of ["a%2Fb", "%01project%01a", "a%00", "x".repeat(101)])
    assert.equal(
      problemCode(await call("PUT", `/projects/${bad}`, { shared: true })),
      "400 invalid_request",
      bad,
    );
  const hidden = `\u0001project\u0001${project}`;
  for (const user_id of [hidden, "\u0002"])
    assert.equal(problemCode(await encode(user_id, "PROJ.goal", "x")), "400 invalid_request");
  const found = await call("GET", `/facts?${new URLSearchParams({ user_id: hidden })}`);
  assert.equal(problemCode(found), "400 invalid_request");
});

test("rights: a bound key, one without the group, one that only reads, members that only read", async () => {
  const { share, encode, put, project, call, facts, get } = team("ada", "bo");
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "seen"));
  const create = async (terms: object) =>
    (await memory.running.service.core.keys.create({ account: "acme", ...terms })).key;
  const bo = await create({ user: "bo" });
  assert.equal(ok(await encode("bo", "PROJ.status", "bound", {}, bo)).place, "shared");
  for (const [method, body] of [
    ["PUT", { shared: true }],
    ["DELETE", undefined],
  ] as const)
    assert.equal(problemCode(await call(method, `/projects/${project}`, body, bo)), "403 user_not_allowed");
  const seen = ok(await call("GET", `/projects/${project}`, undefined, bo));
  assert.deepEqual([seen.members, seen.facts], [undefined, 2]);
  const eve = await create({ user: "eve" });
  assert.equal(problemCode(await call("GET", `/projects/${project}`, undefined, eve)), "404 not_found");
  assert.ok(
    !ok(await call("GET", "/projects", undefined, eve)).projects.some(
      (p: Record<string, unknown>) => p.project === project,
    ),
  );
  assert.ok(
    ok(await call("GET", "/projects", undefined, bo)).projects.some(
      (p: Record<string, unknown>) => p.project === project,
    ),
  );
  const users = await create({ groups: "USER" });
  assert.deepEqual(ok(await get("/facts", { user_id: "bo" }, users)).facts, []);
  assert.equal(problemCode(await encode("bo", "PROJ.goal", "x", {}, users)), "403 group_not_allowed");
  const patterns = await create({ write: ["PROJ.status"] });
  assert.equal(problemCode(await encode("bo", "PROJ.goal", "x", {}, patterns)), "403 label_not_allowed");
  const reading = await create({ access: "read", user: "bo" });
  assert.equal(problemCode(await encode("bo", "PROJ.goal", "x", {}, reading)), "403 read_only_key");
  assert.equal(ok(await get("/facts", { user_id: "bo" }, reading)).facts.length, 2);
  ok(await put({ shared: true, access: "read" }));
  const refused = await encode("bo", "PROJ.goal", "x");
  assert.equal(problemCode(refused), "403 not_a_member");
  assert.match(refused.json.detail, /only read/);
  ok(await encode("bo", "TASK.next", "still mine"));
  assert.deepEqual(await facts("ada"), ["PROJ.status bound shared bo", "PROJ.goal seen shared ada"]);
  const roll = { user_id: "bo", project, scope: "project", to: "2026-11-18T11:00:00Z" };
  assert.equal(problemCode(await call("POST", "/users/rollback", roll)), "403 not_a_member");
});

test("two accounts with the same project share nothing", async () => {
  const { share, encode, facts, project, call } = team();
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "ours"));
  const { key } = await memory.running.service.core.keys.create({ account: "globex" });
  assert.deepEqual(ok(await call("GET", `/facts?user_id=ada&project=${project}`, undefined, key)).facts, []);
  assert.equal(problemCode(await call("GET", `/projects/${project}`, undefined, key)), "404 not_found");
  ok(await call("PUT", `/projects/${project}`, { shared: true }, key));
  assert.equal(ok(await encode("ada", "PROJ.goal", "theirs", {}, key)).previous, null);
  assert.deepEqual(await facts("zoe"), ["PROJ.goal ours shared ada"]);
  ok(await call("DELETE", `/projects/${project}`, undefined, key));
  assert.deepEqual(await facts("zoe"), ["PROJ.goal ours shared ada"]);
});

test("a batch over both is all or none, and of two writers of one revision one is told of the other", async () => {
  const { share, encode, facts, call, project } = team("ada", "bo");
  ok(await share());
  const { revision } = ok(await encode("ada", "PROJ.goal", "first"));
  const batch = (user_id: string, value: string, if_revision: number) =>
    call("POST", "/encode/batch", {
      ...{ user_id, project, details: true },
      facts: [
        { label: "USER.name", value },
        { label: "PROJ.goal", value, if_revision },
      ],
    });
  const results = await Promise.all([batch("ada", "a", revision), batch("bo", "b", revision)]);
  assert.deepEqual(results.map(({ status }) => status).sort(), [200, 412]);
  const won = results[0]!.status === 200 ? "ada" : "bo";
  const lost = won === "ada" ? "bo" : "ada";
  const present = results.find(({ status }) => status === 412)!.json.present;
  assert.equal(present.value, won[0]);
  assert.ok((await facts(lost)).every((fact) => !fact.startsWith("USER.name")));
  const stored = results.find(({ status }) => status === 200)!.json;
  assert.deepEqual(rowsOf(stored.facts, "label", "place"), [
    ["USER.name", "person"],
    ["PROJ.goal", "shared"],
  ]);
  assert.equal(stored.channel_count, 2);
  // A revision of the one memory is none of the other.
  const own = ok(await encode(won, "PROJ.goal", "own", { scope: "own" }));
  assert.notEqual(own.revision, revision);
});

test("a repeated request is answered as before, with the revisions of both memories", async () => {
  const { share, project } = team("ada");
  ok(await share());
  const send = () =>
    memory.post(
      "/encode/batch",
      {
        ...{ user_id: "ada", project, details: true },
        facts: [
          { label: "USER.os", value: "Linux" },
          { label: "PROJ.stack", value: "Rust" },
        ],
      },
      { "idempotency-key": `k-${project}` },
    );
  const [first, second] = [ok(await send()), ok(await send())];
  assert.deepEqual(second, first);
});

test("a request from before a project was shared is answered with where its fact is, and not as if it had been shared", async () => {
  const { share, facts, project } = team("ada");
  const body = { user_id: "ada", project, label: "PROJ.goal", value: "mine", details: true };
  const send = async () => ok(await memory.post("/encode", body, { "idempotency-key": `before-${project}` }));
  const first = await send();
  assert.equal(first.place, "project");
  ok(await share());
  assert.deepEqual(await send(), { ...first, place: "own" });
  assert.deepEqual(await facts("ada"), ["PROJ.goal mine own"]);
});

test("sharing takes along what is named, or all but a worktree's, with its history; giving back likewise", async () => {
  const { encode, put, facts, get, share, call, project } = team("ada", "bo");
  ok(await encode("ada", "PROJ.goal", "old"));
  ok(await encode("ada", "PROJ.goal", "new", { written_by: "codex" }));
  ok(await encode("ada", "PROJ.status", "green"));
  ok(await encode("ada", "TASK.current", "mine"));
  ok(
    await encode("ada", "CREW.cook", "Grace", {
      scope: "project",
      new_label: true,
      description: "Who cooks",
    }),
  );
  const planned = ok(await share({ take: { user_id: "ada" }, dry_run: true }));
  assert.deepEqual(fieldsOf(planned.taken, "label"), ["CREW.cook", "PROJ.goal", "PROJ.status"]);
  assert.equal(problemCode(await call("GET", `/projects/${project}`)), "404 not_found");
  ok(await share());
  assert.deepEqual(await facts("bo"), [], "nothing becomes shared by itself");
  assert.equal(problemCode(await put({ shared: true, take: { user_id: "eve" } })), "403 not_a_member");
  const missing = { shared: true, take: { user_id: "ada", labels: ["PROJ.goal", "PROJ.repo"] } };
  assert.equal(problemCode(await put(missing)), "404 fact_not_found");
  assert.deepEqual(await facts("bo"), []);
  const taken = ok(await put({ shared: true, take: { user_id: "ada", labels: ["PROJ.goal"] } }));
  assert.deepEqual([taken.taken, taken.facts], [[{ label: "PROJ.goal", value: "new" }], 1]);
  ok(await put({ shared: true, take: { user_id: "ada" } }));
  assert.deepEqual(await facts("bo"), [
    "PROJ.status green shared ada",
    "PROJ.goal new shared ada",
    "CREW.cook Grace shared ada",
  ]);
  assert.ok((await facts("ada")).includes("TASK.current mine own"));
  const described = ok(await get("/facts", { user_id: "bo", details: "true" })).facts.at(-1);
  assert.equal(described.description, "Who cooks");
  const history = ok(await get("/facts/history", { user_id: "bo", label: "PROJ.goal" }));
  assert.deepEqual(rowsOf(history.revisions, "value", "user_id", "written_by"), [
    ["new", "ada", "codex"],
    ["old", "ada", undefined],
  ]);
  ok(await encode("bo", "PROJ.status", "red"));
  const refused = await put({ shared: false });
  assert.equal(problemCode(refused), "409 project_has_facts");
  assert.equal(problemCode(await put({ shared: false, give_to: "eve" })), "403 not_a_member");
  const given = ok(await put({ shared: false, give_to: "bo" }));
  assert.deepEqual([given.shared, given.given, given.facts], [false, 3, 0]);
  assert.deepEqual(await facts("bo"), [
    "PROJ.status red project",
    "PROJ.goal new project",
    "CREW.cook Grace project",
  ]);
  assert.deepEqual(await facts("ada"), ["TASK.current mine project"]);
  assert.equal(problemCode(await put({ shared: false })), "404 not_found");
});

test("an erased person's name goes from what is shared, now and before, and from the members, and the facts stay", async () => {
  const { encode, share, facts, get, call, project } = team("cleo", "bo");
  ok(await share());
  ok(await encode("cleo", "PROJ.goal", "cleo's", { session_id: "cleo-at-home" }));
  ok(await encode("bo", "PROJ.goal", "bo's"));
  ok(await encode("cleo", "PROJ.status", "green"));
  ok(await encode("cleo", "USER.name", "Cleo"));
  const erased = ok(await call("DELETE", "/users?user_id=cleo&details=true"));
  assert.deepEqual(fieldsOf(erased.left, "values"), [2]);
  assert.match(erased.left[0].why, /shared/);
  assert.deepEqual(ok(await call("GET", `/projects/${project}`)).members, ["bo"]);
  assert.deepEqual(await facts("bo"), ["PROJ.status green shared", "PROJ.goal bo's shared bo"]);
  const history = (await get("/facts/history", { user_id: "bo", label: "PROJ.goal" })).text;
  assert.doesNotMatch(history, /cleo-at-home|"cleo"/);
  assert.equal(problemCode(await call("DELETE", "/users?user_id=cleo&details=true")), "404 not_found");
  // Who has only written shared facts can be erased, too.
  ok(await share());
  ok(await encode("cleo", "PROJ.goal", "again"));
  assert.equal(ok(await call("DELETE", "/users?user_id=cleo&details=true")).left[0].values, 1);
  assert.doesNotMatch((await get("/facts", { user_id: "bo" })).text, /cleo/);
});

test("who has forgotten or renamed a shared fact is told, until that person is erased", async () => {
  const { encode, share, get, call, project } = team("dora", "bo");
  ok(await share());
  for (const label of ["PROJ.goal", "PROJ.status", "PROJ.stack"]) ok(await encode("bo", label, "bo's"));
  const forget = (more: string) =>
    call("DELETE", `/facts?user_id=dora&project=${project}&label=PROJ.goal&keep_history=true${more}`);
  ok(await forget(""));
  ok(
    await call("POST", "/facts/rename", { user_id: "dora", project, label: "PROJ.stack", to: "PROJ.deploy" }),
  );
  memory.clock.ms += 1_000;
  // What is the person's own has no second name, as ever.
  ok(await encode("dora", "PROJ.status", "hers", { scope: "own" }));
  ok(
    await call(
      "DELETE",
      `/facts?user_id=dora&project=${project}&label=PROJ.status&scope=own&keep_history=true`,
    ),
  );
  const changes = async () =>
    (ok(await get("/users/history", { user_id: "bo" })).changes as Record<string, unknown>[])
      .filter(({ kind }) => kind !== "written")
      .map(({ label, kind, user_id: by }) => [label, kind, by]);
  const told = [
    ["PROJ.deploy", "renamed", "dora"],
    ["PROJ.goal", "forgotten", "dora"],
  ];
  assert.deepEqual((await changes()).sort(), told);
  const own = (await get("/users/history", { user_id: "dora" })).json.changes as Record<string, unknown>[];
  assert.deepEqual(
    own.filter(({ kind, place }) => kind === "forgotten" && place !== "shared").map(({ user_id: by }) => by),
    [undefined],
  );
  const erased = ok(await call("DELETE", "/users?user_id=dora&details=true"));
  assert.equal(erased.left[0].values, 2);
  assert.deepEqual(
    (await changes()).sort(),
    told.map((change) => [...change.slice(0, 2), undefined]),
  );
});

test("a rollback of the person never touches what is shared; one with the scope does that alone", async () => {
  const { encode, share, facts, call, project } = team("ada", "bo");
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "before"));
  ok(await encode("ada", "TASK.next", "mine before"));
  const to = new Date(memory.clock.ms).toISOString();
  memory.clock.ms += 60_000;
  ok(await encode("bo", "PROJ.goal", "after"));
  ok(await encode("ada", "TASK.next", "mine after"));
  const roll = (more: object) => call("POST", "/users/rollback", { user_id: "ada", project, to, ...more });
  assert.deepEqual(rowsOf(ok(await roll({})).changes, "label", "place"), [["TASK.next", undefined]]);
  assert.ok((await facts("ada")).includes("PROJ.goal after shared bo"));
  assert.deepEqual(ok(await roll({ scope: "project" })).changes, [
    { label: "PROJ.goal", project, place: "shared", from: "after", to: "before" },
  ]);
  assert.ok((await facts("bo")).includes("PROJ.goal before shared ada"));
  assert.equal(problemCode(await roll({ scope: "project", user_id: "eve" })), "403 not_a_member");
  assert.equal(problemCode(await roll({ scope: "project", project: undefined })), "400 invalid_request");
});

test("no list of persons has a project's hidden user, and erasing the project leaves nothing", async () => {
  const { encode, share, facts, call, project } = team();
  ok(await share());
  ok(await encode("ada", "PROJ.goal", "x"));
  const cursor = Buffer.from("\u0001").toString("base64url");
  for (const query of ["", "?prefix=%01", `?cursor=${cursor}`, "?limit=200"])
    assert.doesNotMatch((await call("GET", `/users${query}`)).text, /\\u0001|project\\u/, query);
  assert.equal(ok(await call("DELETE", `/projects/${project}`)).erased, 1);
  assert.equal(problemCode(await call("DELETE", `/projects/${project}`)), "404 not_found");
  ok(await share());
  assert.deepEqual(await facts("ada"), []);
});

test("what is asked of a project is refused with its field where it does not fit", async () => {
  const { put, project, call } = team();
  const refused = async (body: object, param: string) => {
    const answer = await put(body);
    assert.deepEqual(
      [problemCode(answer), answer.json.param],
      ["400 invalid_request", param],
      JSON.stringify(body),
    );
  };
  await refused({}, "shared");
  await refused({ shared: "yes" }, "shared");
  await refused({ shared: true, member: ["a"] }, "member");
  await refused({ shared: true, members: ["a", "a"] }, "members");
  await refused({ shared: true, members: ["a\n"] }, "members");
  await refused({ shared: true, members: Array.from({ length: 1_001 }, (_, i) => `u${i}`) }, "members");
  await refused({ shared: true, access: "none" }, "access");
  await refused({ shared: true, give_to: "ada" }, "give_to");
  await refused({ shared: false, take: { user_id: "ada" } }, "take");
  await refused({ shared: true, take: { user_id: "" } }, "take.user_id");
  assert.equal(problemCode(await call("GET", `/projects/${project}`)), "404 not_found");
});
