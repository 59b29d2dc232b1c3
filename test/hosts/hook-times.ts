/**
 * How long the hooks take with 40 facts of 90 characters in a data folder, beyond a start of Node that does nothing. The
 * processor time in it is what a busy machine changes least.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { projectOf } from "../../src/agents/project.ts";
import { ACCOUNT_DEFAULT } from "../../src/base/accounts.ts";
import { LABELS } from "../../src/base/channel-labels.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { endOwner } from "../agents/host.ts";
import type { Room } from "./room.ts";

export interface HookTime {
  readonly event: string;
  readonly wholeMs: number;
  readonly cpuMs: number;
}

export interface HookTimes {
  /** Machine, Node and load. */
  readonly where: string;
  readonly times: readonly HookTime[];
}

/** What a hook may take beyond the start of Node. */
export const HOOK_MS_MAX = 150;
const ROUNDS = 15;
const VALUE_LENGTH = 90;
const EVENTS = ["SessionStart", "SubagentStart", "PreCompact", "Stop"];

export async function measureHooks(room: Room): Promise<HookTimes> {
  const home = join(room.home, "hooks");
  const repository = join(home, "loom");
  const data = join(home, "data");
  mkdirSync(repository, { recursive: true });
  execFileSync("git", ["init", "-q"], { cwd: repository });
  execFileSync("git", ["remote", "add", "origin", "git@example.com:ada/loom.git"], { cwd: repository });
  // The owner of the data folder, as without a service.
  const env = { SIDEBAND_API_URL: "", SIDEBAND_API_KEY: "", SIDEBAND_DATA: data };
  const measure = async (event: string) => {
    const input = JSON.stringify({ hook_event_name: event, source: "startup", cwd: repository });
    const program = event === "" ? "-e 0" : `"${room.packed.script}" hook`;
    const line = `TIMEFORMAT="%R %U %S"; time "${process.execPath}" ${program} <<< '${input}' > /dev/null`;
    const { output } = await room.run("bash", ["-c", line], env);
    // Anything before the times is a line of a hook that failed.
    const [wholeS, userS, systemS] = output.trim().split(" ").map(Number);
    if (Number.isNaN(systemS)) throw new Error(output);
    return { wholeMs: wholeS * 1000, cpuMs: (userS + systemS) * 1000 };
  };
  try {
    // It starts the owner.
    await measure("SessionStart");
    const facts = LABELS.map((label) => ({
      label,
      value: `${label} `.padEnd(VALUE_LENGTH, "of the loom ").trim(),
    }));
    const body = { user_id: "ada", project: projectOf([repository]), facts };
    await OwnerClient.of(data).json("POST", "/encode/batch", body, { account: ACCOUNT_DEFAULT });
    const load = loadavg()[0].toFixed(1);
    const measured = new Map(["", ...EVENTS].map((event) => [event, [] as Omit<HookTime, "event">[]]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [event, list] of measured) list.push(await measure(event));
    }
    const median = (event: string, time: "wholeMs" | "cpuMs") =>
      measured
        .get(event)!
        .map((one) => one[time])
        .sort((a, b) => a - b)[ROUNDS >> 1];
    const beyond = (event: string, time: "wholeMs" | "cpuMs") =>
      Math.round(median(event, time) - median("", time));
    const times = EVENTS.map((event) => ({
      event,
      wholeMs: beyond(event, "wholeMs"),
      cpuMs: beyond(event, "cpuMs"),
    }));
    const machine = `${cpus()[0].model.trim()}, ${availableParallelism()} cores, ${process.arch}`;
    return { where: `Node ${process.versions.node} on ${machine}, load ${load}`, times };
  } finally {
    await endOwner(data);
  }
}
