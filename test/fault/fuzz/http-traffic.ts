/** Ordinary HTTP: malformed requests to every address, valid calls of the API, the website, the operator's calls. */

import type { Random } from "../../../src/base/random.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";
import type { Request } from "../load/exchange.ts";
import { ADMIN_TOKEN } from "../load/watched-server.ts";
import { addressOf, ask, type Field, FuzzFault, fire, type Kind, type Shot } from "./field.ts";
import { headerText, ODD_TEXTS, oddBody, oddQuery } from "./odd-values.ts";

const METHODS = [
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "PATCH",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "MKCOL",
  "LINK",
];
const PATHS = [
  // But for the stream of events, whose answer has no end.
  ...Object.values(OPERATIONS)
    .filter((operation) => operation !== OPERATIONS.events)
    .map(({ path }) => path.replace(":id", "x")),
  ...["/mcp", "/console/session", "/operator/compact", "/operator/owner", "/", "/console", "/docs"],
  ...["/v1/encode", "/v1/mcp", "/nowhere", "//", "/encode/", "/%2e%2e/etc/passwd", "/assets/../admin.token"],
];
const ODD_HEADERS = [
  ...["idempotency-key", "if-none-match", "x-request-id", "x-forwarded-for", "x-forwarded-host", "accept"],
  ...["range", "cookie", "origin", "accept-encoding", "content-encoding", "mcp-protocol-version", "expect"],
];
const JSON_TYPE = { "content-type": "application/json" };
const USERS = 100;
const LABELS = ["USER.name", "USER.os", "TASK.next", "PROJ.goal"];
const VALUES = ["Ada", "a parser that ships on Friday", "🜁 alchemy", "Ωμέγα", "x".repeat(300)];

