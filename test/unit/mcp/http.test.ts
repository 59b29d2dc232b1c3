/** /mcp without a network: what a client is told, what it can reach, and how long its memory is watched. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Caller } from "../../../src/memory/authentication.ts";
import type { Listening, UserEvents } from "../../../src/memory/events.ts";
import { o200kCounter } from "../../fixtures/o200k.ts";
import { until } from "../../fixtures/waiting.ts";
import { settled } from "../blockwork/fake-workers.ts";
import { answerOf, CALLER, setUp, USERS } from "./visitor.ts";

/** The users whom somebody listens to, in the order of their names. */
function usersHeard(context: TestContext, events: Pick<UserEvents, "listen">): () => string[] {
  const users = new Map<Listening, string>();
  const { listen } = events;
  context.mock.method(events, "listen", (...call: Parameters<UserEvents["listen"]>) => {
    const listening = listen.apply(events, call);
    users.set(listening, call[1]!);
    const stop = () => {
      users.delete(listening);
      listening.stop();
    };
    return { ...listening, stop };
  });
  return () => [...new Set(users.values())].sort();
}

test("a memory is watched as long as a client listens to it, and a bound client listens to its own alone", async (context) => {
  const {
    services: { events },
    ask,
    ended,
  } = await setUp(context);
  const users = usersHeard(context, events);
  const resourceSubscriptions = USERS.map((user) => `sideband://memory/${user}`);
  await ask("ada", "subscriptions/listen", { notifications: { resourceSubscriptions } });
  assert.deepEqual(users(), ["ada"]);
  ended.abort();
  assert.deepEqual(users(), []);
});

/** Sixteen ways to write one address: four of its letters, each as it is or percent-encoded. */
function spellingsOf(user: string): string[] {
  return Array.from({ length: 16 }, (_, bits) => {
    const letters = [...user].map((letter, i) =>
      (bits >> i) % 2 === 1 ? `%${Buffer.from(letter).toString("hex")}` : letter,
    );
    return `sideband://memory/${letters.join("")}`;
  });
}

test("a memory is watched once, however many listen to it and however they write its address", async (context) => {
  const {
    services: { events },
    write,
    listen,
    ask,
    openStream,
    initialize,
  } = await setUp(context);
  const users = usersHeard(context, events);
  const resourceSubscriptions = spellingsOf("eve1");
  assert.equal(new Set(resourceSubscriptions).size, 16);
  const streams = await Promise.all([1, 2, 3].map(() => listen(undefined, resourceSubscriptions)));
  const session = await initialize();
  await openStream(session);
  for (const uri of resourceSubscriptions)
    assert.match(await (await ask(undefined, "resources/subscribe", { uri }, session)).text(), /"result":/);
  // Sixteen ways to write one address are one subscription of the sixteen.
  for (let i = 0; i < 15; i++) {
    const params = { uri: `sideband://memory/other${i}` };
    assert.match(await (await ask(undefined, "resources/subscribe", params, session)).text(), /"result":/);
    await ask(undefined, "resources/unsubscribe", params, session);
  }
  assert.deepEqual(users(), ["eve1"]);
  // Each stream is told once of facts that are written together.
  await write("eve1", "one", "two", "three");
  await until(() => streams.every((text) => /"uri":"sideband:..memory.eve1"/.test(text())));
  await settled();
  for (const text of streams) assert.equal([...text().matchAll(/resources\/updated/g)].length, 1);
});

test("a stream tells of the client's own memories, in one way to write each", async (context) => {
  const { write, listen } = await setUp(context);
  const everybody = await listen(undefined, ["sideband://memory/ad%61", "sideband://memory/eve"]);
  const bound = await listen("ada", ["sideband://memory/%61da", "sideband://memory/eve", "other://memory"]);
  assert.match(
    everybody(),
    /"resourceSubscriptions":\["sideband:\/\/memory\/ada","sideband:\/\/memory\/eve"\]/,
  );
  assert.match(bound(), /"resourceSubscriptions":\["sideband:\/\/memory\/ada","other:\/\/memory"\]/);
  for (const user of USERS) await write(user, "another");
  const told = (text: string) => [...text.matchAll(/updated.*?"uri":"([^"]*)"/g)].map(([, uri]) => uri);
  await until(() => told(everybody()).length === 2 && told(bound()).length === 1);
  assert.deepEqual(told(everybody()), ["sideband://memory/ada", "sideband://memory/eve"]);
  assert.deepEqual(told(bound()), ["sideband://memory/ada"]);
});

