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
import { hasFields, ITEM, type JsonFields, withFields, withoutFields } from "./json-text.ts";
import { MCP_AGENTS, SETTINGS_HINT } from "./mcp-hosts.ts";

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

interface HooksFile {
  readonly hooks?: Record<string, readonly HookGroup[]>;
}

interface HookGroup {
  readonly hooks?: readonly { readonly command?: string }[];
}

/**
 * The text of a user's file with a piece of ours in it, at its end. An older copy of ours is replaced.
 * @param old the piece as an earlier installation put it in
 */
export function withPiece(present: string | undefined, piece: Piece, old?: Piece): string {
  const { kind, text } = piece;
  if (kind === "json") return withEntry(present, piece, old);
  if (present === undefined || kind === "file") return text;
  if (kind === "toml") {
    if (/^[ \t]*\[mcp_servers\.sideband\]/m.test(present)) return present;
    return `${present}${present === "" || present.endsWith("\n") ? "" : "\n"}\n${text}`;
  }
  const { hooks } = JSON.parse(text) as { hooks: Record<string, readonly JsonFields[]> };
  return Object.entries(hooks)
    .flatMap(([event, groups]) => groups.map((group) => ({ event, group })))
    .reduce(
      (changed, { event, group }) => withFields(changed, ["hooks", event, ITEM], group, () => false),
      withoutHooks(present, isOurs),
    );
}

/** The text of a user's file without a piece of ours; undefined if the piece is not in it as we put it in. */
export function withoutPiece(present: string, { kind, text, keys = [] }: Piece): string | undefined {
  if (kind === "json") return withoutFields(present, keys, (entry) => hasFields(entry, entryFields(text)));
  if (kind === "file") return present === text ? "" : undefined;
  if (kind === "toml") {
    const at = present.indexOf(text);
    if (at < 0) return undefined;
    return `${present.slice(0, at).replace(/\n\n$/, "\n")}${present.slice(at + text.length)}`;
  }
  const ours = Object.values((JSON.parse(text) as Required<HooksFile>).hooks)
    .flat()
    .map((group) => JSON.stringify(group));
  const bare = withoutHooks(present, (group) => ours.includes(JSON.stringify(group)));
  return bare === present ? undefined : bare;
}

function withEntry(present: string | undefined, { text, keys = [], fresh = "" }: Piece, old?: Piece): string {
  const ours = [text, ...(old === undefined ? [] : [old.text])].map(entryFields);
  const isOurs = (entry: JsonFields) => ours.some((fields) => hasFields(entry, fields));
  const start = present === undefined || present.trim() === "" ? `${present ?? ""}${fresh}` : present;
  return withFields(start, keys, entryFields(text), isOurs);
}

function entryFields(text: string): JsonFields {
  return JSON.parse(text) as JsonFields;
}

/** The text of a hooks file without some of its groups; the same text if it has none of them. */
function withoutHooks(present: string, unwanted: (group: HookGroup) => boolean): string {
  const file = JSON.parse(present) as HooksFile;
  const events = Object.entries(file.hooks ?? {});
  if (!events.some(([, groups]) => groups.some(unwanted))) return present;
  const left = events.flatMap(([event, groups]) => {
    const others = groups.filter((group) => !unwanted(group));
    return others.length === 0 && groups.length > 0 ? [] : [[event, others]];
  });
  return `${JSON.stringify({ ...file, hooks: Object.fromEntries(left) }, null, 2)}\n`;
}

function isOurs({ hooks = [] }: HookGroup): boolean {
  return hooks.some(({ command }) => command !== undefined && /sideband(\.js)?["']? hook\b/.test(command));
}
