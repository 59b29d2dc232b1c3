/**
 * The MCP server of one agent on standard input and output, for one user. Serves clients of the 2025 revisions
 * and of 2026-07-28; both are told when the memory changes, by whomever: it asks now and then, only while somebody wants to
 * know, and compares the facts, which need no block work. The project is that of the client's roots, where it has roots.
 */

import { Transform } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { type StdioServerHandle, StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { AgentMemory } from "../agent-side/agent-memory.ts";
import type { SectionParts } from "../agent-side/memory-section.ts";
import { TURNED_OFF } from "../agent-side/prompts.ts";
import { isForAnotherUser, otherUserText } from "../agent-side/written-line.ts";
import type { FactsAnswer } from "../contract/answers.ts";
import { memoryServer, memoryUri, type ServerCall } from "./memory-server.ts";

interface StdioOptions {
  readonly memory: AgentMemory;
  readonly userId: string;
  readonly version: string;
  readonly allowSecrets: boolean;
  readonly labels?: ServerCall["labels"];
  readonly include: SectionParts;
  readonly contextTokens?: number | undefined;
  readonly undoIn?: ServerCall["undoIn"];
  readonly groupsIn?: ServerCall["groupsIn"];
  /** The project of the client's roots, which are file: addresses; undefined if it has none to tell. */
  readonly projectIn: (roots: readonly string[] | undefined) => Promise<string | undefined>;
  /** A line that says that memory is off there; undefined if it is on. */
  readonly offIn: (roots: readonly string[] | undefined) => Promise<string | undefined>;
}

const ROOTS_WAIT_MS = 1_000;
const ROOTS_SILENCE_MS = 30_000;
/** The longest that a timer takes: an answer is of use whenever it comes. */
const ANSWER_MS_MAX = 2 ** 31 - 1;
const ROOTS_UNKNOWN =
  "The host has not said yet in which folder it works (roots/list), so nothing was read or written. Call again in a moment.";

export function serveMcpStdio(options: StdioOptions, onError: (error: Error) => void): StdioServerHandle {
  const tooLong = (id: string | undefined) => {
    onError(new Error(TOO_LONG));
    const error = `{"code":-32600,"message":${JSON.stringify(TOO_LONG)}}`;
    if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${id},"error":${error}}\n`);
  };
  const transport = new StdioServerTransport(process.stdin.pipe(boundedLines(tooLong)));
  const server = ({ era }: { era: string }) => watchedServer(options, era === "modern");
  const handle = serveStdio(server, { transport, onerror: onError });
  return {
    async close() {
      await handle.close();
      // A client that keeps its end open keeps no process alive.
      process.stdin.unpipe().pause();
    },
  };
}

/** The library ends the connection at 10 MiB. */
const LINE_BYTES_MAX = 8 << 20;
const TOO_LONG = `the message has more than ${LINE_BYTES_MAX >> 20} MiB: nothing was done`;
/** The id of a request is its first field, or the second one, or the last. */
const FIRST_ID = /^\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(-?\d+|"[\w.:-]+")\s*,/;
const LAST_ID = /,\s*"id"\s*:\s*(-?\d+|"[\w.:-]+")\s*\}\s*$/;
const ID_BYTES_MAX = 256;
const LINE_BREAK = 0x0a;

/** Whole lines, without those that are too long. @param onTooLong is told the id of each, as it is in JSON, where it has one */
function boundedLines(onTooLong: (id: string | undefined) => void): Transform {
  let [parts, size]: [Buffer[], number] = [[], 0];
  let tail = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let from = 0, end = 0; from < chunk.length; from = end) {
        end = chunk.indexOf("\n", from) + 1 || chunk.length;
        const part = chunk.subarray(from, end);
        size += part.length;
        if (size <= LINE_BYTES_MAX || parts.length === 0) parts.push(part);
        else parts.length = 1;
        tail = (tail + part.subarray(-ID_BYTES_MAX).toString("latin1")).slice(-ID_BYTES_MAX);
        if (chunk[end - 1] !== LINE_BREAK) continue;
        const head = parts[0]!.toString("latin1", 0, ID_BYTES_MAX);
        if (size <= LINE_BYTES_MAX) this.push(Buffer.concat(parts));
        else onTooLong((FIRST_ID.exec(head) ?? LAST_ID.exec(tail))?.[1]);
        [parts, size, tail] = [[], 0, ""];
      }
      done();
    },
  });
}

/** A server that says when its user's memory has changed, to those who asked for it. */
function watchedServer({ projectIn, offIn, ...options }: StdioOptions, modern: boolean): McpServer {
  const { memory, userId, version, include, contextTokens } = options;
  const uri = memoryUri(userId);
  let isTurnedOff = false;
  const tellOfTools = () => void server.server.sendToolListChanged().catch(() => {});
  let rootsNow: ReturnType<typeof askRoots> | undefined;
  const told = () => {
    rootsNow ??= askRoots(rootsOf(server), tellOfTools);
    return rootsNow();
  };
  const offText = async () => (isTurnedOff ? TURNED_OFF : offIn((await told()).roots));
  const projectOf = async () => {
    const off = await offText();
    if (off !== undefined) throw Object.assign(new Error(off), { code: "memory_off" });
    const { isKnown, roots } = await told();
    if (!isKnown) throw Object.assign(new Error(ROOTS_UNKNOWN), { code: "no_project" });
    return projectIn(roots);
  };
  let watch: Watch | undefined;
  const tell = () => void server.server.sendResourceUpdated({ uri }).catch(() => {});
  const start = () => {
    watch ??= watchMemory(async () => memory.facts(userId, { project: await projectOf() }), tell);
  };
  const stop = () => {
    watch?.stop();
    watch = undefined;
  };
  const call: ServerCall = {
    ...options,
    projectOf,
    explained: (error) =>
      isForAnotherUser(error)
        ? Object.assign(new Error(otherUserText(userId)), { code: "user_not_allowed" })
        : error,
    clientName: () => server.server.getClientVersion()?.name,
    subscriptions: {
      async subscribe(asked) {
        if (asked === uri) start();
        await watch?.check();
      },
      unsubscribe: (asked) => asked === uri && stop(),
    },
    onChange: () => void watch?.check(),
    onLabels: tellOfTools,
    isOff: async () => (await offText()) !== undefined,
    turnOff() {
      isTurnedOff = true;
      tellOfTools();
    },
  };
  const offers = { isBound: true, isPlaced: true, addsLabels: true, turnsOff: true };
  const shape = { version, include, contextTokens, ...offers, takesSubscriptions: true, tellsOfLabels: true };
  const server = memoryServer(shape, () => call);
  server.server.onclose = stop;
  server.server.setNotificationHandler("notifications/roots/list_changed", () => {
    rootsNow = undefined;
  });
  // On a 2026-07-28 connection the transport keeps the subscriptions, and drops what nobody asked for.
  if (modern) start();
  return server;
}

async function rootsOf({ server }: McpServer): Promise<string[] | undefined> {
  if (server.getClientCapabilities()?.roots === undefined) return undefined;
  try {
    const { roots } = await server.listRoots(undefined, { timeout: ANSWER_MS_MAX });
    return roots.length === 0 ? undefined : roots.map(({ uri }) => uri);
  } catch {
    // A client that cannot say works in the folder in which it started us.
    return undefined;
  }
}

interface ClientRoots {
  readonly roots: string[] | undefined;
  readonly isKnown: boolean;
}

/**
 * What is known of the roots at each call, which waits for them a moment. A client that is silent for long works in the folder
 * in which it started us, until it says another.
 * @param onLate hears of an answer for which a call has not waited
 */
export function askRoots(
  answer: Promise<string[] | undefined>,
  onLate: () => void,
  { waitMs = ROOTS_WAIT_MS, silenceMs = ROOTS_SILENCE_MS } = {},
): () => Promise<ClientRoots> {
  const askedMs = performance.now();
  let told: ClientRoots | undefined;
  let isLate = false;
  const heard = answer.then((roots) => {
    told = { roots, isKnown: true };
    if (isLate) onLate();
  });
  return async () => {
    const isSilent = () => performance.now() - askedMs >= silenceMs;
    if (told === undefined && !isSilent())
      await Promise.race([heard, pause(waitMs, undefined, { ref: false })]);
    isLate = told === undefined;
    return told ?? { roots: undefined, isKnown: isSilent() };
  };
}

const WATCH_INTERVAL_MS = 2_000;

interface Watch {
  /** Asks at once, for example after a change of one's own. Changes are seen from the first answer on. */
  check(): Promise<void>;
  stop(): void;
}

/** Calls `onChange` once for each change seen, until stopped. */
function watchMemory(factsOf: () => Promise<FactsAnswer>, onChange: () => void): Watch {
  let known: string | undefined;
  let stopped = false;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    try {
      const { facts } = await factsOf();
      if (stopped) return;
      const found = JSON.stringify(facts.map(({ label, value }) => [label, value]));
      const changed = known !== undefined && known !== found;
      known = found;
      if (changed) onChange();
    } catch {
      // Memory is away: a change is seen when it is back. What it was before is not known then, so it counts as one.
      known ??= "";
    }
  }
  function check(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  const timer = setInterval(check, WATCH_INTERVAL_MS);
  // Watching keeps no process alive.
  timer.unref();
  void check();
  return {
    check,
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