test("an account that listens to too much is told so, on every way to listen", async (context) => {
  const { ask, openStream, initialize, ended } = await setUp(context);
  const session = await initialize();
  await ask(undefined, "resources/subscribe", { uri: "sideband://memory/late" }, session);
  const listen = async (users: string[]) => {
    const resourceSubscriptions = users.map((user) => `sideband://memory/${user}`);
    return ask(undefined, "subscriptions/listen", { notifications: { resourceSubscriptions } });
  };
  for (let i = 0; i < 64; i++) await listen(Array.from({ length: 16 }, (_, j) => `user${16 * i + j}`));
  const tooMany = /"code":-32603,"message":"The clients of an account listen to at most 1,024 memories/;
  // The first is listened to already, and is let go with the refusal.
  assert.match(await (await listen(["user0", "late"])).text(), tooMany);
  const stream = await openStream(session);
  assert.equal(stream.status, 429);
  assert.match(await stream.text(), tooMany);
  ended.abort();
  assert.equal((await openStream(session)).status, 200);
});

test("what a session has subscribed to is watched while its stream is open, and a bound client's is its own", async (context) => {
  const {
    services: { events },
    ask,
    openStream,
    initialize,
    ended,
  } = await setUp(context);
  const users = usersHeard(context, events);
  const session = await initialize();
  const each = async (method: string) => {
    for (const user of USERS)
      await (await ask("ada", method, { uri: `sideband://memory/${user}` }, session)).text();
  };
  await each("resources/subscribe");
  assert.deepEqual(users(), []);
  await openStream(session);
  assert.deepEqual(users(), ["ada"]);
  await each("resources/unsubscribe");
  assert.deepEqual(users(), []);
  await each("resources/subscribe");
  // A stream in the place of the first.
  await openStream(session);
  assert.deepEqual(users(), ["ada"]);
  ended.abort();
  assert.deepEqual(users(), []);
});

test("a visit is kept in mind until its answer has been sent or its client has gone", async (context) => {
  const { mcp, ask, ended, watched } = await setUp(context);
  await ask("ada", "ping", {});
  assert.equal(watched.size, 1);
  ended.abort();
  assert.equal(watched.size, 0);
  const abort = context.mock.method(AbortController.prototype, "abort");
  mcp.close();
  assert.equal(abort.mock.callCount(), 0);
});

test("a client that is bound to a user reaches no other, by tool, resource or prompt", async (context) => {
  const { ask } = await setUp(context);
  const attempts = [
    ["tools/call", { name: "recall", arguments: { user_id: "eve" } }],
    ["tools/call", { name: "recall", arguments: { user_id: "eve", label: "USER.name" } }],
    ["resources/read", { uri: "sideband://memory/eve" }],
    ["prompts/get", { name: "context", arguments: { user_id: "eve" } }],
  ] as const;
  for (const [method, params] of attempts) {
    assert.match(await (await ask(undefined, method, params)).text(), /the name of eve/);
    assert.doesNotMatch(await (await ask("ada", method, params)).text(), /the name of eve/);
  }
});

test("a tool that fails says so, with the code of its failure", async (context) => {
  const { place, ask } = await setUp(context);
  Object.assign(place, { include: "both" });
  const text = await (
    await ask("ada", "tools/call", { name: "read_block", arguments: { block: "no block here" } })
  ).text();
  assert.match(text, /block_unreadable/);
  assert.match(text, /"isError":true/);
});

