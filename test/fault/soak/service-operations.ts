/** What a service answers beside the memory: health, figures, the website, the demo, the operator's calls. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Random } from "../../../src/base/random.ts";
import { packageFolder } from "../../agents/built.ts";
import type { Reply } from "../load/exchange.ts";
import { ADMIN_TOKEN } from "../load/watched-server.ts";
import { indexOf, LABELS, newValue } from "./model.ts";
import type { Operation, SoakWorld } from "./world.ts";

const WEBSITE = join(packageFolder, "dist", "web");
const LARGE_BYTES = 2 ** 20;
const DEMO_BYTES_MAX = 128;
const JSON_TYPE = { "content-type": "application/json" };
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

interface ManifestEntry {
  readonly file: string;
  readonly sizeBytes: number;
}

export function serviceOperations(): Operation[] {
  return [
    ...healthOperations(),
    metricsOperation(),
    websiteOperation(),
    ...demoOperations(),
    ...operatorOperations(),
  ];
}

function healthOperations(): Operation[] {
  const plain = (name: string, weight: number, path: string, pattern: RegExp): Operation => ({
    name,
    weight,
    async run(world, random) {
      const { status, text } = await world.ask(name, random, { method: "GET", path });
      assert.equal(status, 200, text);
      assert.match(text, pattern);
    },
  });
  return [
    plain("healthz", 20, "/healthz", /^{"status":"ok"}$/),
    plain("readyz", 10, "/readyz", /^{"status":"ready"/),
    plain("channels", 6, "/channels", /"channel":39,"label":"PROJ.constraint"/),
    plain("openapi", 4, "/openapi.json", /^{"openapi":"3\.1/),
  ];
}

function metricsOperation(): Operation {
  return {
    name: "metrics",
    weight: 4,
    async run(world, random) {
      await world.scrape(random);
    },
  };
}

function websiteOperation(): Operation {
  const manifest: Record<string, ManifestEntry> = JSON.parse(
    readFileSync(join(WEBSITE, "manifest.json"), "utf8"),
  );
  const small = Object.entries(manifest).filter(([, { sizeBytes }]) => sizeBytes < LARGE_BYTES);
  const large = Object.entries(manifest).filter(([, { sizeBytes }]) => sizeBytes >= LARGE_BYTES);
  return {
    name: "website",
    weight: 60,
    async run(world, random) {
      const [path, { file }] = random.pick(random.below(200) === 0 ? large : small);
      const headers = { "accept-encoding": random.pick(["br", "gzip", "identity"]) };
      const reply = await world.ask("website", random, { method: "GET", path, headers });
      assert.equal(reply.status, 200, path);
      assert.ok(plainBytes(reply).equals(readFileSync(join(WEBSITE, file))), path);
      const again = { ...headers, "if-none-match": reply.headers.etag! };
      assert.equal((await world.ask("website", random, { method: "GET", path, headers: again })).status, 304);
    },
  };
}

function plainBytes({ bytes, headers }: Reply): Buffer {
  if (headers["content-encoding"] === "br") return brotliDecompressSync(bytes);
  return headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
}

/** Without a key, and without cutting anything off: what the demo's state is stays known. */
function demoOperations(): Operation[] {
  const ask = async (world: SoakWorld, random: Random, method: string, path: string, body?: object) => {
    const sent = body === undefined ? {} : { headers: JSON_TYPE, body: JSON.stringify(body) };
    const reply = await world.askForBlock("demo", random, { method, path, ...sent }, false);
    return { status: reply.status, answer: JSON.parse(reply.text) };
  };
  const calls = [
    async (world: SoakWorld, random: Random) => {
      const fact = { label: random.pick(world.demo.labels), value: newValue(random, DEMO_BYTES_MAX) };
      const { status, answer } = await ask(world, random, "POST", "/demo/encode", fact);
      assert.equal(status, 200, JSON.stringify(answer));
      world.demo.change(world.demo.with([fact]));
      assert.equal(answer.channel_count, world.demo.facts.size);
    },
    async (world: SoakWorld, random: Random) => {
      const { answer } = await ask(world, random, "GET", "/demo/context");
      assert.equal(answer.plain_index, indexOf(world.demo.facts));
    },
    async (world: SoakWorld, random: Random) => {
      const label = random.pick(LABELS);
      const { status, answer } = await ask(world, random, "GET", `/demo/decode?label=${label}`);
      const value = world.demo.facts.get(label);
      assert.deepEqual([status, answer.value], value === undefined ? [404, undefined] : [200, value]);
    },
    async (world: SoakWorld, random: Random) => {
      const { answer } = await ask(world, random, "POST", "/demo/flush");
      assert.equal(answer.channel_count, world.demo.facts.size);
      if (world.demo.facts.size === 0) return;
      const read = await ask(world, random, "POST", "/demo/read", { block: answer.fdm_block });
      assert.equal(read.answer.facts.length, world.demo.facts.size - answer.overflow.length);
    },
    async (world: SoakWorld, random: Random) => {
      const { answer } = await ask(world, random, "GET", "/demo/key");
      assert.equal(answer.user_id, "demo");
    },
    async (world: SoakWorld, random: Random) => {
      if (random.below(4) > 0) return;
      const { answer } = await ask(world, random, "POST", "/demo/reset");
      assert.deepEqual(answer, { status: "ok", channel_count: 0 });
      world.demo.change(new Map());
    },
  ];
  const run: Operation["run"] = (world, random) =>
    world.withDemo((demo) => {
      assert.equal(demo.doubt, undefined);
      return random.pick(calls)(world, random);
    });
  return [{ name: "demo", weight: 40, run }];
}

