/** The operator's console as a browser uses it: sign in, answer requests for keys, sign out; and as another site would. */

import type { Random } from "../../../src/base/random.ts";
import { ADMIN_TOKEN } from "../load/watched-server.ts";
import { addressOf, ask, type Field, FuzzFault, type Kind, type Shot } from "./field.ts";

const JSON_TYPE = { "content-type": "application/json" };
const TEXTS = ["notes for an agent", "Ωμέγα 🜁", "x".repeat(200), "<b>bold</b>"];
let visitors = 0;

export const CONSOLE_KINDS: readonly Kind[] = [
  { name: "console session", weight: 12, run: useConsole },
  { name: "console from outside", weight: 12, run: tryConsole },
];

type Call = (
  method: string,
  path: string,
  body: object | undefined,
  statuses: readonly number[],
) => ReturnType<typeof ask>;

async function useConsole(field: Field, random: Random, shot: Shot): Promise<void> {
  const origin = random.pick<Record<string, string>>([
    { "sec-fetch-site": "same-origin" },
    { origin: `http://${field.host}` },
  ]);
  const forwarded = { "x-forwarded-for": addressOf(random) };
  let session = {};
  const call: Call = (method, path, body, statuses) => {
    const headers = { ...origin, ...forwarded, ...session, ...(body === undefined ? {} : JSON_TYPE) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return ask(field, shot, { method, path, headers, ...sent }, statuses);
  };
  const signedIn = await call("POST", "/console/session", { token: ADMIN_TOKEN }, [200]);
  session = {
    cookie: String(signedIn?.headers["set-cookie"]).split(";")[0],
    "sideband-console": JSON.parse(signedIn!.text).page_secret,
  };
  await call("GET", random.pick(["/admin/status", "/admin/accounts", "/console/session"]), undefined, [200]);
  await answerRequest(field, random, call);
  await call("DELETE", "/console/session", undefined, [204]);
  await call("GET", "/admin/status", undefined, [401]);
}

async function answerRequest(field: Field, random: Random, call: Call): Promise<void> {
  visitors += 1;
  const visitor = visitors;
  const email = `visitor${visitor}@example.com`;
  const asked = { name: random.pick(TEXTS), email, purpose: random.pick(TEXTS) };
  // One address may ask five times an hour.
  const received = await call("POST", "/key-requests", asked, [202, 429]);
  if (received?.status !== 202) return;
  const listed = await call("GET", "/admin/key-requests", undefined, [200]);
  const requests: { id: string; email: string; name: string }[] = JSON.parse(listed!.text).requests;
  const own = requests.find((request) => request.email === email);
  if (own?.name !== asked.name) throw new FuzzFault(`the request of ${email} is not listed as it was made`);
  const path = `/admin/key-requests/${own.id}`;
  if (field.keysLeft > 0 && random.below(3) === 0) {
    field.keysLeft -= 1;
    await call("POST", `${path}/approve`, { account: "fuzz" }, [409]);
    await call("POST", `${path}/approve`, { account: `visitor-${visitor}` }, [201]);
  } else await call("POST", `${path}/decline`, undefined, [200]);
  await call("POST", `${path}/decline`, undefined, [409]);
  await call("DELETE", path, undefined, [200]);
}

/** Without a session, with a forged one, from another site, with a wrong token. */
async function tryConsole(field: Field, random: Random, shot: Shot): Promise<void> {
  const forged = `sideband_console=${Date.now() + 1e6}.${"a".repeat(22)}.${"b".repeat(43)}`;
  const forwarded = { "x-forwarded-for": addressOf(random) };
  const from = (site: object) => ({ ...forwarded, ...JSON_TYPE, ...site });
  const signIn = (token: unknown, site: object, statuses: readonly number[]) => {
    const request = { method: "POST", path: "/console/session", headers: from(site) };
    return ask(field, shot, { ...request, body: JSON.stringify({ token }) }, statuses);
  };
  const tries = [
    () => signIn(ADMIN_TOKEN, { origin: "https://evil.example" }, [400]),
    () => signIn(ADMIN_TOKEN, { "sec-fetch-site": "cross-site" }, [400]),
    () => signIn(ADMIN_TOKEN, {}, [400]),
    () => signIn("wrong", { "sec-fetch-site": "same-origin" }, [401, 429]),
    () => signIn(7, { "sec-fetch-site": "same-origin" }, [400]),
    () => ask(field, shot, { method: "GET", path: "/admin/keys", headers: from({ cookie: forged }) }, [401]),
    () => ask(field, shot, { method: "DELETE", path: "/console/session", headers: from({}) }, [400, 204]),
  ];
  await random.pick(tries)();
}
