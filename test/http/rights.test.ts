/** Who may do what: bound keys, reading keys and tokens on every operation of the table, and what no name can reach. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation } from "../../src/contract/operation.ts";
import { OPERATION_EXAMPLES } from "../../src/contract/operation-examples.generated.ts";
import { OPERATIONS, type OperationId } from "../../src/contract/operations.ts";
import type { KeyAccess } from "../../src/memory/records.ts";
import { type Answer, problemCode, type Running, sharedRunning, startRunning } from "./running-service.ts";

const PAGE = "https://page.example";
const running = sharedRunning(() => startRunning({ SIDEBAND_ALLOWED_ORIGINS: PAGE }));

const call: Running["call"] = (...args) => running.call(...args);
const WITH_KEY = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([, { access }]) => access === "key",
);

async function newKey(user: string | null, access: KeyAccess = "write", account = "acme"): Promise<string> {
  return (await running.service.core.keys.create({ account, tier: "unlimited", user, access })).key;
}

async function newToken(user_id: string, access: KeyAccess = "write", key = running.key): Promise<string> {
  const { status, json } = await call("POST", "/tokens", { key, body: { user_id, access, ttl_s: 60 } });
  assert.equal(status, 200);
  return json.token;
}

function encode(key: string, user_id: string | undefined, value: string, project?: string) {
  const scope = project === undefined ? undefined : "project";
  return call("POST", "/encode", { key, body: { user_id, label: "USER.name", value, project, scope } });
}

/** Everything that is known of a user, in any place. */
async function allOf(user: string, project: string): Promise<string> {
  const name = encodeURIComponent(user);
  const places = ["", `&project=${project}`, `&project=${project}/x`];
  const texts = await Promise.all(
    places.map(async (place) => (await call("GET", `/facts?user_id=${name}${place}`)).text),
  );
  return texts.join("\n");
}

test("an operation that names a user is about it, and one that is neither a GET nor known to only read writes", () => {
  const reading: OperationId[] = ["flush", "read", "createToken"];
  const ofEveryKey: OperationId[] = ["usage", "usageDays", "users", "projects", "project"];
  for (const [id, { about, writes, query, body, method }] of WITH_KEY) {
    const names = [query, body].filter((schema) => schema !== undefined && "user_id" in propertiesOf(schema));
    assert.equal(about === "user", names.length === 1, id);
    assert.equal(about === "key", ofEveryKey.includes(id), id);
    assert.equal(writes, method !== "GET" && !reading.includes(id), id);
  }
});

function propertiesOf(schema: object): object {
  return (schema as { properties?: object }).properties ?? {};
}

