/**
 * What `sideband agents install` puts where, for each agent. A piece is a file of ours, or a part that is added to a
 * file of the user. The user's own hooks and settings stay.
 *
 * The files call `sideband` where a shell finds it at any time, and otherwise this installation by its full path.
 */

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { type AgentKind, agentText, agentTree, type Piece, shellWord } from "./agent-files.ts";
import {
  hasFields,
  ITEM,
  isFields,
  type JsonFields,
  type JsonValue,
  withFields,
  withoutFields,
} from "./json-text.ts";
import { MCP_AGENTS, SETTINGS_HINT } from "./mcp-hosts.ts";
import { withoutTable, withTable } from "./toml-text.ts";

export const AGENTS: readonly AgentKind[] = [
  {
    name: "claude-code",
    title: "Claude Code plugin: hooks, MCP server, skill",
    folder: ({ home }) => join(home, ".sideband", "claude-code"),
    pieces: (options) => agentTree(options, "claude-code", options.target),
    next: (target) => [
      `claude plugin marketplace add ${shellWord(target)}`,
      "claude plugin install sideband@sideband",
      ...SETTINGS_HINT,
    ],
    after: ["claude plugin uninstall sideband@sideband", "claude plugin marketplace remove sideband"],
  },
  {
    name: "codex",
    title: "Codex CLI: hooks and MCP server",
    folder: ({ home }) => join(home, ".codex"),
    pieces: (options) => [
      {
        path: join(options.target, "hooks.json"),
        kind: "hooks",
        text: agentText(options, "codex/hooks.json"),
      },
      {
        path: join(options.target, "config.toml"),
        kind: "toml",
        text: agentText(options, "codex/config.toml"),
      },
    ],
    next: () => [
      "Start codex and trust the new hooks with /hooks. Until then Codex skips them and says nothing, also in",
      "codex exec: the tools work, but no session starts with the memory.",
      ...SETTINGS_HINT,
    ],
    after: [],
  },
  {
    name: "hermes",
    title: "Hermes Agent memory provider",
    callsService: true,
    folder: ({ home }) => join(home, ".hermes"),
    pieces: (options) => {
      const folder = join(options.target, "plugins", "sideband");
      const client = join(options.files, "..", "python", "sideband", "__init__.py");
      return [
        ...agentTree(options, "hermes/sideband", folder),
        { path: join(folder, "client.py"), kind: "file", text: readFileSync(client, "utf8") },
      ];
    },
    next: () => [
      "hermes config set memory.provider sideband",
      "Settings (environment, or hermes memory setup): SIDEBAND_API_KEY and SIDEBAND_API_URL of a running service,",
      "SIDEBAND_USER_ID.",
    ],
    after: ["hermes config set memory.provider none"],
  },
  {
    name: "openclaw",
    title: "OpenClaw skill and memory plugin",
    callsService: true,
    folder: ({ home }) => join(home, ".openclaw"),
    pieces: (options) => [
      ...agentTree(options, "openclaw/skill", join(options.target, "skills", "sideband")),
      ...agentTree(options, "openclaw/plugin", join(options.target, "sideband-plugin")),
    ],
    next: (target) => [
      "The skill needs only the settings. For the plugin (memory in every prompt, a flush before every compaction):",
      `openclaw plugins install --link ${shellWord(join(target, "sideband-plugin"))} --force --accept-capabilities`,
      "openclaw config set plugins.slots.memory sideband",
      "openclaw config set plugins.entries.sideband.hooks.allowConversationAccess true",
      "Settings (environment): SIDEBAND_API_KEY and SIDEBAND_API_URL of a running service, SIDEBAND_USER_ID.",
    ],
    after: ["openclaw plugins uninstall sideband"],
  },
  {
    name: "gemini-cli",
    title: "Gemini CLI extension: hook and MCP server",
    folder: ({ home }) => join(home, ".gemini"),
    pieces: (options) => agentTree(options, "gemini-cli", join(options.target, "extensions", "sideband")),
    next: () => ['Start gemini; "/extensions list" names it.', ...SETTINGS_HINT],
    after: [],
  },
  ...MCP_AGENTS,
];

/** Folders of the search path that are there only while npx, or a script of a project, runs. */
export const TEMPORARY_FOLDER = /[\\/](?:node_modules[\\/]\.bin|_npx)(?:[\\/]|$)/;

