/**
 * What only the operator's commands call, through the door: export, import, verify, compact, backup. Answers are
 * lines of JSON. Long work sends {"progress": {"done", "total"}} now and then and ends with {"result": …} or
 * {"problem": …}; an export ends with {"kind": "end"}, so that one that was broken off is told from a whole one.
 */

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../../base/errors.ts";
import { linesOf } from "../../base/lines.ts";
import { problemOf } from "../../contract/errors.ts";
import type { Progress } from "../../memory/ports.ts";
import { exportLines, importLines } from "../../memory/transfer.ts";
import { verifyAll } from "../../memory/verify.ts";
import type { HttpParts } from "../parts.ts";
import { failureOf } from "../problem.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Work that reports how far it is, and stops early when nobody waits for it any more. */
type LongWork = (progress: Progress, signal: AbortSignal) => Promise<object>;

export function registerOperator(app: FastifyInstance, parts: HttpParts): void {
  const { memory, upkeep, door, version } = parts;
  app.addContentTypeParser("application/x-ndjson", (_request, payload, done) => done(null, payload));
  const onRequest = async (request: FastifyRequest) => {
    if (!door.admits(request.raw)) throw new Failure("not_found", "There is nothing at this address.");
  };
  const run = (request: FastifyRequest, reply: FastifyReply, work: LongWork) =>
    lines(
      reply,
      longWork(work, (error) => problem(error, request, parts)),
    );

  app.get("/operator/owner", { onRequest }, async () => ({ pid: process.pid, version }));

  app.get<{ Querystring: { account?: string } }>("/operator/export", { onRequest }, (request, reply) =>
    lines(reply, exported(parts, request)),
  );

  app.post("/operator/import", { onRequest }, (request) =>
    importLines(memory.store, linesOf(request.body as Readable), {
      nowMs: memory.clock.now(),
      atStep: parts.atStep,
    }),
  );

  app.post<{ Body: { account?: string } }>("/operator/verify", { onRequest }, (request, reply) =>
    run(request, reply, (progress, signal) => verifyAll(memory, { ...request.body, progress, signal })),
  );

  app.post("/operator/compact", { onRequest }, (request, reply) =>
    run(request, reply, (progress) => upkeep.compact(progress)),
  );

  app.post<{ Body: { folder: string; without_master_key: boolean } }>(
    "/operator/backup",
    { onRequest },
    (request, reply) =>
      run(request, reply, (progress) =>
        upkeep.backUp(request.body.folder, !request.body.without_master_key, progress),
      ),
  );

  app.post("/operator/end", { onRequest }, async (_, reply) => {
    reply.raw.once("close", () => upkeep.end());
    return { status: "ok" };
  });
}

async function* exported(parts: HttpParts, request: FastifyRequest): AsyncGenerator<object> {
  const { account } = request.query as { account?: string };
  try {
    for await (const line of exportLines(parts.memory.store, account)) yield line;
    yield { kind: "end" };
  } catch (error) {
    yield { problem: problem(error, request, parts) };
  }
}

function lines(reply: FastifyReply, objects: AsyncIterable<object>): FastifyReply {
  const text = async function* () {
    for await (const object of objects) yield `${JSON.stringify(object)}\n`;
  };
  return reply.type("application/x-ndjson").send(Readable.from(text()));
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
      (error) => ({ problem: asProblem(error) }),
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

function problem(error: unknown, request: FastifyRequest, parts: HttpParts): object {
  const failure = failureOf(error, request, parts.log);
  // The operator is told what a stranger is not.
  const cause = failure.code === "internal_error" ? failure.extra.cause : undefined;
  return problemOf(failure.code, cause instanceof Error ? cause.message : failure.message, request.id);
}