/** The code of a refusal, or "passed". A stream is not read. */
async function outcomeOf(id: OperationId, key: string, user: string | undefined): Promise<string> {
  const { method, path } = OPERATIONS[id];
  const { params = {}, query = {}, body } = OPERATION_EXAMPLES[id];
  const named = <T extends object>(fields: T) => {
    const { user_id: _, ...others } = fields as T & { user_id?: string };
    return "user_id" in fields && user !== undefined ? { ...others, user_id: user } : others;
  };
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]);
  const search = new URLSearchParams(named(query) as Record<string, string>);
  const response = await fetch(`${running.url}${filled}?${search}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(named(body as object)) }),
  });
  if (response.status !== 403) {
    await response.body?.cancel();
    assert.notEqual(response.status, 401, id);
    assert.ok(user !== undefined || response.status !== 400, `${id} without user_id is ${response.status}`);
    return "passed";
  }
  return ((await response.json()) as { code: string }).code;
}

test("every operation: a bound key, a reading key and tokens may do what they are for, and nothing else", async () => {
  const bearers = [
    { access: "write", key: await newKey("bound") },
    { access: "read", key: await newKey("bound", "read") },
    { access: "write", key: await newToken("bound"), isToken: true },
    { access: "read", key: await newToken("bound", "read"), isToken: true },
  ] as const;
  await encode(running.key, "other", "a secret of another");
  const before = await allOf("other", "loom");
  for (const { access, key, ...bearer } of bearers)
    for (const user of ["bound", "other", undefined])
      await Promise.all(
        WITH_KEY.map(async ([id, { about, writes }]) => {
          const reads = access === "read" && writes;
          const isOthers = about === "account" || (about === "user" && user === "other");
          const makesToken = "isToken" in bearer && id === "createToken";
          const expected = reads ? "read_only_key" : isOthers || makesToken ? "user_not_allowed" : "passed";
          const told = `${id}, ${access}, ${JSON.stringify(bearer)}, ${user}`;
          assert.equal(await outcomeOf(id, key, user), expected, told);
        }),
      );
  const reader = await newKey(null, "read");
  for (const [id, { writes }] of WITH_KEY) {
    const refused = writes || id === "createToken";
    assert.equal(await outcomeOf(id, reader, "other"), refused ? "read_only_key" : "passed", id);
  }
  assert.equal(await allOf("other", "loom"), before);
});

test("a bound key may leave user_id out, and the answer is about its user", async () => {
  const key = await newKey("ada");
  assert.equal((await encode(key, undefined, "Ada")).status, 200);
  assert.equal((await call("GET", "/facts", { key })).json.user_id, "ada");
  assert.equal((await call("GET", "/decode?label=USER.name", { key })).json.value, "Ada");
  assert.equal((await call("GET", "/facts?user_id=ada")).json.facts[0].value, "Ada");
  for (const user_id of ["", "Ada", "ada ", "ada/loom", null, 5, ["ada"], { user_id: "ada" }]) {
    const body = { user_id, label: "USER.name", value: "x" };
    assert.equal(problemCode(await call("POST", "/encode", { key, body })), "403 user_not_allowed");
  }
  // Whoever is bound to nobody names one, as ever.
  assert.equal(problemCode(await call("GET", "/facts")), "400 invalid_request");
});

test("a bound key lists its own user alone", async () => {
  for (const user of ["lists", "lists too"]) await encode(running.key, user, "x");
  const listed = async (key: string, query = "") =>
    (await call("GET", `/users${query}`, { key })).json.users.map(
      ({ user_id }: { user_id: string }) => user_id,
    );
  for (const key of [await newKey("lists"), await newToken("lists", "read")]) {
    assert.deepEqual(await listed(key), ["lists"]);
    assert.deepEqual(await listed(key, "?prefix=lists"), ["lists"]);
    assert.deepEqual(await listed(key, "?prefix=lists%20"), []);
    assert.deepEqual(await listed(key, `?cursor=${Buffer.from("lists").toString("base64url")}`), []);
  }
  assert.deepEqual(await listed(await newKey("nobody yet")), []);
  assert.deepEqual(await listed(running.key, "?prefix=lists"), ["lists", "lists too"]);
});

test("the admin API makes bound keys and reading keys, and shows what they are for", async () => {
  const admin = (method: string, path: string, body?: object) =>
    call(method, path, { key: "admin-token-for-tests", ...(body === undefined ? {} : { body }) });
  const make = (rights: object) => admin("POST", "/admin/keys", { account: "made", ...rights });
  const { status, json } = await make({ user: "ada", access: "read" });
  assert.deepEqual([status, json.user, json.access], [201, "ada", "read"]);
  assert.equal((await call("GET", "/facts", { key: json.key })).json.user_id, "ada");
  for (const rights of [{}, { user: null }]) {
    const made = (await make(rights)).json;
    assert.deepEqual([made.user, made.access], [null, "write"]);
  }
  const { keys } = (await admin("GET", "/admin/keys?account=made")).json;
  assert.deepEqual(keys.map(({ user }: { user: string | null }) => user).sort(), ["ada", null, null]);
  for (const [rights, param] of [
    [{ user: "a\u0000b" }, "user"],
    [{ user: "" }, "user"],
    [{ user: 5 }, "user"],
    [{ access: "all" }, "access"],
  ] as const) {
    const refused = await make(rights);
    assert.deepEqual([problemCode(refused), refused.json.param], ["400 invalid_request", param]);
  }
});

test("/usage says whom a key is bound to and that it only reads, and nothing of it for other keys", async () => {
  const usage = async (key: string) => (await call("GET", "/usage", { key })).json;
  const { user, access } = await usage(await newKey("ada", "read"));
  assert.deepEqual({ user, access }, { user: "ada", access: "read" });
  assert.deepEqual(Object.keys(await usage(running.key)), [
    "account",
    "tier",
    "limit",
    "used",
    "remaining",
    "resets_at",
  ]);
});

test("a token is taken wherever a key is, counts to its key, and ends with it", async () => {
  const { keys } = running.service.core;
  const { key, record } = await keys.create({ account: "parent", tier: "free" });
  const made = await call("POST", "/tokens", { key, body: { user_id: "ada", access: "write", ttl_s: 60 } });
  const { token, expires_at } = made.json;
  assert.equal(made.headers.get("cache-control"), "no-store");
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 60_000) < 30_000);
  const written = await encode(token, undefined, "Ada");
  assert.equal(written.headers.get("x-ratelimit-remaining"), "999");
  assert.equal((await call("GET", `/facts?api_key=${token}`, { key: null })).json.facts[0].value, "Ada");
  assert.equal((await call("GET", "/usage", { key })).json.used, 1);
  const again = { user_id: "ada", access: "read", ttl_s: 60 };
  assert.equal(
    problemCode(await call("POST", "/tokens", { key: token, body: again })),
    "403 user_not_allowed",
  );
  await keys.revoke(record.id);
  assert.equal(problemCode(await call("GET", "/facts", { key: token })), "403 key_revoked");
  assert.ok(!running.logs.some((line) => line.includes(token) || line.includes("sbt_")));
});

test("a token lives from 60 seconds to 24 hours, and its terms are checked", async () => {
  const ask = async (terms: object) => {
    const body = { user_id: "ada", access: "read", ttl_s: 60, ...terms };
    const answer = await call("POST", "/tokens", { body });
    return answer.status === 200 ? "200" : `${problemCode(answer)} ${answer.json.param}`;
  };
  for (const ttl_s of [60, 86_400]) assert.equal(await ask({ ttl_s }), "200");
  for (const ttl_s of [59, 86_401, 1e300, -60, "60", null])
    assert.equal(await ask({ ttl_s }), "400 invalid_request ttl_s");
  assert.equal(await ask({ access: "admin" }), "400 invalid_request access");
  assert.equal(await ask({ user_id: "ada\u0000x" }), "400 invalid_request user_id");
});

test("a page of an allowed origin calls every path with a token; others and keys get no CORS header", async () => {
  const token = await newToken("ada");
  const originOf = (answer: Answer) => answer.headers.get("access-control-allow-origin");
  for (const [id, { method, path }] of WITH_KEY) {
    const headers = { origin: PAGE, "access-control-request-method": method };
    const preflight = await call("OPTIONS", path.replace(/:\w+/g, "x"), { key: null, headers });
    // Of these a GET needs no key: every page may ask there.
    const isOpen = ["/channels", "/channels/sets"].includes(path);
    assert.deepEqual([preflight.status, originOf(preflight)], [204, isOpen ? "*" : PAGE], id);
    assert.ok(preflight.headers.get("access-control-allow-methods")!.includes(method), id);
    assert.match(
      preflight.headers.get("access-control-allow-headers")!,
      /Authorization.*Idempotency-Key.*Sideband-Client/,
    );
  }
  const headers = { origin: PAGE };
  const read = await call("GET", "/facts", { key: token, headers });
  assert.deepEqual([read.status, originOf(read), read.headers.get("vary")], [200, PAGE, "origin"]);
  const refused = await call("GET", "/facts?user_id=bob", { key: token, headers });
  assert.deepEqual([problemCode(refused), originOf(refused)], ["403 user_not_allowed", PAGE]);
  assert.equal(originOf(await call("GET", "/facts", { key: `${token}x`, headers })), PAGE);
  assert.equal(originOf(await call("GET", "/facts?user_id=ada", { headers })), null);
  const stranger = { headers: { origin: "https://evil.example" } };
  assert.equal(originOf(await call("GET", "/facts", { key: token, ...stranger })), null);
  assert.equal(originOf(await call("OPTIONS", "/facts", { key: null, ...stranger })), null);
});

const HOSTILE_NAMES = [
  ...["ada/loom", "ada/loom/x", "/ada", "ada/", "..", "../ada", "./ada", "ada/../ada", "%61da", "ada%2Floom"],
  ...[
    "Ada",
    "ada ",
    " ada",
    "аda",
    "ada\u200b",
    "ada\u0301",
    "\u202eada",
    "ａｄａ",
    "ada?",
    "ada#x",
    "ada&user_id=ada",
  ],
  ...[
    "*",
    "%",
    "_",
    "ada'--",
    '{"user_id":"ada"}',
    "__proto__",
    "constructor",
    "acme",
    "acme/ada",
    "a".repeat(128),
  ],
  ...["\u{1f600}".repeat(128), "ad", "adaa", "null", "undefined", "0"],
];
const REFUSED_NAMES = ["", "ada\u0000", "ada\u0000x", "\u0000ada", "ada\nx", "ada\u2028", "a".repeat(129)];
const HOSTILE_PROJECTS = [
  undefined,
  ...["loom", "loom/x", "..", "../ada", "loom/..", "../loom", "ada", "loom ", "LOOM", "lооm", "%2e%2e", "*"],
  ...["__proto__", "/", "loom/x/y", "loom\u0000x", "", "//", "a".repeat(101)],
];

test("no user_id, project or label of any content reaches another person's facts", async () => {
  const secrets = ["secret-person", "secret-project", "secret-worktree"];
  await encode(running.key, "ada", secrets[0]);
  await encode(running.key, "ada", secrets[1], "loom");
  const inWorktree = { user_id: "ada", label: "TASK.current", value: secrets[2], project: "loom/x" };
  await call("POST", "/encode", { body: inWorktree });
  const before = await allOf("ada", "loom");
  for (const secret of secrets.slice(1)) assert.ok(before.includes(secret));
  const labels = ["USER.name", "../ada/USER.name", "USER.name\u0000", "__proto__", "USER.name&user_id=ada"];
  const texts: string[] = [];
  const attack = async (user: string, i: number) => {
    const project = HOSTILE_PROJECTS[i % HOSTILE_PROJECTS.length];
    const label = labels[i % labels.length];
    const named = { user_id: user, ...(project === undefined ? {} : { project }) };
    const search = new URLSearchParams(named);
    const answers = [
      await call("GET", `/facts?${search}`),
      await call("POST", "/encode", { body: { ...named, label, value: "hostile" } }),
      await call("GET", `/context?${search}&include=index`),
      await call("GET", `/decode?${search}&label=${encodeURIComponent(label)}`),
      await call("DELETE", `/facts?${search}&label=${encodeURIComponent(label)}`),
      await call("DELETE", `/users?${search}`),
    ];
    for (const { status, text } of answers) {
      assert.ok(status < 500, `${status} for ${JSON.stringify(named)}`);
      if (REFUSED_NAMES.includes(user)) assert.equal(status, 400, JSON.stringify(named));
      texts.push(text);
    }
  };
  const names = [...HOSTILE_NAMES, ...REFUSED_NAMES];
  // Each name with one of the projects, and one name with all of them.
  await Promise.all(names.map(attack));
  await Promise.all(HOSTILE_PROJECTS.map((_, i) => attack("bob", i)));
  assert.ok(texts.some((text) => text.includes("hostile")));
  for (const secret of secrets) assert.ok(!texts.some((text) => text.includes(secret)), secret);
  assert.equal(await allOf("ada", "loom"), before);
});

test("a key bound to a hostile name reaches that name alone", async () => {
  await encode(running.key, "ada", "secret-of-ada");
  const before = await allOf("ada", "loom");
  const attack = async (user: string) => {
    for (const key of [await newKey(user), await newToken(user)]) {
      assert.equal((await encode(key, undefined, "hostile")).status, 200, user);
      const read = await call("GET", "/facts?project=loom", { key });
      assert.equal(read.json.user_id, user);
      assert.ok(!read.text.includes("secret-of-ada"));
      assert.equal(problemCode(await call("GET", "/facts?user_id=ada", { key })), "403 user_not_allowed");
      assert.equal((await call("DELETE", "/users", { key })).status, 200);
    }
  };
  await Promise.all(HOSTILE_NAMES.map(attack));
  assert.equal(await allOf("ada", "loom"), before);
  for (const user of REFUSED_NAMES) await assert.rejects(newKey(user), { code: "invalid_request" });
});
