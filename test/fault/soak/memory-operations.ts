/** The operations on facts and blocks over HTTP, each checked against what the client knows. */

import assert from "node:assert/strict";
import type { Random } from "../../../src/base/random.ts";
import type { Reply } from "../load/exchange.ts";
import { indexOf, LABELS, newValue, pairs, type UserModel } from "./model.ts";
import type { Operation, SoakWorld } from "./world.ts";

const JSON_TYPE = { "content-type": "application/json" };
let keysMade = 0;

/** Every path has a second address. */
const at = (random: Random, path: string) => (random.below(4) === 0 ? `/v1${path}` : path);
const queryOf = (user: UserModel, more = "") => `?user_id=${encodeURIComponent(user.id)}${more}`;
const get = (random: Random, path: string) => ({ method: "GET", path: at(random, path) });
const post = (random: Random, path: string, body: object, headers = {}) => ({
  method: "POST",
  path: at(random, path),
  headers: { ...JSON_TYPE, ...headers },
  body: JSON.stringify(body),
});

/** An operation on a user that nothing else touches meanwhile. */
function ofUser(
  name: string,
  weight: number,
  run: (world: SoakWorld, random: Random, user: UserModel) => Promise<void>,
): Operation {
  return { name, weight, run: (world, random) => world.withUser(random, (user) => run(world, random, user)) };
}

function okJson(reply: Reply): Record<string, unknown> {
  assert.equal(reply.status, 200, reply.text);
  return JSON.parse(reply.text);
}

function assertProblem(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(JSON.parse(reply.text).code, code);
}

