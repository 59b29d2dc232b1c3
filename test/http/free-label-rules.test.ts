/** Labels that a person makes, over HTTP: their descriptions, what is said of labels that nobody has, and strict accounts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fact, memoryService, ok } from "./memory-calls.ts";
import { problemCode } from "./running-service.ts";

const memory = memoryService();
const { post, get, remove, encode, make, factsOf } = memory;

test("who asks for a label that nobody has written is told that nothing is there, with a near one", async () => {
  const user = "asking";
  ok(await make(user, "FAMILY.daughter", "Ada"));
  const asked = (label: string) => [
    get("/decode", { user_id: user, label }),
    get("/decode", { user_id: user, label, use_model: "true" }),
    get("/facts/history", { user_id: user, label }),
    remove("/facts", { user_id: user, label }),
    post("/facts/remove", { user_id: user, label, item: "x" }),
    post("/facts/restore", { user_id: user, label, revision: 1 }),
    post("/facts/rename", { user_id: user, label, to: "FAMILY.child" }),
  ];
  for (const [label, hint] of [
    ["FAMILY.dauhgter", "FAMILY.daughter"],
    ["ZOO.bear", undefined],
  ] as const)
    for (const answer of await Promise.all(asked(label))) {
      assert.deepEqual(
        [problemCode(answer), answer.json.hint, answer.json.param],
        ["400 unknown_label", hint, "label"],
      );
      const question = hint === undefined ? "" : `Did you mean ${hint}? `;
      assert.equal(
        answer.json.detail,
        `Nothing is remembered under ${label}. ${question}GET /facts lists what is.`,
      );
    }
  for (const answer of await Promise.all(asked("pet")))
    assert.match(answer.json.detail, /^There is no such label\. GET \/channels lists/);
});

test("a description is kept with the label, and shown with details", async () => {
  const user = "described";
  const description = "The name of the person's wife";
  ok(await make(user, "FAMILY.wife", "Grace", { description }));
  ok(await make(user, "FAMILY.son", "Tim"));
  ok(await encode(user, "FAMILY.wife", "Grace Hopper"));
  const described = (facts: Fact[]) => facts.map((fact) => [fact.label, fact.description]);
  assert.deepEqual(described(await factsOf(user, { details: "true" })), [
    ["FAMILY.son", undefined],
    ["FAMILY.wife", description],
  ]);
  assert.deepEqual(
    described(await factsOf(user)).map(([, text]) => text),
    [undefined, undefined],
  );
  ok(await encode(user, "FAMILY.wife", "Grace", { description: "Whom the person married" }));
  assert.equal((await factsOf(user, { details: "true" }))[1].description, "Whom the person married");
  for (const wrong of ["", "x".repeat(201), "\u202e", "a\nb"])
    assert.equal(
      problemCode(await make(user, "FAMILY.cat", "x", { description: wrong })),
      "400 invalid_request",
    );
  // A label of the account has its own, and a standard one has it for ever.
  ok(await post("/channels", { label: "CAR.plate", description: "Of the car" }));
  const facts = [{ label: "USER.os", value: "x", description: "Mine" }];
  for (const [refused, param, said] of [
    [await encode(user, "USER.os", "x", { description: "Mine" }), "description", /^USER\.os is a standard/],
    [
      await make(user, "CAR.plate", "x", { description: "Mine" }),
      "description",
      / PATCH \/channels\/\{label\} /,
    ],
    [
      await post("/facts/append", { user_id: user, label: "CAR.plate", item: "x", description: "Mine" }),
      "description",
      /^CAR\.plate is a label of the account: /,
    ],
    [await post("/encode/batch", { user_id: user, facts }), "facts[0].description", /^USER\.os is /],
  ] as const) {
    assert.deepEqual([problemCode(refused), refused.json.param], ["400 invalid_request", param]);
    assert.match(refused.json.detail, said);
  }
  assert.equal((await factsOf(user)).length, 2, "nothing was written");
  const line = JSON.parse((await get("/users/export", { user_id: user })).text.trim().split("\n").at(-1)!);
  assert.deepEqual(line.labels, [{ label: "FAMILY.wife", description: "Whom the person married" }]);
});

test("in a strict account only declared and standard labels are written, and what there is can be read", async () => {
  const key = await memory.running.newKey("strict");
  const call = (method: string, path: string, body?: object) =>
    memory.running.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const write = (label: string, more: object = {}) =>
    call("POST", "/encode", { user_id: "ada", label, value: "x", ...more });
  ok(await write("FAMILY.wife", { new_label: true }));
  assert.deepEqual(ok(await call("PATCH", "/channels", { strict: true })), { status: "ok", strict: true });
  assert.equal(ok(await call("GET", "/channels")).strict, true);
  assert.equal(ok(await memory.running.call("GET", "/channels")).strict, undefined, "of one account");
  for (const new_label of [undefined, true, "certain"])
    for (const label of ["FAMILY.son", "FAMILY.wife"]) {
      const refused = await write(label, { new_label });
      assert.equal(problemCode(refused), "400 unknown_label");
      assert.match(refused.json.detail, /strict/);
    }
  ok(await write("USER.name"));
  const read = (path: string) => call("GET", `${path}?user_id=ada&label=FAMILY.wife`);
  for (const path of ["/decode", "/facts/history"]) ok(await read(path));
  const rename = (to: string) => call("POST", "/facts/rename", { user_id: "ada", label: "FAMILY.wife", to });
  assert.equal(problemCode(await rename("FAMILY.spouse")), "400 unknown_label");
  ok(await call("POST", "/channels", { label: "FAMILY.spouse", description: "x" }));
  ok(await rename("FAMILY.spouse"));
  assert.equal(problemCode(await call("PATCH", "/channels", { strict: "yes" })), "400 invalid_request");
  const { token } = ok(await call("POST", "/tokens", { user_id: "ada", access: "write", ttl_s: 60 }));
  const bound = await memory.running.call("PATCH", "/channels", { key: token, body: { strict: false } });
  assert.equal(problemCode(bound), "403 user_not_allowed");
  ok(await call("PATCH", "/channels", { strict: false }));
  ok(await write("FAMILY.son", { new_label: true }));
});
