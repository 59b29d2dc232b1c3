/** The console's session: what it opens, what it does not, when it ends, and that no other site can use it. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  ConsoleSessions,
  PAGE_SECRET_HEADER,
  SESSION_COOKIE,
  SESSION_MS,
} from "../../src/http/access/console-session.ts";
import { ADMIN, hashOfToken } from "../../src/memory/operators.ts";
import { endAfter } from "../fixtures/ends.ts";
import { problemCode, type Running, startPortless } from "./running-service.ts";

const ADMIN_TOKEN = "admin-token-for-tests";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

let started: Promise<Running> | undefined;
const service = () => (started ??= startPortless());
after(async () => (await started?.catch(() => undefined))?.end());

/** What a browser sends after it: the cookie, and what the page adds. */
interface SessionHeaders extends Record<string, string> {
  readonly cookie: string;
  readonly [PAGE_SECRET_HEADER]: string;
}

async function signIn(): Promise<SessionHeaders> {
  const running = await service();
  const { status, headers, json } = await running.call("POST", "/console/session", {
    key: null,
    body: { token: ADMIN_TOKEN },
    headers: SAME_ORIGIN,
  });
  assert.equal(status, 200);
  const cookie = headers.get("set-cookie") ?? "";
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/);
  assert.equal(headers.get("cache-control"), "no-store");
  return { cookie: cookie.split(";", 1)[0], [PAGE_SECRET_HEADER]: json.page_secret };
}

test("a session opens the admin API and nothing else", async () => {
  const running = await service();
  const headers = await signIn();
  const keys = await running.call("GET", "/admin/keys", { key: null, headers });
  assert.equal(keys.status, 200);
  const usage = await running.call("GET", "/usage", { key: null, headers });
  assert.equal(usage.status, 401);
  const asked = await running.call("GET", "/console/session", { key: null, headers });
  assert.ok(Date.parse(asked.json.expires_at) > Date.now());
});

test("the cookie alone, which every port of the host is sent, opens nothing, nor does the page's secret alone", async () => {
  const running = await service();
  const [own, other] = [await signIn(), await signIn()];
  const { cookie, [PAGE_SECRET_HEADER]: secret } = own;
  const halves: Record<string, string>[] = [
    { cookie },
    { [PAGE_SECRET_HEADER]: secret },
    { cookie, [PAGE_SECRET_HEADER]: "" },
    { cookie, [PAGE_SECRET_HEADER]: other[PAGE_SECRET_HEADER] },
    { cookie, [PAGE_SECRET_HEADER]: cookie.split(".")[3] },
    { cookie: cookie.replace(/[^.]+$/, secret), [PAGE_SECRET_HEADER]: secret },
  ];
  for (const half of halves) {
    const headers = { ...half, ...SAME_ORIGIN };
    const body = { account: "stolen" };
    assert.equal((await running.call("GET", "/admin/keys", { key: null, headers })).status, 401);
    assert.equal((await running.call("POST", "/admin/keys", { key: null, headers, body })).status, 401);
    const asked = await running.call("GET", "/console/session", { key: null, headers });
    assert.equal(asked.json.expires_at, null);
    assert.equal((await running.call("DELETE", "/console/session", { key: null, headers })).status, 204);
  }
  assert.equal((await running.call("GET", "/admin/keys", { key: null, headers: own })).status, 200);
});

test("under https, by the word of a trusted proxy, the cookie is for https alone", async (context) => {
  const running = endAfter(
    context,
    await startPortless({ SIDEBAND_TRUST_PROXY: "1" }, undefined, { warm: false }),
  );
  const isSecure = async (method: string, forwarded: Record<string, string>) => {
    const { headers } = await running.call(method, "/console/session", {
      key: null,
      headers: { ...SAME_ORIGIN, ...forwarded },
      ...(method === "POST" ? { body: { token: ADMIN_TOKEN } } : {}),
    });
    return /; Secure(;|$)/.test(headers.get("set-cookie")!);
  };
  for (const method of ["POST", "DELETE"]) {
    assert.equal(await isSecure(method, { "x-forwarded-proto": "https" }), true);
    assert.equal(await isSecure(method, { "x-forwarded-proto": "http" }), false);
    assert.equal(await isSecure(method, {}), false);
  }
});

test("a change needs the browser's word that it comes from this site", async () => {
  const running = await service();
  const session = await signIn();
  const attempt = async (headers: Record<string, string>) => {
    const body = { account: "forged" };
    return (
      await running.call("POST", "/admin/keys", { key: null, body, headers: { ...session, ...headers } })
    ).status;
  };
  assert.equal(await attempt({}), 400);
  assert.equal(await attempt({ "sec-fetch-site": "cross-site" }), 400);
  assert.equal(await attempt({ "sec-fetch-site": "same-site" }), 400);
  assert.equal(await attempt({ origin: "https://evil.example" }), 400);
  assert.equal(await attempt({ origin: "null" }), 400);
  assert.equal(await attempt({ origin: "http://localhost" }), 201);
  assert.equal(await attempt(SAME_ORIGIN), 201);
  const { json } = await running.call("GET", "/admin/keys?account=forged", { key: ADMIN_TOKEN });
  assert.equal(json.keys.length, 2);
});

