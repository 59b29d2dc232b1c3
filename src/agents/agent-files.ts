/**
 * What an agent's installation is made of: pieces, each a file of ours or a part that is added to a file of the user. The
 * package's files for agents are as they are to be on this machine: where they name `sideband`, they get what really starts.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface Piece {
  readonly path: string;
  readonly kind: "file" | "hooks" | "toml" | "json";
  /** The file, or the part; of "json" the fields of an entry, as JSON. */
  readonly text: string;
  /** Of "json": where in the file. */
  readonly keys?: readonly string[];
  /** Of "json": what a new file begins with. */
  readonly fresh?: string;
}

/** What the place of a host's files depends on. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** APPDATA of Windows. */
  readonly appData?: string | undefined;
  /** XDG_CONFIG_HOME. */
  readonly configHome?: string | undefined;
}

export interface InstallOptions {
  /** The package's folder `agents`. */
  readonly files: string;
  /** The module that the OpenClaw plugin loads. */
  readonly openclawModule: string;
  /** The host's folder. */
  readonly target: string;
  /** Whether that is its usual one, for all projects. */
  readonly isUsual: boolean;
  /** The command with which the host calls `sideband`, as words. */
  readonly command: readonly string[];
  /** The groups of labels that prompts of the host get; undefined: those of the settings. */
  readonly groups?: string | undefined;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export interface AgentKind {
  readonly name: string;
  readonly title: string;
  /** The host's usual folder. */
  folder(system: System): string;
  /** Whether it calls `sideband` by its full path, since it may not have a shell's search path. */
  readonly isDesktop?: boolean;
  /** Whether it calls a service itself, and not `sideband`. */
  readonly callsService?: boolean;
  pieces(options: InstallOptions): Piece[];
  /** What is left to do by hand, as lines. */
  next(target: string): string[];
  /** What is left to do by hand after the files are gone, as lines. */
  readonly after: readonly string[];
}

/** The files of a folder, as they are to be in another one. */
export function agentTree(options: InstallOptions, from: string, to: string): Piece[] {
  const source = join(options.files, from);
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(source, path)).isFile() && !path.includes("__pycache__"))
    .sort()
    .map((path) => agentFile(options, join(from, path), join(to, path)));
}

export function agentFile(options: InstallOptions, from: string, to: string): Piece {
  return { path: to, kind: "file", text: agentText(options, from) };
}

export function agentText(options: InstallOptions, path: string): string {
  const { files, command, groups, openclawModule, platform } = options;
  const text = readFileSync(join(files, path), "utf8");
  if (path.endsWith("index.js"))
    return text.replace('"sideband/openclaw"', JSON.stringify(pathToFileURL(openclawModule).href));
  const isAsItIs = groups === undefined && command.length === 1 && command[0] === "sideband";
  if (!/\.(?:json|toml|js)$/.test(path) || isAsItIs) return text;
  const [program, ...args] = command.map((word) => JSON.stringify(word));
  const mcp = [...args, ...mcpWords(options).map((word) => JSON.stringify(word))];
  return text
    .replace(/"sideband hook( [^"]*)?"/g, (_, rest = "") =>
      JSON.stringify(`${hookCommand(command, platform)} hook${rest}${hookGroups(options)}`),
    )
    .replace(/("command": |command = |COMMAND = \[)"sideband"/g, (_, name: string) =>
      name.endsWith("[") ? `${name}${[program, ...args].join(", ")}` : `${name}${program}`,
    )
    .replace(/("args": |args = )\["mcp"\]/g, (_, name: string) => `${name}[${mcp.join(", ")}]`)
    .replace("OPTIONS = []", `OPTIONS = ${JSON.stringify(groupsWords(options))}`);
}

/** What follows the program where a host starts the MCP server. */
export function mcpWords(options: Pick<InstallOptions, "groups">): string[] {
  return ["mcp", ...groupsWords(options)];
}

/** What a hook's command ends with. */
export function hookGroups(options: Pick<InstallOptions, "groups" | "platform">): string {
  return groupsWords(options)
    .map((word) => ` ${shellWord(word, options.platform)}`)
    .join("");
}

function groupsWords({ groups }: Pick<InstallOptions, "groups">): string[] {
  return groups === undefined ? [] : [`--groups=${groups}`];
}

/**
 * The command of a hook, which a host hands to a shell. On Windows that is Git Bash for Claude Code, and cmd.exe or
 * PowerShell for Codex: all of them start a bare name, and PowerShell starts no program in quotes.
 */
export function hookCommand(command: readonly string[], platform = process.platform): string {
  const words = command.map((word) => shellWord(word, platform));
  return (platform === "win32" ? ["node", ...words.slice(1)] : words).join(" ");
}

/** A word for a shell, in quotes if it needs them. The shells of Windows do not agree on a backslash, and take slashes. */
export function shellWord(word: string, platform = process.platform): string {
  if (platform === "win32") return `"${word.replaceAll("\\", "/")}"`;
  // Not double quotes: in those of an interactive shell a ! is a command of its own.
  return /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
