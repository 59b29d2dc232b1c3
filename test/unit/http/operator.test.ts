/** The operator's long work, when nobody waits for it any more. */

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Answer } from "../../../src/http/request/answer.ts";
import type { Call } from "../../../src/http/request/call.ts";
import { operatorRoutes } from "../../../src/http/routes/operator.ts";
import type { HttpServices } from "../../../src/http/services.ts";
import type { Progress } from "../../../src/memory/ports.ts";

for (const { name, hangsUp, logLines } of [
  { name: "work that fails is logged as an error", hangsUp: false, logLines: 1 },
  { name: "work that fails after its caller hung up is no news", hangsUp: true, logLines: 0 },
]) {
  test(name, { timeout: 60_000 }, async () => {
    let logged = 0;
    let fail = (_error: Error) => {};
    let report: Progress = () => {};
    const compact = (progress: Progress) =>
      new Promise<never>((_resolve, reject) => {
        fail = reject;
        report = progress;
      });
    const log = { error: () => (logged += 1) };
    const routes = operatorRoutes({ log, upkeep: { compact } } as unknown as HttpServices);
    const { handle } = routes.find(({ path }) => path === "/operator/compact")!;
    const { body } = handle({ id: "id" } as Call) as Answer;
    assert.ok(body instanceof Readable);
    const closed = new Promise((resolve) => body.resume().once("close", resolve));
    await setImmediate();
    if (hangsUp) {
      // It is noticed with the next line of progress.
      body.destroy();
      report(1, 2);
      await closed;
    }
    fail(new Error("ended early"));
    await closed;
    await setImmediate();
    assert.equal(logged, logLines);
  });
}
