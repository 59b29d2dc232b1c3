/**
 * The power fails: what was not synced is lost, in whole or in part. A sample of the points and of the disks that each may
 * leave, from a seed; `npm run test:power -- SEED ROUNDS` tries them all.
 */

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { canRecord } from "./power/recording.ts";

const SCRIPT = fileURLToPath(new URL("./power/run.ts", import.meta.url));
const ROUNDS = 0;
/** Disks of each recording from the points at which a name changes or a file begins, and a quarter as many from others. */
const SAMPLE = 40;

test("a loss of power at any point of a start, a group, a compaction, a backup, a restore, an import or an export: all that was acknowledged is there", async (t) => {
  if (!canRecord()) {
    t.skip("no C compiler (cc) on Linux to record the calls with");
    return;
  }
  const seed = Date.now() % 2 ** 32;
  const args = [String(seed), String(ROUNDS), "--sample", String(SAMPLE)];
  // In a process of its own: a disk that is opened as a store when it is none would end it.
  const child = fork(SCRIPT, args, {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const disks: string[] = [];
  let output = "";
  child.on("message", (what: string) => {
    disks.push(what);
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [status, signal] = (await once(child, "close")) as [number | null, string | null];
  assert.equal(status ?? signal, 0, `${output}\nthe last disks: ${disks.slice(-4).join("; ")}`);
});