test("the list of tools names the account's labels as they are now, and is short for every client", async (context) => {
  const { place, ask } = await setUp(context);
  const count = o200kCounter();
  const list = async (user: string | undefined, more: object = {}) => {
    Object.assign(place, { project: undefined, include: "index", addLabel: undefined, ...more });
    const { result } = await answerOf(await ask(user, "tools/list", {}));
    return result.tools as { name: string; description: string; inputSchema: { properties: object } }[];
  };
  const all = { project: "loom", addLabel: true };
  for (const [user, more, most] of [
    ["ada", { project: "loom" }, 700],
    [undefined, {}, 770],
    ["ada", all, 750],
  ] as const) {
    const tokens = count(JSON.stringify({ tools: await list(user, more) }));
    assert.ok(tokens <= most, `${tokens} tokens for ${user}`);
  }
  const names = (tools: { name: string }[]) => tools.map(({ name }) => name);
  assert.deepEqual(names(await list("ada")), ["remember", "recall", "find", "forget", "history"]);
  assert.deepEqual(names(await list("ada", { include: "both" })).slice(5), ["flush", "read_block"]);
  const remember = async (more?: object) => Object.keys((await list("ada", more))[0].inputSchema.properties);
  const fields = ["label", "value", "add", "new_label", "ttl_s", "until", "origin", "pinned"];
  assert.deepEqual(await remember(), fields);
  assert.deepEqual(await remember({ project: "loom" }), [...fields, "scope"]);
  const label = { label: "FAMILY.wife", description: "her name" };
  Object.assign(place, { addLabel: true });
  await answerOf(await ask("ada", "tools/call", { name: "add_label", arguments: label }));
  assert.match(
    (await list("ada"))[0].description,
    /GROUP\.name\): FAMILY: wife \("her name"\); USER: name, /,
  );
  const made = { name: "remember", arguments: { label: "PEOPLE.grace", value: "sister" } };
  await answerOf(await ask("ada", "tools/call", made));
  const labelsOf = async (user?: string) =>
    /GROUP\.name\): (.*) USER: /.exec((await list(user))[0].description)![1];
  assert.equal(await labelsOf("ada"), 'FAMILY: wife ("her name"); PEOPLE: grace;');
  for (const other of ["hal", undefined])
    assert.equal(await labelsOf(other), 'FAMILY: wife ("her name");', "another's labels are not named");
});

test("add_label is offered to a key that may add labels, and for one user only where it is asked for", async (context) => {
  const { place, ask } = await setUp(context);
  const isOffered = async (caller: Partial<Caller>, user: string | undefined, addLabel?: boolean) => {
    Object.assign(place, { caller: { ...CALLER, ...caller }, addLabel });
    const listed = (await answerOf(await ask(user, "tools/list", {}))).result.tools;
    const own = user === undefined ? { user_id: "ada" } : {};
    const call = { name: "add_label", arguments: { ...own, label: "A.b", description: "c" } };
    const text = await (await ask(user, "tools/call", call)).text();
    const isListed = listed.some(({ name }: { name: string }) => name === "add_label");
    assert.equal(text.includes("Tool add_label not found"), !isListed);
    return isListed;
  };
  assert.equal(await isOffered({}, undefined), true);
  assert.equal(await isOffered({}, undefined, false), false);
  assert.equal(await isOffered({}, "ada"), false);
  assert.equal(await isOffered({}, "ada", true), true);
  for (const caller of [{ user: "ada" }, { access: "read" }, { user: "ada", access: "read" }] as const)
    for (const user of ["ada", undefined])
      for (const addLabel of [undefined, true])
        assert.equal(
          await isOffered(caller, user, addLabel),
          false,
          JSON.stringify([caller, user, addLabel]),
        );
});

test("a client writes under the name it gave itself, in the project that it named", async (context) => {
  const { place, ask, initialize } = await setUp(context);
  const session = await initialize();
  const call = async (name: string, more: object, inSession?: string) =>
    (await answerOf(await ask("ada", "tools/call", { name, arguments: more }, inSession))).result
      .structuredContent;
  Object.assign(place, { project: "loom" });
  const written = await call("remember", { label: "PROJ.goal", value: "weave" }, session);
  assert.equal(written.place, "project");
  assert.equal((await call("recall", { label: "PROJ.goal" })).written_by, "mcp: c");
  await call("remember", { label: "PROJ.stack", value: "TypeScript" });
  assert.equal((await call("recall", { label: "PROJ.stack" })).written_by, "mcp");
  const read = async () =>
    (await answerOf(await ask("ada", "resources/read", { uri: "sideband://memory/ada" }))).result.contents[0]
      .text;
  assert.match(await read(), /PROJ\.goal=weave/);
  assert.doesNotMatch(await read(), /\[MEM\]/);
  Object.assign(place, { project: undefined, include: "both" });
  assert.doesNotMatch(await read(), /PROJ/);
  assert.match(await read(), /\[MEM\]/);
});
