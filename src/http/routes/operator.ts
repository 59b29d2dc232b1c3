/**
 * What only the operator's commands call, through the door: export, import, verify, compact, backup. Answers are
 * lines of JSON. Long work sends {"progress": {"done", "total"}} now and then and ends with {"result": …} or
 * {"problem": …}; an export ends with {"kind": "end"}, so that one that was broken off is told from a whole one.
 */

import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { linesOf } from "../../base/lines.ts";
import { Receipt as ReceiptBody } from "../../contract/erasure-schemas.ts";
import { problemOf } from "../../contract/errors.ts";
import { Type } from "../../contract/type.ts";
import { erasuresIn } from "../../memory/erasure-lines.ts";
import type { Progress } from "../../memory/ports.ts";
import { eraseAgain } from "../../memory/repeated-erasures.ts";
import { exportLines, importLines } from "../../memory/transfer.ts";
import { verifyAll } from "../../memory/verify.ts";
import { Answer } from "../request/answer.ts";
import { noteOf } from "../request/audited.ts";
import type { Call } from "../request/call.ts";
import { failureOf } from "../request/problem.ts";
import { type Route, routeOf } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { receiptOf } from "./life-mapping.ts";

const PROGRESS_INTERVAL_MS = 100;
/** How long the rest of a refused import is read. */
const REST_MS = 10_000;

/** Work that reports how far it is, and stops early when nobody waits for it any more. */
type LongWork = (progress: Progress, signal: AbortSignal) => Promise<object>;

const VerifyBody = Type.Object({
  account: Type.Optional(Type.String()),
  deep: Type.Optional(Type.Boolean()),
});
const ExportQuery = Type.Object({
  account: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
});
const ImportQuery = Type.Object({ with_keys: Type.Optional(Type.String()) });
const EndQuery = Type.Object({ pid: Type.Optional(Type.String()) });
const EraseAgainBody = Type.Object({ lines: Type.String() });
/** About 45,000 entries: who has more sends them in parts. */
const ERASURES_BYTES_MAX = 2 ** 22;
const BackupBody = Type.Object({ folder: Type.String(), without_master_key: Type.Boolean() });

export function operatorRoutes(services: HttpServices): Route[] {
  const { memory, upkeep, version, atStep, receipts, audit } = services;
  const get = (path: string) => ({ method: "GET", path, access: "door" }) as const;
  const post = (path: string) => ({ method: "POST", path, access: "door" }) as const;
  const run = (call: Pick<Call, "id">, work: LongWork) =>
    lines(longWork(work, (error) => problem(error, call, services)));

  return [
    routeOf(get("/operator/owner"), () => ({ pid: process.pid, version })),

    routeOf({ ...get("/operator/export"), query: ExportQuery }, (call) =>
      lines(exported(services, call, call.query)),
    ),

    routeOf({ ...post("/operator/import"), query: ImportQuery, bodyBytesMax: "stream" }, async (call) => {
      const { request, query } = call;
      const chunks = request.iterator({ destroyOnReturn: false });
      const options = { nowMs: memory.clock.now(), atStep, withKeys: query.with_keys === "true" };
      await audit.add(noteOf(call, "import", audit));
      try {
        return await importLines(memory.store, linesOf(chunks), options);
      } catch (error) {
        // A sender whose connection ends while it still writes does not get the answer: the rest is read first.
        await finished(request.resume(), { signal: AbortSignal.timeout(REST_MS) }).catch(() => {});
        throw error;
      }
    }),

    routeOf({ ...post("/operator/verify"), body: VerifyBody }, (call) =>
      run(call, (progress, signal) => verifyAll(memory, { deep: false, ...call.body, progress, signal })),
    ),

    routeOf(post("/operator/compact"), (call) => run(call, (progress) => upkeep.compact(progress))),

    routeOf({ ...post("/operator/backup"), body: BackupBody }, (call) => {
      const { folder, without_master_key: withoutKey } = call.body;
      return run(call, (progress) => upkeep.backUp(folder, !withoutKey, progress));
    }),

    routeOf(
      { ...post("/operator/erase-again"), body: EraseAgainBody, bodyBytesMax: ERASURES_BYTES_MAX },
      async (call) => {
        await audit.add(noteOf(call, "eraseAgain", audit));
        return eraseAgain(memory, erasuresIn(call.body.lines));
      },
    ),

    routeOf({ ...post("/operator/verify-receipt"), body: ReceiptBody }, (call) => {
      const genuine = receipts.isGenuine(receiptOf(call.body));
      return { genuine: genuine ?? false, key_known: genuine !== undefined };
    }),

    routeOf({ ...post("/operator/end"), query: EndQuery }, ({ query, end }) => {
      // Another pid means a process that has ended already, and whose place this one has taken.
      const isMeant = query.pid === undefined || query.pid === String(process.pid);
      if (isMeant) end.once("close", () => upkeep.end());
      return { status: "ok" };
    }),
  ];
}

async function* exported(
  services: HttpServices,
  call: Pick<Call, "id">,
  { account, user: userId }: { account?: string; user?: string },
): AsyncGenerator<object> {
  try {
    for await (const line of exportLines(services.memory.store, {
      account,
      userId,
      nowMs: services.memory.clock.now(),
    }))
      yield line;
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

function problem(error: unknown, call: Pick<Call, "id">, { log }: HttpServices): object {
  const failure = failureOf(error, call, log);
  // The operator sees the internal cause.
  const cause = failure.code === "internal_error" ? failure.extra.cause : undefined;
  return problemOf(failure.code, cause instanceof Error ? cause.message : failure.message, call.id);
}