test("another site can neither sign a browser in nor out", async () => {
  const running = await service();
  for (const method of ["POST", "DELETE"]) {
    const { status, headers } = await running.call(method, "/console/session", {
      key: null,
      headers: { origin: "https://evil.example" },
      ...(method === "POST" ? { body: { token: ADMIN_TOKEN } } : {}),
    });
    assert.deepEqual([status, headers.get("set-cookie")], [400, null]);
  }
});

test("wrong tokens are refused without a cookie, then slowed down", async (context) => {
  const running = endAfter(context, await startPortless());
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) {
    const { status, headers } = await running.call("POST", "/console/session", {
      key: null,
      body: { token: `wrong ${i}` },
      headers: SAME_ORIGIN,
    });
    assert.equal(headers.get("set-cookie"), null);
    statuses.push(status);
  }
  assert.equal(statuses[0], 401);
  assert.equal(statuses.at(-1), 429);
  const odd = await running.call("POST", "/console/session", {
    key: null,
    body: { token: 7 },
    headers: SAME_ORIGIN,
  });
  assert.equal(odd.status, 400);
});

test("after ten wrong tokens an address waits with every token, also with the right one", async (context) => {
  const running = endAfter(
    context,
    await startPortless({ SIDEBAND_TRUST_PROXY: "1" }, undefined, { warm: false }),
  );
  const from = (address: string) => ({ ...SAME_ORIGIN, "x-forwarded-for": address });
  const ask = (key: string, headers: Record<string, string>) =>
    running.call("GET", "/admin/keys", { key, headers });
  const signIn = (token: string, headers: Record<string, string>) =>
    running.call("POST", "/console/session", { key: null, body: { token }, headers });
  const opened = await signIn(ADMIN_TOKEN, from("192.0.2.1"));
  const cookie = opened.headers.get("set-cookie")!.split(";")[0];
  const session = { cookie, [PAGE_SECRET_HEADER]: opened.json.page_secret };
  for (let i = 0; i < 10; i++) {
    // A proxy may name the port, too: it is the same address.
    const headers = from(`192.0.2.1:${5_000 + i}`);
    const wrong = i % 2 === 0 ? await ask(`wrong-${i}`, headers) : await signIn(`wrong-${i}`, headers);
    assert.equal(wrong.status, 401);
  }
  for (const token of [ADMIN_TOKEN, "wrong"]) {
    for (const answer of [await ask(token, from("192.0.2.1")), await signIn(token, from("192.0.2.1"))]) {
      assert.equal(problemCode(answer), "429 rate_limited");
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
  }
  assert.equal((await ask(ADMIN_TOKEN, from("192.0.2.2"))).status, 200);
  const inSession = { key: null, headers: { ...from("192.0.2.1"), ...session } };
  assert.equal((await running.call("GET", "/admin/keys", inSession)).status, 200);
});

test("a session ends after its time, with the token it was opened with, and by a changed letter", async () => {
  let nowMs = 1_000_000;
  const clock = { now: () => nowMs };
  const hash = hashOfToken("a-token-of-16-letters");
  const [old, present] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const make = (secrets: Uint8Array[], known = hash) =>
    new ConsoleSessions(secrets, { withHash: async (asked) => (asked === known ? ADMIN : undefined) }, clock);
  const sessions = make([old]);
  const { session, pageSecret } = sessions.open(hash);
  const asking = async (cookie: string, by = sessions) => {
    const headers = { cookie: `a=b; ${SESSION_COOKIE}=${cookie}`, [PAGE_SECRET_HEADER]: pageSecret };
    return (await by.sessionOf(headers))?.expiresAtMs;
  };
  assert.equal(await asking(session), nowMs + SESSION_MS);
  // While one master key takes the place of another, whichever of them writes.
  for (const secrets of [
    [old, present],
    [present, old],
  ])
    assert.equal(await asking(session, make(secrets)), nowMs + SESSION_MS);
  assert.equal(await asking(session, make([present])), undefined);
  assert.equal(await asking(session, make([old], hashOfToken("another-token-of-16"))), undefined);
  for (let i = 0; i < session.length; i++) {
    const changed = session.slice(0, i) + (session[i] === "1" ? "2" : "1") + session.slice(i + 1);
    assert.equal(await asking(changed), undefined, `letter ${i}`);
  }
  for (const odd of ["", ".", "1.2.3", `${session}x`, "9".repeat(4096)])
    assert.equal(await asking(odd), undefined);
  nowMs += SESSION_MS;
  assert.equal(await asking(session), undefined);
});

test("signing out ends the session for everyone who has a copy of it, and no other session", async () => {
  const running = await service();
  const [session, other] = [await signIn(), await signIn()];
  const signOut = (cookies: Record<string, string>) =>
    running.call("DELETE", "/console/session", { key: null, headers: { ...cookies, ...SAME_ORIGIN } });
  const { status, headers } = await signOut(session);
  assert.equal(status, 204);
  assert.match(headers.get("set-cookie") ?? "", /=; .*Max-Age=0/);
  const ask = (path: string, of: SessionHeaders) => running.call("GET", path, { key: null, headers: of });
  assert.equal((await ask("/admin/keys", session)).status, 401);
  assert.equal((await ask("/console/session", session)).json.expires_at, null);
  assert.equal((await ask("/admin/keys", other)).status, 200);
  for (const cookies of [session, {}, { cookie: `${SESSION_COOKIE}=x` }])
    assert.equal((await signOut(cookies)).status, 204);
});
