/**
 * Sideband for opencode: the memory is in the system prompt of every session, the same text until the session is compacted.
 * It is read once for a session, with the command that Claude Code and Codex have as their hook. Where memory is away, the
 * model and the person are told so, and it is asked for again.
 */

import { spawn } from "node:child_process";

const COMMAND = ["sideband"];
const OPTIONS = [];
const WAIT_MS = 10_000;
/** How long a session goes on without memory before it is asked for again. */
const AGAIN_MS = 30_000;
/** Where the command itself does not answer. */
const AWAY = {
  section:
    "<sideband-memory>\nMemory cannot be reached now. Do not claim to remember what is not in this conversation, nor to have stored anything; say so if it matters.\n</sideband-memory>",
  said: "Sideband: going on without memory: the command does not answer",
  isAway: true,
};

export const SidebandMemory = async ({ directory, client }) => {
  const sessions = new Map();
  const known = async (sessionID) => {
    const { reading, untilMs = Number.POSITIVE_INFINITY } = sessions.get(sessionID) ?? {};
    if (reading !== undefined && Date.now() < untilMs) return reading;
    const session = { reading: readMemory(directory) };
    sessions.set(sessionID, session);
    const { said, isAway } = await session.reading;
    if (isAway) {
      session.untilMs = Date.now() + AGAIN_MS;
      // The person sees it where there is a screen; where there is none, nothing is lost.
      const toast = { body: { message: said, variant: "warning" } };
      void (async () => client?.tui?.showToast?.(toast))().catch(() => {});
    }
    return session.reading;
  };
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.compacted" || event.type === "session.deleted") sessions.delete(id);
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (sessionID === undefined) return;
      const { section } = await known(sessionID);
      if (section !== "") system.push(section);
    },
  };
};

/** The section, which is empty if there is nothing to tell, and a line for the person. */
function readMemory(cwd) {
  return new Promise((resolve) => {
    const [program, ...args] = COMMAND;
    const child = spawn(program, [...args, "hook", "--host", "opencode", ...OPTIONS], {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: WAIT_MS,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(AWAY));
    child.on("close", (status) => resolve(status === 0 ? memoryIn(output) : AWAY));
    child.stdin.end(JSON.stringify({ hook_event_name: "SessionStart", source: "startup", cwd }));
  });
}

function memoryIn(output) {
  if (output === "") return { section: "", said: "", isAway: false };
  try {
    const { hookSpecificOutput, systemMessage = "", isAway = false } = JSON.parse(output);
    return { section: hookSpecificOutput?.additionalContext ?? "", said: systemMessage, isAway };
  } catch {
    return AWAY;
  }
}