export const MEMORY_OPERATIONS: readonly Operation[] = [
  ofUser("encode", 130, async (world, random, user) => {
    const fact = { label: random.pick(user.labels), value: newValue(random) };
    const request = post(random, "/encode", { user_id: user.id, ...fact });
    const after = user.with([fact]);
    const answer = okJson(await world.write("encode", random, user, request, { after, encodes: 1 }));
    const channel = LABELS.indexOf(fact.label);
    assert.deepEqual(answer, { status: "ok", ...fact, channel, channel_count: after.size });
  }),

  ofUser("encode with a key", 40, async (world, random, user) => {
    keysMade += 1;
    const key = `soak-${keysMade}`;
    const fact = { label: random.pick(user.labels), value: newValue(random) };
    const request = post(random, "/encode", { user_id: user.id, ...fact }, { "idempotency-key": key });
    const options = { after: user.with([fact]), encodes: 1 };
    const reply = await world.write("encode with a key", random, user, request, options);
    user.idempotent = { key, body: request.body, answer: reply.text };
  }),

  ofUser("replay", 30, async (world, random, user) => {
    if (user.idempotent === undefined) return;
    const { key, body, answer } = user.idempotent;
    const request = post(random, "/encode", {}, { "idempotency-key": key });
    if (random.below(4) === 0) {
      const other = JSON.stringify({ ...JSON.parse(body), value: "another" });
      const refused = await world.ask("replay", random, { ...request, body: other });
      return assertProblem(refused, 422, "idempotency_mismatch");
    }
    const reply = await world.ask("replay", random, { ...request, body });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers["idempotency-replayed"], "true");
    assert.equal(reply.text, answer);
  }),

  ofUser("batch", 40, async (world, random, user) => {
    const labels = random.shuffle([...user.labels]).slice(0, 1 + random.below(4));
    const facts = labels.map((label) => ({ label, value: newValue(random) }));
    const request = post(random, "/encode/batch", { user_id: user.id, facts });
    const options = { after: user.with(facts), encodes: facts.length };
    const answer = okJson(await world.write("batch", random, user, request, options));
    assert.equal(answer.channel_count, options.after.size);
    const placed = facts.map(({ label, value }) => ({ label, value, channel: LABELS.indexOf(label) }));
    assert.deepEqual(answer.facts, placed);
  }),

  ofUser("decode", 160, async (world, random, user) => {
    const label = random.pick(user.labels);
    const reply = await world.ask(
      "decode",
      random,
      get(random, `/decode${queryOf(user, `&label=${label}`)}`),
    );
    const value = user.facts.get(label);
    if (value === undefined) return assertProblem(reply, 404, "fact_not_found");
    assert.deepEqual(okJson(reply), { user_id: user.id, label, value, source: "state", latency_ms: 0 });
  }),

  ofUser("decode by the model", 15, async (world, random, user) => {
    const label = random.pick(user.labels);
    const query = queryOf(user, `&label=${label}`);
    const path = random.below(2) === 0 ? `/decode/model${query}` : `/decode${query}&use_model=true`;
    const reply = await world.askForBlock("decode by the model", random, get(random, path));
    const value = user.facts.get(label);
    if (value === undefined) return assertProblem(reply, 404, "fact_not_found");
    const { latency_ms, ...answer } = okJson(reply);
    assert.ok(Number(latency_ms) >= 1);
    assert.equal(answer.value, value);
    if (user.fits) assert.deepEqual([answer.source, answer.verified], ["model", true]);
  }),

  ofUser("facts", 80, async (world, random, user) => {
    const answer = okJson(await world.ask("facts", random, get(random, `/facts${queryOf(user)}`)));
    const facts = answer.facts as { label: string; value: string }[];
    assert.deepEqual(
      facts.map(({ label, value }) => ({ label, value })),
      pairs(user.facts),
    );
  }),

  ofUser("facts of a stranger", 10, async (world, random, user) => {
    const headers = { authorization: `Bearer ${world.strangersKey}` };
    const request = { ...get(random, `/facts${queryOf(user)}`), headers };
    assert.equal(okJson(await world.ask("facts of a stranger", random, request)).channel_count, 0);
  }),

  ofUser("context", 90, async (world, random, user) => {
    const known = user.context;
    const headers = known === undefined || random.below(3) === 0 ? {} : { "if-none-match": known.etag };
    const reply = await world.askForBlock("context", random, {
      ...get(random, `/context${queryOf(user)}`),
      headers,
    });
    const isSame = known?.version === user.version;
    // Facts that were changed and changed back are the same context.
    if (reply.status === 304) return assert.equal(known?.index, indexOf(user.facts), "304 after a change");
    const { fdm_block, ...answer } = okJson(reply);
    assert.ok(!("if-none-match" in headers && isSame), "200 without a change");
    assert.deepEqual(answer, {
      user_id: user.id,
      channel_count: user.facts.size,
      channel_labels: pairs(user.facts).map(({ label }) => label),
      plain_index: indexOf(user.facts),
    });
    if (isSame) assert.equal(fdm_block, known.block);
    const { version } = user;
    user.context = {
      version,
      index: indexOf(user.facts),
      etag: reply.headers.etag!,
      block: String(fdm_block),
    };
  }),

  ofUser("flush", 15, async (world, random, user) => {
    const reply = await world.askForBlock("flush", random, post(random, "/flush", { user_id: user.id }));
    const { status, channel_count, lossless, overflow, fdm_block } = okJson(reply);
    assert.deepEqual([status, channel_count], [user.facts.size === 0 ? "empty" : "ok", user.facts.size]);
    if (user.fits) assert.deepEqual([lossless, overflow], [true, []]);
    if (user.context?.version === user.version) assert.equal(fdm_block, user.context.block);
  }),

  ofUser("read", 15, async (world, random, user) => {
    const { context } = user;
    if (context === undefined || context.version !== user.version || context.block === "") return;
    const words = context.block.split(" ");
    const from = 10 + random.below(400);
    const damaged = [...words.slice(0, from), ...words.slice(from + random.below(8))].join(" ");
    const block = `so it began ${damaged} and so it ended`;
    const reply = await world.askForBlock("read", random, post(random, "/read", { user_id: user.id, block }));
    if (reply.status === 422) return assert.ok(!user.fits, "a block that is nearly whole was not read");
    const facts = okJson(reply).facts as { label: string; value: string }[];
    for (const { label, value } of facts) assert.equal(value, user.facts.get(label));
    if (user.fits) assert.equal(facts.length, user.facts.size);
  }),

  ofUser("forget a fact", 30, async (world, random, user) => {
    const label = random.pick(user.labels);
    const request = {
      method: "DELETE",
      path: at(random, `/facts${queryOf(user, `&label=${label}`)}`),
    };
    if (!user.facts.has(label))
      return assertProblem(await world.ask("forget a fact", random, request), 404, "fact_not_found");
    const options = { after: user.without(label), encodes: 0 };
    const answer = okJson(await world.write("forget a fact", random, user, request, options));
    assert.deepEqual(answer, { status: "ok", channel_count: options.after.size });
  }),

  ofUser("forget a user", 6, async (world, random, user) => {
    const request = { method: "DELETE", path: at(random, `/users${queryOf(user)}`) };
    if (user.facts.size === 0) {
      // Of a user whose facts were forgotten one by one, something may be left to forget.
      const { status } = await world.ask("forget a user", random, request);
      return assert.ok(status === 200 || status === 404);
    }
    const options = { after: new Map<string, string>(), encodes: 0 };
    const answer = okJson(await world.write("forget a user", random, user, request, options));
    assert.deepEqual(answer, { status: "ok" });
  }),

  {
    name: "usage",
    weight: 25,
    async run(world, random) {
      const { acknowledged } = world.encodes;
      const path = random.pick(["/usage", "/usage/days"]);
      const answer = okJson(await world.ask("usage", random, get(random, path)));
      const days = answer.days as { count: number }[] | undefined;
      const used = days === undefined ? Number(answer.used) : days.reduce((sum, day) => sum + day.count, 0);
      const holds = used >= acknowledged && used <= world.encodes.possible;
      assert.ok(holds, `${used} encodes, not ${acknowledged} to ${world.encodes.possible}`);
    },
  },
];
