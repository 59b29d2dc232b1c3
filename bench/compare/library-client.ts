/** Opens a library in a process of its own (library-process.ts), which can be killed and recorded as a server can. */

import { fileURLToPath } from "node:url";
import type { Memory } from "./memory.ts";
import type { Place } from "./place.ts";

export interface Question {
  readonly id: number;
  readonly call: string;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
  /** The calls that the memory has, in the first message. */
  readonly calls?: readonly string[];
}

const PROGRAM = fileURLToPath(new URL("library-process.ts", import.meta.url));

/** @param id none for a process that opens nothing */
export async function openInProcess(place: Place, id = ""): Promise<Memory> {
  const notes = JSON.stringify([...place.notes]);
  const args = ["--import", import.meta.resolve("tsx"), PROGRAM, id, place.folder, notes];
  const child = place.spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const waiting = new Map<number, (answer: Answer) => void>();
  let count = 0;
  const ended = () => {
    for (const [key, answer] of waiting) answer({ id: key, error: "the process has ended" });
    waiting.clear();
  };
  child.once("exit", ended);
  child.once("error", ended);
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const answered = (key: number) =>
    new Promise<Answer>((resolve) => {
      waiting.set(key, resolve);
    });
  const ask = async (call: string, ...parts: unknown[]) => {
    count += 1;
    const answer = answered(count);
    if (!child.connected) throw new Error("the process has ended");
    child.send({ id: count, call, args: parts } satisfies Question, () => {});
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(error);
    return result;
  };
  const { calls, error } = await answered(0);
  if (calls === undefined) throw new Error(error ?? "the process has ended");
  const memory = Object.fromEntries(
    calls.map((call) => [call, (...parts: unknown[]) => ask(call, ...parts)]),
  );
  return {
    ...memory,
    close: async () => {
      await ask("close").catch(() => {});
      if (child.connected) child.disconnect();
    },
  } as unknown as Memory;
}
