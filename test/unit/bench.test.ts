/** How the benchmarks are called: help alone, wrong calls, and a part that runs. CI runs all of them in small. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { main } from "../../bench/main.ts";

async function run(context: TestContext, ...args: string[]) {
  const log = context.mock.method(console, "log", () => {});
  const error = context.mock.method(console, "error", () => {});
  const said = (method: typeof log) => method.mock.calls.flatMap((call) => call.arguments).join("\n");
  try {
    return { status: await main(args), out: said(log), err: said(error) };
  } finally {
    log.mock.restore();
    error.mock.restore();
  }
}

test("without a part and without --small the benchmarks print their help and run nothing", async (context) => {
  for (const args of [[], ["--json"], ["--help"], ["codec", "--help"], ["-h"]]) {
    const { status, out } = await run(context, ...args);
    assert.equal(status, 0);
    assert.match(
      out,
      /^usage: npm run bench -- \[codec\|damage\|reader\|labels\|values\|http\|inject\|streams\|hostile\|store\|life\|facts\|holds\|find\|growth\|fastify\]/,
    );
    assert.match(out, /Exit status/);
  }
});

test("a wrong call of the benchmarks ends with status 2 before anything runs", async (context) => {
  const calls = [
    ["nothing"],
    ["__proto__"],
    ["codec", "nothing"],
    ["codec", "--trials", "0"],
    ["codec", "--trials", "many"],
    ["codec", "--seed", "-1"],
    ["--nonsense"],
  ];
  for (const call of calls) {
    const { status, out, err } = await run(context, ...call);
    assert.deepEqual([status, out], [2, ""], call.join(" "));
    assert.match(err, /--help says how/);
  }
});
