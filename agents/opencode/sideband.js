/**
 * Sideband for opencode: the memory is in the system prompt of every session, the same text until the session is compacted.
 * It is read once for a session, with the command that Claude Code and Codex have as their hook.
 */

import { spawn } from "node:child_process";

const COMMAND = ["sideband"];
const WAIT_MS = 10_000;

export const SidebandMemory = async ({ directory }) => {
  const sections = new Map();
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.compacted" || event.type === "session.deleted") sections.delete(id);
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      if (sessionID === undefined) return;
      if (!sections.has(sessionID)) sections.set(sessionID, readSection(directory));
      const section = await sections.get(sessionID);
      if (section !== "") system.push(section);
    },
  };
};

/** The section; empty if there is nothing in it, or no memory in time. */
function readSection(cwd) {
  return new Promise((resolve) => {
    const [program, ...args] = COMMAND;
    const child = spawn(program, [...args, "hook", "--host", "opencode"], {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: WAIT_MS,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(contextIn(output)));
    child.stdin.end(JSON.stringify({ hook_event_name: "SessionStart", source: "startup", cwd }));
  });
}

function contextIn(output) {
  try {
    return JSON.parse(output).hookSpecificOutput?.additionalContext ?? "";
  } catch {
    return "";
  }
}
