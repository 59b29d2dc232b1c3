/**
 * The shipped Caddyfile, in a real Caddy in front of three nodes: with one of them stopped, killed or hanging no request
 * waits longer than five seconds, what is the operator's own is not published, and a name gets TLS.
 */

import assert from "node:assert/strict";
import { request as requestTls } from "node:https";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../../bench/store/free-port.ts";
import { findCaddy } from "../fixtures/programs.ts";
import { Caddy } from "./caddy.ts";
import { makeKey, Nodes } from "./nodes.ts";
import { newDatabase } from "./server.ts";

const WAIT_MAX_MS = 5_000;
const CALLERS = 6;
/** Of each caller, between two calls: more traffic would show no more, and takes the processor from the nodes. */
const PAUSE_MS = 80;
/** All but what works on a whole memory. */
const READS = [
  "/context?include=index&user_id=USER",
  "/facts?user_id=USER",
  "/facts/history?label=TASK.deadline&user_id=USER",
  "/usage/days",
  "/channels",
  "/openapi.json",
];

test("with one node of three stopped, killed or hanging no request waits longer than 5 s, and the others serve", async (t) => {
  if (findCaddy() === undefined) {
    t.skip("no Caddy on this machine");
    return;
  }
  const url = await newDatabase();
  const cluster = new Nodes(url);
  t.after(() => cluster.end());
  const { key } = await makeKey(url, "unlimited");
  const nodes = [await cluster.start(), await cluster.start(), await cluster.start()];
  const [site, operators] = [await freePort(), await freePort()];
  const caddy = await Caddy.start({
    NODES: nodes.map((node) => new URL(node.url).host).join(" "),
    SITE_ADDRESS: `http://127.0.0.1:${site}`,
    OPERATOR_ADDRESS: `http://127.0.0.1:${operators}`,
  });
  t.after(() => caddy.end());
  const address = `http://127.0.0.1:${site}`;

  for (const path of ["/metrics", "/admin/keys", "/v1/admin/keys", "/console"])
    assert.equal((await fetch(address + path)).status, 404, path);
  assert.equal((await fetch(`http://127.0.0.1:${operators}/metrics`)).status, 200);

  /** Everybody calls for a while; the longest wait, and how the calls ended. */
  const traffic = async (lastsMs: number) => {
    const waitsMs: number[] = [];
    const statuses = new Map<number, number>();
    const endMs = performance.now() + lastsMs;
    const caller = async (i: number) => {
      for (let n = 0; performance.now() < endMs; n++) {
        const startMs = performance.now();
        const body = JSON.stringify({ user_id: `u${i}`, label: "TASK.deadline", value: `${n}` });
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const path = READS[((n - 1) / 2) % READS.length];
        const response =
          n % 2 === 0
            ? await fetch(`${address}/encode`, { method: "POST", headers, body })
            : await fetch(address + path.replace("USER", `u${i}`), { headers });
        await response.arrayBuffer();
        waitsMs.push(performance.now() - startMs);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        await setTimeout(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
    return { longestMs: Math.round(Math.max(...waitsMs)), statuses, count: waitsMs.length };
  };

  // A stream begins at once, and goes on for longer than anything else may wait.
  const listening = new AbortController();
  t.after(() => listening.abort());
  const stream = await fetch(`${address}/users/events?user_id=listened`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
    signal: AbortSignal.any([listening.signal, AbortSignal.timeout(60_000)]),
  });
  assert.equal(stream.status, 200);
  const told = (async () => {
    let text = "";
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("TASK.deadline")) return;
    }
  })();

  const before = await traffic(WAIT_MAX_MS);
  assert.deepEqual([...before.statuses.keys()], [200]);
  const fact = { user_id: "listened", label: "TASK.deadline", value: "told" };
  const encoded = await fetch(`${address}/encode`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(fact),
  });
  assert.equal(encoded.status, 200);
  await told;
  const [first, second, third] = nodes;
  const faults: readonly (readonly [string, () => unknown, () => Promise<unknown>])[] = [
    [
      "hanging",
      () => first.process.kill("SIGSTOP"),
      async () => {
        first.process.kill("SIGCONT");
        // Until it gets requests again.
        await setTimeout(6_000);
      },
    ],
    ["stopped", () => second.stop(), async () => {}],
    ["killed", () => third.stop("SIGKILL"), async () => {}],
  ];
  for (const [name, fault, mend] of faults) {
    const running = traffic(8_000);
    await setTimeout(500);
    await fault();
    const { longestMs, statuses, count } = await running;
    const refused = [...statuses].filter(([status]) => status !== 200);
    t.diagnostic(
      `${name}: ${count} requests, the longest wait ${longestMs} ms, not answered: ${JSON.stringify(refused)}`,
    );
    assert.ok(longestMs < WAIT_MAX_MS, `${name}: ${longestMs} ms`);
    // Only what was on its way to the node that is gone.
    assert.ok(
      refused.every(([status, times]) => status >= 502 && times <= 2 * CALLERS),
      JSON.stringify(refused),
    );
    assert.deepEqual([...(await traffic(1_000)).statuses.keys()], [200], `after: ${name}`);
    await mend();
  }
});

test("a site with a name has TLS", async (t) => {
  if (findCaddy() === undefined) {
    t.skip("no Caddy on this machine");
    return;
  }
  const url = await newDatabase();
  const cluster = new Nodes(url);
  t.after(() => cluster.end());
  const node = await cluster.start();
  const [site, operators] = [await freePort(), await freePort()];
  // For this name Caddy is its own authority; for one of the internet it asks Let's Encrypt.
  const caddy = await Caddy.start({
    NODES: new URL(node.url).host,
    SITE_ADDRESS: `https://localhost:${site}`,
    OPERATOR_ADDRESS: `http://127.0.0.1:${operators}`,
  });
  t.after(() => caddy.end());
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = requestTls(`https://localhost:${site}/readyz`, { rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on("error", reject).end();
  });
  assert.equal(status, 200);
});
