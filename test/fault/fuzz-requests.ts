/**
 * Malformed requests without end, from a seed: broken bodies, odd unicode, giant numbers, wrong types, strange
 * headers and queries, foreign keys. Whatever comes, the service answers with a problem of the 4xx kind, never
 * 5xx, never with a stack or a path of its own, and goes on answering. Run alone with a count:
 * npm run test:fuzz -- 100000
 */

import { request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";
import { type Random, seededRandom } from "../../src/base/random.ts";
import { type Running, startRunning } from "../http/running-service.ts";

export interface FuzzReport {
  readonly sent: number;
  readonly statuses: Record<string, number>;
  readonly faults: string[];
}

interface Shot {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

const AT_ONCE = 32;
const ANSWER_TIMEOUT_MS = 30_000;
const PATHS = [
  "/encode",
  "/encode/batch",
  "/flush",
  "/read",
  "/context",
  "/decode",
  "/decode/model",
  "/facts",
  "/users",
  "/usage",
  "/demo/encode",
  "/demo/decode",
  "/admin/keys",
  "/key-requests",
  "/v1/encode",
  "/nowhere",
  "//",
  "/encode/",
  "/%2e%2e/etc/passwd",
  "/admin/keys/x/revoke",
];
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
const ODD_TEXTS = [
  "",
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\u2028",
  "\uFEFF",
  "\u202e",
  "𝕳".repeat(40),
  "a".repeat(2000),
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "'; DROP TABLE facts; --",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "%00",
  "%ff",
  "NaN",
  "1e999",
  "USER.name",
  "USER.",
  "\r\nX-Injected: 1",
  "sb_live_000000000000000000000000000000000000",
];

export async function fuzz(count: number, seed: number): Promise<FuzzReport> {
  // Key requests that happen to be well-formed are few: the limit on them is not what is tested.
  const running = await startRunning({ SIDEBAND_LOG_LEVEL: "error" });
  const random = seededRandom(seed);
  const statuses: Record<string, number> = {};
  const faults: string[] = [];
  try {
    for (let sent = 0; sent < count; sent += AT_ONCE) {
      await Promise.all(
        Array.from({ length: Math.min(AT_ONCE, count - sent) }, async () => {
          const shot = aim(random, running);
          const { status, type, text } = await fire(running.url, shot);
          statuses[status] = (statuses[status] ?? 0) + 1;
          const fault = faultOf(status, type, text, shot, running);
          if (fault !== undefined && faults.length < 20)
            faults.push(`${fault}: ${JSON.stringify(shot).slice(0, 400)} → ${text.slice(0, 200)}`);
        }),
      );
    }
    const health = await running.call("GET", "/usage");
    if (health.status !== 200) faults.push("the service no longer answers");
    for (const line of running.logs) if (/unexpected error/.test(line)) faults.push(line.slice(0, 400));
    return { sent: count, statuses, faults };
  } finally {
    await running.end();
  }
}

function faultOf(
  status: number,
  type: string,
  text: string,
  shot: Shot,
  running: Running,
): string | undefined {
  // What is well-formed by chance may succeed.
  if (status >= 200 && status < 400) return undefined;
  if (status < 400 || status >= 500) return `status ${status}`;
  if (text.includes("node_modules") || text.includes("src/") || text.includes(running.folder))
    return "a leak";
  if (shot.method === "HEAD") return undefined;
  if (!type.startsWith("application/problem+json")) return `no problem but ${type}`;
  const problem = JSON.parse(text);
  return problem.status === status && typeof problem.code === "string" ? undefined : "an incomplete problem";
}

function aim(random: Random, running: Running): Shot {
  const method = random.below(3) > 0 ? random.pick(["GET", "POST", "DELETE"]) : random.pick(METHODS);
  const headers: Record<string, string> = {};
  if (random.below(10) > 1)
    headers.authorization = `Bearer ${random.below(20) > 0 ? running.key : headerText(random)}`;
  if (random.below(4) > 0)
    headers["content-type"] = random.below(5) > 0 ? "application/json" : headerText(random);
  for (const name of [
    "idempotency-key",
    "if-none-match",
    "x-request-id",
    "x-forwarded-for",
    "accept",
    "range",
    "cookie",
  ]) {
    if (random.below(8) === 0) headers[name] = headerText(random);
  }
  const query = Array.from(
    { length: random.below(4) },
    () => `${oddQuery(random, true)}=${oddQuery(random, false)}`,
  ).join("&");
  const body = method === "GET" || method === "HEAD" || random.below(6) === 0 ? undefined : oddBody(random);
  return { method, path: `${random.pick(PATHS)}${query === "" ? "" : `?${query}`}`, headers, body };
}

function oddQuery(random: Random, name: boolean): string {
  const known = name ? ["user_id", "label", "use_model", "api_key", "account"] : ["ada", "USER.name", "true"];
  const text = random.below(3) > 0 ? random.pick(known) : random.pick(ODD_TEXTS).toWellFormed();
  return random.below(8) === 0
    ? random.pick(["%", "%zz", "%ff%fe", "%c0%80", "%ed%a0%80"])
    : encodeURIComponent(text);
}

function headerText(random: Random): string {
  return Array.from({ length: random.below(60) }, () => String.fromCharCode(0x20 + random.below(0x5f))).join(
    "",
  );
}

function oddBody(random: Random): Buffer {
  if (random.below(12) === 0) return Buffer.from(random.bytes(random.below(400)));
  if (random.below(40) === 0) return Buffer.alloc(70_000, "x");
  if (random.below(20) === 0) return Buffer.from("[".repeat(random.below(20_000)));
  let text = JSON.stringify(oddObject(random)) ?? "undefined";
  // Text is cut, doubled or scratched.
  const kind = random.below(8);
  if (kind === 0) text = text.slice(0, random.below(text.length));
  if (kind === 1) text += text;
  if (kind === 2) text = text.replace(/"/, "'");
  const bytes = Buffer.from(text);
  if (kind === 3 && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

function oddObject(random: Random): unknown {
  const body: Record<string, unknown> = {};
  for (const name of [
    "user_id",
    "label",
    "value",
    "facts",
    "block",
    "session_id",
    "account",
    "tier",
    "name",
    "email",
  ]) {
    if (random.below(4) > 0) body[name] = oddValue(random, 0);
  }
  if (random.below(3) > 0) body.user_id = "fuzz";
  if (random.below(3) === 0) body.label = "USER.name";
  return random.below(12) === 0 ? oddValue(random, 0) : body;
}

function oddValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.pick([0, -0, 1e308, -1, 2 ** 53, 0.1, Number.MAX_SAFE_INTEGER]);
    case 6:
      return Array.from({ length: random.below(45) }, () => oddValue(random, depth + 1));
    case 7:
      return { label: oddValue(random, depth + 1), value: oddValue(random, depth + 1) };
    case 8:
      return [{ label: "USER.name", value: oddValue(random, depth + 1) }];
    default:
      return random.pick(ODD_TEXTS);
  }
}

function fire(url: string, shot: Shot): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const options = { hostname, port, method: shot.method, path: shot.path, headers: shot.headers };
    const sent = httpRequest(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, type: response.headers["content-type"] ?? "", text });
      });
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // A body that is refused before it is read may meet a closed connection: that is an answer, too.
      if (error.code === "EPIPE" || error.code === "ECONNRESET") resolve({ status: 399, type: "", text: "" });
      else reject(error);
    });
    sent.setTimeout(ANSWER_TIMEOUT_MS, () => {
      resolve({ status: 0, type: "", text: "no answer" });
      sent.destroy();
    });
    sent.end(shot.body);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
  const report = await fuzz(Number(process.argv[2] ?? 100_000), seed);
  console.log(
    `${report.sent} requests (seed ${seed}): ${JSON.stringify(report.statuses)}, ${report.faults.length} faults`,
  );
  for (const fault of report.faults) console.log(fault);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
