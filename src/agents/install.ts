/**
 * What `sideband agents install` puts where, for each agent. A piece is a file of ours, or a part that is added to a
 * file of the user. The user's own hooks and settings stay.
 *
 * The files call `sideband` where a shell finds it at any time, and otherwise this installation by its full path.
 */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";

/** A file of ours, or what is added to a file of the user. */
export interface Piece {
  readonly path: string;
  readonly kind: "file" | "hooks" | "toml";
  readonly text: string;
}

export interface InstallOptions {
  /** The package's folder `agents`. */
  readonly files: string;
  /** The module that the OpenClaw plugin loads. */
  readonly openclawModule: string;
  /** The host's folder. */
  readonly target: string;
  /** The command with which the host calls `sideband`, as words. */
  readonly command: readonly string[];
  /** This machine's unless it is given. */
  readonly platform?: NodeJS.Platform;
}

export interface AgentKind {
  readonly name: string;
  readonly title: string;
  /** The host's usual folder, from the user's home folder. */
  readonly home: string;
  pieces(options: InstallOptions): Piece[];
  /** What is left to do by hand, as lines. */
  next(target: string): string[];
  /** What is left to do by hand after the files are gone, as lines. */
  readonly after: readonly string[];
}

const SETTINGS_HINT = [
  "Settings (environment): SIDEBAND_API_URL and SIDEBAND_API_KEY for a service; without them the data folder",
  "SIDEBAND_DATA (or ~/.sideband/data) is used and no service is needed. SIDEBAND_USER_ID says whose memory.",
  "A prompt gets the facts in plain text; SIDEBAND_INCLUDE=both adds the sealed block, for every agent.",
];

export const AGENTS: readonly AgentKind[] = [
  {
    name: "claude-code",
    title: "Claude Code plugin: hooks, MCP server, skill",
    home: ".sideband/claude-code",
    pieces: (options) => tree(options, "claude-code", options.target),
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
    home: ".codex",
    pieces: (options) => [
      {
        path: join(options.target, "hooks.json"),
        kind: "hooks",
        text: readText(options, "codex/hooks.json"),
      },
      {
        path: join(options.target, "config.toml"),
        kind: "toml",
        text: readText(options, "codex/config.toml"),
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
    home: ".hermes",
    pieces: (options) => {
      const folder = join(options.target, "plugins", "sideband");
      const client = join(options.files, "..", "python", "sideband", "__init__.py");
      return [
        ...tree(options, "hermes/sideband", folder),
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
    home: ".openclaw",
    pieces: (options) => [
      ...tree(options, "openclaw/skill", join(options.target, "skills", "sideband")),
      ...tree(options, "openclaw/plugin", join(options.target, "sideband-plugin")),
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
];

/** Folders of the search path that are there only while npx, or a script of a project, runs. */
export const PASSING = /[\\/](?:node_modules[\\/]\.bin|_npx)(?:[\\/]|$)/;

/** Whether a program is in a cache that its package manager may empty. */
export function isInCache(path: string): boolean {
  return /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/.test(path);
}

/**
 * `sideband` if a shell finds this version of it at any time, or else node with this installation's script.
 * npx and npm scripts put folders on the search path that are gone when the host starts a hook. On Windows the command is
 * `sideband.cmd`, which a host that starts an MCP server without a shell does not find.
 */
export function lastingCommand(
  searchPath: string,
  script: string,
  version: string,
  platform = process.platform,
): string[] {
  if (platform === "win32") return [process.execPath, script];
  const found = searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !PASSING.test(folder))
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

/** The files of a folder, as they are to be in another one. */
function tree(options: InstallOptions, from: string, to: string): Piece[] {
  const source = join(options.files, from);
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(source, path)).isFile() && !path.includes("__pycache__"))
    .sort()
    .map((path) => ({ path: join(to, path), kind: "file", text: readText(options, join(from, path)) }));
}

/** A file of the package. Where it names `sideband`, it gets what really starts. */
function readText(options: InstallOptions, path: string): string {
  const { files, command, openclawModule, platform } = options;
  const text = readFileSync(join(files, path), "utf8");
  if (path.endsWith("index.js")) {
    return text.replace('"sideband/openclaw"', JSON.stringify(pathToFileURL(openclawModule).href));
  }
  if (!/\.(?:json|toml)$/.test(path) || (command.length === 1 && command[0] === "sideband")) return text;
  const shell = hookCommand(command, platform);
  const [program, ...args] = command.map((word) => JSON.stringify(word));
  return text
    .replace(/"sideband hook( [^"]*)?"/g, (_, rest = "") => JSON.stringify(`${shell} hook${rest}`))
    .replace(/("command": |command = )"sideband"/g, (_, name) => `${name}${program}`)
    .replace(
      /("args": |args = )\["mcp"\]/g,
      (_, name: string) => `${name}[${[...args, '"mcp"'].join(", ")}]`,
    );
}

/**
 * The command of a hook, which a host hands to a shell. On Windows that is Git Bash for Claude Code, and cmd.exe or
 * PowerShell for Codex: all of them start a bare name, and PowerShell starts no program in quotes.
 */
function hookCommand(command: readonly string[], platform = process.platform): string {
  const words = command.map((word) => shellWord(word, platform));
  return (platform === "win32" ? ["node", ...words.slice(1)] : words).join(" ");
}

/** A word for a shell, in quotes if it needs them. The shells of Windows do not agree on a backslash, and take slashes. */
function shellWord(word: string, platform = process.platform): string {
  if (platform === "win32") return `"${word.replaceAll("\\", "/")}"`;
  return /^[\w./:@%+-]+$/.test(word) ? word : `"${word.replace(/["$`\\]/g, "\\$&")}"`;
}

interface HooksFile {
  readonly hooks?: Record<string, readonly HookGroup[]>;
}

interface HookGroup {
  readonly hooks?: readonly { readonly command?: string }[];
}

/** The text of a user's file with a piece of ours in it, at its end. An older copy of ours is replaced. */
export function withPiece(present: string | undefined, { kind, text }: Piece): string {
  if (present === undefined || kind === "file") return text;
  if (kind === "toml") {
    if (/^[ \t]*\[mcp_servers\.sideband\]/m.test(present)) return present;
    return `${present}${present === "" || present.endsWith("\n") ? "" : "\n"}\n${text}`;
  }
  const added = JSON.parse(text) as Required<HooksFile>;
  const bare = JSON.parse(withoutHooks(present, isOurs)) as HooksFile;
  const hooks: Record<string, readonly HookGroup[]> = { ...bare.hooks };
  for (const [event, groups] of Object.entries(added.hooks)) {
    hooks[event] = [...(hooks[event] ?? []), ...groups];
  }
  return `${JSON.stringify({ ...bare, hooks }, null, 2)}\n`;
}

/** The text of a user's file without a piece of ours; undefined if the piece is not in it as we put it in. */
export function withoutPiece(present: string, { kind, text }: Piece): string | undefined {
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
  return hooks.some(({ command }) => command !== undefined && /sideband(\.js)?"? hook\b/.test(command));
}

export function fileText(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
