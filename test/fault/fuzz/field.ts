/**
 * What the fuzzer fires at, and how it judges an answer: a problem of the 4xx kind that is whole and tells nothing of the
 * service's inside, or a success. The only 5xx is 503 `overloaded` where block work is asked for.
 */

import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import { packageFolder } from "../../agents/built.ts";
import { CutOffError, exchange, type Reply, type Request } from "../load/exchange.ts";
import { startWatched, type WatchedServer } from "../load/watched-server.ts";

/** One round of traffic of some kind: what was sent last, and the statuses that came back. */
export class Shot {
  readonly kind: string;
  readonly number: number;
  readonly statuses: string[] = [];
  requests = 0;
  sent: unknown;

  constructor(kind: string, number: number) {
    this.kind = kind;
    this.number = number;
  }

  /** A request is on its way. */
  note(sent: unknown, requests = 1): void {
    this.sent = sent;
    this.requests += requests;
  }
}

export interface Kind {
  readonly name: string;
  /** How often it comes, to the others. */
  readonly weight: number;
  run(field: Field, random: Random, shot: Shot): Promise<void>;
}

export interface Field {
  readonly server: WatchedServer;
  readonly host: string;
  readonly port: number;
  readonly key: string;
  /** Keys that count, and keys that do not any more. */
  readonly keys: { readonly free: string; readonly revoked: string; readonly expired: string };
  readonly websitePaths: readonly string[];
  /** The longest that a slow sender or reader takes. */
  readonly patienceMs: number;
  agent: Agent;
  /** Keys made by the traffic: they stay, so there is a limit. */
  keysLeft: number;
}

export class FuzzFault extends Error {
  override name = "FuzzFault";
}

const KEYS_MAX = 200;
/** Long enough to make a key on a busy machine before it expires. */
const EXPIRES_IN_MS = 6_000;
const LARGE_BYTES = 2 ** 20;
/** A service that answers 5xx otherwise is at fault. */
const BLOCK_WORK = /\/(?:context|decode|flush|read|mcp)\b/;
const INSIDE = /node_modules|src\/|\n {4}at /;

export async function openField(patienceMs: number): Promise<Field> {
  const server = await startWatched({
    SIDEBAND_LOG_LEVEL: "error",
    // The traffic comes as if from many addresses, so that limits for one address do not end it.
    SIDEBAND_TRUST_PROXY: "127.0.0.1",
  });
  const { host, port } = new URL(server.url);
  const soonMs = Date.now() + EXPIRES_IN_MS;
  const [own, free, revoked, expired] = await Promise.all([
    server.newKey("fuzz"),
    server.newKey("small", { tier: "free" }),
    server.newKey("gone"),
    server.newKey("late", { expires_at: new Date(soonMs).toISOString() }),
  ]);
  await server.owner.json("POST", `/admin/keys/${revoked.id}/revoke`);
  await sleep(soonMs + 1 - Date.now());
  const manifest: Record<string, { sizeBytes: number }> = JSON.parse(
    readFileSync(join(packageFolder, "dist", "web", "manifest.json"), "utf8"),
  );
  return {
    server,
    host,
    port: Number(port),
    key: own.key,
    keys: { free: free.key, revoked: revoked.key, expired: expired.key },
    websitePaths: Object.keys(manifest).filter((path) => manifest[path].sizeBytes < LARGE_BYTES),
    patienceMs,
    agent: newAgent(),
    keysLeft: KEYS_MAX,
  };
}

export function newAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 64, maxFreeSockets: 32 });
}

/** One of 4,096 addresses. */
export function addressOf(random: Random): string {
  return `10.0.${random.below(16)}.${random.below(256)}`;
}

/** Sends what may be malformed: where it is, the service may close the connection instead of an answer. */
export async function fire(field: Field, shot: Shot, request: Request): Promise<Reply | undefined> {
  shot.note(request);
  try {
    const reply = await exchange(field.server.url, { agent: field.agent, ...request });
    judge(field, shot, request, reply);
    return reply;
  } catch (error) {
    if (!(error instanceof CutOffError) || /no answer/.test(error.message)) throw error;
    shot.statuses.push("cut off");
    return undefined;
  }
}

/** Sends a request that must be answered with one of these statuses; undefined where block work was refused. */
export async function ask(
  field: Field,
  shot: Shot,
  request: Request,
  statuses: readonly number[],
): Promise<Reply | undefined> {
  shot.note(request);
  const wanted = { agent: field.agent, ...request };
  const reply = await exchange(field.server.url, wanted).catch((error) => {
    if (!(error instanceof CutOffError && error.onKept)) throw error;
    // A kept connection may end just as it is used again: once more, on one of its own.
    return exchange(field.server.url, { ...wanted, agent: false });
  });
  judge(field, shot, request, reply);
  if (reply.status === 503) return undefined;
  if (!statuses.includes(reply.status))
    throw new FuzzFault(`${reply.status} instead of ${statuses.join(" or ")}: ${reply.text.slice(0, 300)}`);
  return reply;
}

export function judge(
  field: Pick<Field, "server">,
  shot: Shot,
  { method, path }: Pick<Request, "method" | "path">,
  { status, headers, text }: Pick<Reply, "status" | "headers" | "text">,
): void {
  shot.statuses.push(String(status));
  if (status < 400) return;
  if (INSIDE.test(text) || text.includes(field.server.folder))
    throw new FuzzFault(`a leak: ${text.slice(0, 300)}`);
  if (method === "HEAD") return;
  const type = headers["content-type"] ?? "";
  const problem = type.includes("json") ? JSON.parse(text) : {};
  const isRpc = problem.jsonrpc === "2.0" && /\/mcp\b/.test(path);
  const isPage = type.startsWith("text/html") && status === 404;
  const isProblem = type.startsWith("application/problem+json") && problem.status === status && problem.code;
  if (!isRpc && !isPage && !isProblem) throw new FuzzFault(`${status} is no problem: ${text.slice(0, 300)}`);
  const isRefusal = status === 503 && problem.code === "overloaded" && BLOCK_WORK.test(path);
  if (status >= 500 && !isRefusal) throw new FuzzFault(`status ${status}: ${text.slice(0, 300)}`);
}