export const HTTP_KINDS: readonly Kind[] = [
  { name: "malformed HTTP", weight: 420, run: sendMalformed },
  { name: "valid HTTP", weight: 220, run: sendValid },
  { name: "website", weight: 60, run: visitWebsite },
  { name: "admin", weight: 45, run: administer },
  { name: "wrong keys", weight: 25, run: tryKeys },
];

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export function post(path: string, key: string, body: object, headers: Record<string, string> = {}): Request {
  return {
    method: "POST",
    path,
    headers: { ...bearer(key), ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  };
}

async function sendMalformed(field: Field, random: Random, shot: Shot): Promise<void> {
  const method = random.below(3) > 0 ? random.pick(["GET", "POST", "DELETE"]) : random.pick(METHODS);
  const headers: Record<string, string> = {};
  const token = random.below(4) === 0 ? ADMIN_TOKEN : field.key;
  if (random.below(10) > 1) Object.assign(headers, bearer(random.below(20) > 0 ? token : headerText(random)));
  if (random.below(4) > 0)
    headers["content-type"] = random.below(5) > 0 ? "application/json" : headerText(random);
  for (const name of ODD_HEADERS) if (random.below(12) === 0) headers[name] = headerText(random);
  const body = method === "GET" || method === "HEAD" || random.below(6) === 0 ? undefined : oddBody(random);
  await fire(field, shot, { method, path: random.pick(PATHS) + oddQuery(random), headers, body });
}

async function sendValid(field: Field, random: Random, shot: Shot): Promise<void> {
  const request = validCall(random, field);
  const reply = await ask(field, shot, request, [200, 202, 304, 404, 409, 422]);
  if (reply?.status !== 200 || !request.path.endsWith("/encode") || request.path.includes("demo")) return;
  const { label, value } = JSON.parse(reply.text);
  const sent = JSON.parse(String(request.body));
  if (label !== sent.label || value !== sent.value) throw new FuzzFault(`another fact: ${reply.text}`);
}

/** A call of the API as a good client makes it. */
export function validCall(random: Random, { key }: Pick<Field, "key">): Request {
  const user = `user ${random.below(USERS)}`;
  const fact = { label: random.pick(LABELS), value: random.pick(VALUES) };
  const query = `?user_id=${encodeURIComponent(user)}`;
  const get = (path: string, headers = {}): Request => ({
    method: "GET",
    path: random.below(4) === 0 ? `/v1${path}` : path,
    headers: { ...bearer(key), ...headers },
  });
  const erase = (path: string): Request => ({ ...get(path), method: "DELETE" });
  const kind = random.below(200);
  if (kind < 50) return post("/encode", key, { user_id: user, ...fact });
  if (kind < 60) {
    const named = { "idempotency-key": `fuzz-${random.below(500)}` };
    return post("/encode", key, { user_id: user, ...fact }, named);
  }
  if (kind < 75) return post("/encode/batch", key, { user_id: user, facts: [fact] });
  if (kind < 110) return get(`/decode${query}&label=${fact.label}`);
  if (kind < 130) return get(`/facts${query}`);
  if (kind < 140) return erase(`/facts${query}&label=${fact.label}`);
  if (kind < 142) return erase(`/users${query}`);
  if (kind < 160)
    return get(random.pick(["/usage", "/usage/days", "/channels", "/openapi.json", "/healthz"]));
  if (kind < 164) return get(random.pick(["/readyz", "/metrics"]));
  if (kind < 172) return post("/demo/encode", key, { ...fact, value: "for all" });
  if (kind < 180) return get(random.pick(["/demo/key", `/demo/decode?label=${fact.label}`]));
  if (kind < 196) return get(`/context?user_id=reader ${random.below(20)}`.replace(" ", "%20"));
  return random.pick([
    get(`/context${query}`, { "if-none-match": '"x"' }),
    get(`/decode${query}&label=${fact.label}&use_model=true`),
    post("/flush", key, { user_id: user }),
    post("/read", key, { user_id: user, block: `[MEM] ${"word ".repeat(512)}[/MEM]` }),
    get("/demo/context"),
  ]);
}

async function visitWebsite(field: Field, random: Random, shot: Shot): Promise<void> {
  const headers = {
    accept: random.pick(["text/html", "*/*", headerText(random)]),
    "accept-encoding": random.pick(["br", "gzip", "identity", "br;q=0, gzip", headerText(random)]),
    ...(random.below(4) === 0 ? { "if-none-match": random.pick(['"x"', "*", headerText(random)]) } : {}),
  };
  const path = random.pick(field.websitePaths);
  if (random.below(4) > 0) {
    await ask(field, shot, { method: random.pick(["GET", "HEAD"]), path, headers }, [200, 304]);
    return;
  }
  const odd = `${path}${random.pick(["/", "..", "%00", "?x=%", "#x", ";a", ".br", "/../../package.json"])}`;
  await fire(field, shot, { method: random.pick(METHODS), path: odd, headers });
}

async function administer(field: Field, random: Random, shot: Shot): Promise<void> {
  const withToken = random.below(4) > 0;
  const headers = {
    ...(withToken ? bearer(ADMIN_TOKEN) : {}),
    "x-forwarded-for": addressOf(random),
  };
  if (withToken && field.keysLeft > 0 && random.below(20) === 0) {
    field.keysLeft -= 1;
    const body = { account: `made-${random.below(10)}`, tier: "free" };
    const request = post("/admin/keys", ADMIN_TOKEN, body, headers);
    const reply = await ask(field, shot, request, [201]);
    const path = `/admin/keys/${JSON.parse(reply!.text).id}`;
    const revoke = {
      method: "POST",
      path: `${path}/revoke`,
      headers: { ...bearer(ADMIN_TOKEN), ...headers },
    };
    const expire = post(`${path}/expire`, ADMIN_TOKEN, { expires_at: null }, headers);
    await ask(field, shot, random.pick([revoke, expire]), [200]);
    return;
  }
  const path = random.pick([
    ...["/admin/status", "/admin/accounts", "/admin/usage", "/admin/keys?account=fuzz"],
    ...["/admin/key-requests", `/admin/usage${oddQuery(random)}`, `/admin/keys${oddQuery(random)}`],
  ]);
  const isOdd = path.includes("?") && !path.endsWith("=fuzz");
  if (isOdd) await fire(field, shot, { method: "GET", path, headers });
  else await ask(field, shot, { method: "GET", path, headers }, [withToken ? 200 : 401]);
}

/** Keys that do not count, and one whose limit is soon reached. */
async function tryKeys(field: Field, random: Random, shot: Shot): Promise<void> {
  const { free, revoked, expired } = field.keys;
  const fact = { user_id: "u", label: "USER.name", value: "x" };
  if (random.below(4) === 0) {
    await ask(field, shot, post("/encode", free, fact), [200, 429]);
    return;
  }
  const [key, status] = random.pick([
    [revoked, 403],
    [expired, 403],
    [random.pick(ODD_TEXTS).replace(/[^ -~]/g, "?"), 401],
  ] as const);
  const request = { ...post("/encode", key, fact), method: random.pick(["POST", "DELETE", "PUT"]) };
  await ask(field, shot, request, request.method === "POST" ? [status] : [405]);
}