/** A request for a key, its approval, the key's use and its end, as they follow each other in an operator's day. */
function operatorOperations(): Operation[] {
  let visitors = 0;
  const call = async (world: SoakWorld, random: Random, method: string, path: string, body?: object) => {
    const type = body === undefined ? {} : JSON_TYPE;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const request = { method, path, headers: { ...ADMIN, ...type }, ...sent };
    const { status, text } = await world.ask("admin", random, request, false);
    assert.ok(status < 300, `${path}: ${text}`);
    return JSON.parse(text);
  };
  return [
    {
      name: "key request",
      weight: 2,
      async run(world, random) {
        visitors += 1;
        const email = `visitor${visitors}@example.com`;
        const headers = { ...JSON_TYPE, "x-forwarded-for": `10.0.${visitors >> 8}.${visitors & 255}` };
        const body = JSON.stringify({ name: "Ada", email, purpose: "notes" });
        const request = { method: "POST", path: "/key-requests", headers, body };
        assert.equal((await world.ask("key request", random, request, false)).status, 202);
        const { requests } = await call(world, random, "GET", "/admin/key-requests");
        const { id } = requests.find((entry: { email: string }) => entry.email === email);
        if (visitors % 2 === 0) await call(world, random, "POST", `/admin/key-requests/${id}/decline`);
        else await useKey(world, random, id);
        await call(world, random, "DELETE", `/admin/key-requests/${id}`);
      },
    },
    {
      name: "admin",
      weight: 6,
      async run(world, random) {
        const path = random.pick(["/admin/status", "/admin/accounts", "/admin/usage", "/admin/keys"]);
        const answer = await call(world, random, "GET", path);
        if (path !== "/admin/status") return;
        const errors = answer.recent_errors.filter(({ code }: { code: string }) => code !== "overloaded");
        assert.deepEqual([answer.ready, errors], [true, []]);
      },
    },
  ];

  async function useKey(world: SoakWorld, random: Random, id: string): Promise<void> {
    const account = `visitor-${visitors}`;
    const made = await call(world, random, "POST", `/admin/key-requests/${id}/approve`, { account });
    const headers = { authorization: `Bearer ${made.key}` };
    const usage = () => world.ask("usage", random, { method: "GET", path: "/usage", headers }, false);
    assert.equal(JSON.parse((await usage()).text).account, account);
    await call(world, random, "POST", `/admin/keys/${made.id}/revoke`);
    assert.equal((await usage()).status, 403);
  }
}
