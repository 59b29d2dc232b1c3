/**
 * What only the operator's commands call, through the door: export, import, verify, compact, backup. Answers are
 * lines of JSON. Long work sends {"progress": {"done", "total"}} now and then and ends with {"result": …} or
 * {"problem": …}; an export ends with {"kind": "end"}, so that one that was broken off is told from a whole one.
 */

import { Readable } from "node:stream";
import { Failure } from "../../base/errors.ts";
import { BODY_BYTES_MAX } from "../../base/limits.ts";
import { linesOf } from "../../base/lines.ts";
import { problemOf } from "../../contract/errors.ts";
import type { Progress } from "../../memory/ports.ts";
import { exportLines, importLines } from "../../memory/transfer.ts";
import { verifyAll } from "../../memory/verify.ts";
import { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { failureOf } from "../request/problem.ts";
import type { Route } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Work that reports how far it is, and stops early when nobody waits for it any more. */
type LongWork = (progress: Progress, signal: AbortSignal) => Promise<object>;

export function operatorRoutes(services: HttpServices): Route[] {
  const { memory, upkeep, version, atStep } = services;
  const route = (method: string, path: string, handle: Route["handle"]): Route => {
    const bodyBytesMax = path === "/operator/import" ? "stream" : BODY_BYTES_MAX;
    return { method, path, access: "door", bodyBytesMax, handle };
  };
  const run = (call: Call, work: LongWork) =>
    lines(longWork(work, (error) => problem(error, call, services)));

  return [
    route("GET", "/operator/owner", () => ({ pid: process.pid, version })),

    route("GET", "/operator/export", (call) => lines(exported(services, call))),

    route("POST", "/operator/import", (call) =>
      importLines(memory.store, linesOf(call.request), { nowMs: memory.clock.now(), atStep }),
    ),

    route("POST", "/operator/verify", (call) => {
      const account = field(call, "account");
      return run(call, (progress, signal) =>
        verifyAll(memory, { ...(account === undefined ? {} : { account }), progress, signal }),
      );
    }),

    route("POST", "/operator/compact", (call) => run(call, (progress) => upkeep.compact(progress))),

    route("POST", "/operator/backup", (call) => {
      const folder = field(call, "folder");
      if (folder === undefined)
        throw new Failure("invalid_request", "folder is required.", { param: "folder" });
      const withMasterKey = (call.body as { without_master_key?: unknown }).without_master_key !== true;
      return run(call, (progress) => upkeep.backUp(folder, withMasterKey, progress));
    }),

    route("POST", "/operator/end", ({ response }) => {
      response.once("close", () => upkeep.end());
      return { status: "ok" };
    }),
  ];
}

/** A field of the body that is a text. */
function field({ body }: Call, name: string): string | undefined {
  const value = (body as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof value === "string" ? value : undefined;
}

async function* exported(services: HttpServices, call: Call): AsyncGenerator<object> {
  try {
    for await (const line of exportLines(services.memory.store, call.query?.account)) yield line;
    yield { kind: "end" };
  } catch (error) {
    yield { problem: problem(error, call, services) };
  }
}

function lines(objects: AsyncIterable<object>): Answer {
  const text = async function* () {
    for await (const object of objects) yield `${JSON.stringify(object)}\n`;
  };
  return new Answer(Readable.from(text()), { type: "application/x-ndjson" });
}

async function* longWork(work: LongWork, asProblem: (error: unknown) => object): AsyncGenerator<object> {
  const gone = new AbortController();
  let latest: { done: number; total: number } | undefined;
  let ended: object | undefined;
  const working = work((done, total) => {
    latest = { done, total };
  }, gone.signal)
    .then(
      (result) => ({ result }),
      // What ended because nobody waits for it is no fault.
      (error) => (gone.signal.aborted ? {} : { problem: asProblem(error) }),
    )
    .then((end) => {
      ended = end;
    });
  try {
    while (ended === undefined) {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        working,
        new Promise((resolve) => {
          timer = setTimeout(resolve, PROGRESS_INTERVAL_MS);
        }),
      ]);
      clearTimeout(timer);
      if (latest !== undefined) yield { progress: latest };
      latest = undefined;
    }
    yield ended;
  } finally {
    gone.abort();
  }
}

function problem(error: unknown, call: Call, { log }: HttpServices): object {
  const failure = failureOf(error, call, log);
  // The operator is told what a stranger is not.
  const cause = failure.code === "internal_error" ? failure.extra.cause : undefined;
  return problemOf(failure.code, cause instanceof Error ? cause.message : failure.message, call.id);
}
