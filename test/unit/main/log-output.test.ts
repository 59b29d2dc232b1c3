/** The output of the log, on a file that takes part of what it is given, or nothing. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LogOutput } from "../../../src/main/log-output.ts";
import { ModuleTimers } from "../../fixtures/module-timers.ts";

/** Takes up to `room` bytes at a time; without room it fails. */
function smallFile(context: TestContext) {
  const timers = new ModuleTimers(context, "src/main/log-output.ts");
  const file = { text: "", room: Number.POSITIVE_INFINITY, isStuck: false, fullTimes: 0 };
  const take = (bytes: Buffer) => {
    if (file.room === 0) throw new Error("ENOSPC: no space left on device");
    if (file.fullTimes-- > 0) throw Object.assign(new Error("try again"), { code: "EAGAIN" });
    const taken = bytes.subarray(0, file.room);
    file.text += taken;
    return taken.length;
  };
  const atExit: (() => void)[] = [];
  context.mock.method(process, "once", (_: string, listener: () => void) => atExit.push(listener));
  const output = new LogOutput({
    write: (bytes, done) =>
      setImmediate(() => {
        if (file.isStuck) return;
        try {
          done(null, take(bytes));
        } catch (error) {
          done(error as Error, 0);
        }
      }),
    writeSync: take,
  });
  const settle = async () => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  };
  return { file, output, timers, settle, exit: () => atExit.map((listener) => listener()) };
}

test("lines come out in their order, also where each write takes a part", async (t) => {
  const { file, output, settle } = smallFile(t);
  file.room = 5;
  const lines = Array.from({ length: 10 }, (_, i) => `line ${i}\n`);
  for (const line of lines.slice(0, 5)) output.write(line);
  await settle();
  for (const line of lines.slice(5)) output.write(line);
  await settle();
  assert.equal(file.text, lines.join(""));
});

test("what cannot be written is tried again, and what there is no room to keep is counted", async (t) => {
  const { file, output, timers, settle } = smallFile(t);
  file.room = 0;
  const line = `${"x".repeat(2 ** 18)}\n`;
  for (let i = 0; i < 10; i++) output.write(line);
  await settle();
  timers.tick(1_000);
  await settle();
  assert.equal(file.text, "");
  file.room = Number.POSITIVE_INFINITY;
  output.write("last\n");
  timers.tick(1_000);
  await settle();
  const written = file.text.split("\n");
  assert.deepEqual(written.slice(0, 4), [...Array(3).fill(line.trimEnd()), "last"]);
  const { count, msg } = JSON.parse(written[4]);
  assert.deepEqual([count, msg], [7, "lines of the log were left out: they could not be written"]);
});

test("a pipe whose reader was behind for a moment is written to again at once", async (t) => {
  const { file, output, timers, settle } = smallFile(t);
  file.fullTimes = 3;
  output.write("one\n");
  for (let i = 0; i < 3; i++) {
    await settle();
    assert.equal(file.text, "");
    timers.tick(10);
  }
  await settle();
  assert.equal(file.text, "one\n");
});

for (const [what, fullTimes, text] of [
  ["is waited for", 3, "one\n"],
  ["is given up if it stays so", Number.POSITIVE_INFINITY, ""],
] as const) {
  test(`at the end of the process a reader that is behind ${what}`, async (t) => {
    const { file, output, settle, exit } = smallFile(t);
    file.fullTimes = 1;
    output.write("one\n");
    await settle();
    file.fullTimes = fullTimes;
    exit();
    assert.equal(file.text, text);
  });
}

test("at the end of the process the rest is written behind what is being written", (t) => {
  const { file, output, exit } = smallFile(t);
  output.write("one\n");
  output.write("two\n");
  file.isStuck = true;
  file.room = 3;
  exit();
  assert.equal(file.text, "two\n");
});

test("at the end of the process what cannot be written is given up", async (t) => {
  const { file, output, settle, exit } = smallFile(t);
  file.room = 0;
  output.write("one\n");
  await settle();
  exit();
  assert.equal(file.text, "");
});