/** Whether a program is in a cache that its package manager may empty. */
export function isInCache(path: string): boolean {
  return /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/.test(path);
}

/**
 * `sideband` if a shell finds this version of it at any time, or else node with this installation's script.
 * npx and npm scripts put folders on the search path that are gone when the host starts a hook. On Windows the command is
 * `sideband.cmd`, which a host that starts an MCP server without a shell does not find.
 */
export function permanentCommand(
  searchPath: string,
  script: string,
  version: string,
  platform = process.platform,
): string[] {
  if (platform === "win32") return [process.execPath, script];
  const found = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !TEMPORARY_FOLDER.test(folder))
    .map((folder) => join(folder, "sideband"))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  const answers = found !== undefined && versionOf([found]) === version;
  return answers ? ["sideband"] : [process.execPath, script];
}

/** The version that a command prints; undefined if it does not start. */
export function versionOf([program, ...args]: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, [...args, "--version"], {
    encoding: "utf8",
    timeout: 10_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * The text of a user's file with a piece of ours in it, at its end. An older copy of ours is replaced.
 * @param old the piece as an earlier installation put it in
 */
export function withPiece(present: string | undefined, piece: Piece, old?: Piece): string {
  const { kind, text } = piece;
  if (kind === "json") return withEntry(present, piece, old);
  if (present === undefined || kind === "file") return text;
  if (kind === "toml") return withTable(present, text, old?.text);
  const bare = [piece, old ?? piece].reduce(withoutHooks, present);
  return Object.entries(hooksOf(text))
    .flatMap(([event, groups]) => groups.map((group) => ({ event, group })))
    .reduce(
      (changed, { event, group }) => withFields(changed, ["hooks", event, ITEM], group, () => false),
      bare,
    );
}

/**
 * The text of a user's file without a piece of ours; undefined if the piece is not in it as we put it in. The text as it is
 * where the piece cannot be taken out without what is the user's.
 */
export function withoutPiece(present: string, piece: Piece): string | undefined {
  const { kind, text, keys = [] } = piece;
  if (kind === "json") return withoutFields(present, keys, (entry) => hasFields(entry, entryFields(text)));
  if (kind === "file") return present === text ? "" : undefined;
  if (kind === "toml") return withoutTable(present, text);
  const bare = withoutHooks(present, piece);
  return bare === present ? undefined : bare;
}

function withEntry(present: string | undefined, { text, keys = [], fresh = "" }: Piece, old?: Piece): string {
  const ours = [text, ...(old === undefined ? [] : [old.text])].map(entryFields);
  const isOurs = (entry: JsonValue) => ours.some((fields) => hasFields(entry, fields));
  const start = present === undefined || present.trim() === "" ? `${present ?? ""}${fresh}` : present;
  return withFields(start, keys, entryFields(text), isOurs);
}

function entryFields(text: string): JsonFields {
  return JSON.parse(text) as JsonFields;
}

/** The text of a hooks file without our hooks. A group or an event that has nothing else goes with them. */
function withoutHooks(present: string, { text }: Piece): string {
  const events = Object.entries(hooksOf(text));
  const commands: unknown[] = events.flatMap(([, groups]) =>
    groups.flatMap(({ hooks }) => hooks.map(({ command }) => command)),
  );
  const isOurs = (value: JsonValue, all: "every" | "some"): boolean => {
    if (Array.isArray(value)) return value.length > 0 && value[all]((one) => isOurs(one, all));
    return isFields(value) && (commands.includes(value.command) || isOurs(value.hooks ?? null, all));
  };
  const places = [
    [[], "every"],
    [[ITEM], "every"],
    [[ITEM, "hooks", ITEM], "some"],
  ] as const;
  let bare = present;
  for (const [event] of events)
    for (const [place, all] of places) {
      const keys = ["hooks", event, ...place];
      const cut = () => withoutFields(bare, keys, (value) => isOurs(value, all));
      for (let less = cut(); less !== undefined; less = cut()) bare = less;
    }
  return bare;
}

type Hooks = Record<string, readonly (JsonFields & { readonly hooks: readonly JsonFields[] })[]>;

function hooksOf(text: string): Hooks {
  return (JSON.parse(text) as { hooks: Hooks }).hooks;
}
