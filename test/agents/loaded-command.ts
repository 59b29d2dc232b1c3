/**
 * Runs the built command without a process for each call: most of a call's processor time would be the start of Node. For
 * tests of what a command says and does; where its process is the subject, the tests start one.
 */

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { builtSideband } from "./built.ts";

export interface Finished {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export interface Call {
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const SCRIPT = fileURLToPath(new URL("loaded-command.mjs", import.meta.url));

let started: ChildProcess | undefined;
const waiting: { resolve(answer: Finished): void; reject(error: Error): void }[] = [];

/** One call after the other. */
export function callCommand(call: Call): Promise<Finished> {
  started ??= start();
  const child = started;
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.ref();
    child.channel?.ref();
    child.send(call);
  });
}

function start(): ChildProcess {
  builtSideband();
  const child = fork(SCRIPT, { execArgv: [] });
  child.on("message", (answer) => {
    waiting.shift()?.resolve(answer as Finished);
    if (waiting.length > 0) return;
    // It ends with this process, which it does not keep from ending.
    child.unref();
    child.channel?.unref();
  });
  child.on("exit", (status) => {
    started = undefined;
    for (const { reject } of waiting.splice(0))
      reject(new Error(`the command ended its process with the status ${status}`));
  });
  return child;
}
