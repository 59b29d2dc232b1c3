/**
 * Installs the files of an agent where its host looks for them. The user's own hooks and settings are kept, and ours
 * are added. Only our own files are replaced. A dry run says what would be done.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export interface InstallOptions {
  /** The package's folder `agents`. */
  readonly files: string;
  /** The host's folder instead of its usual one. */
  readonly target: string;
  /** The command with which the host calls `sideband`, as words. */
  readonly command: readonly string[];
  readonly dryRun: boolean;
}

export interface InstallReport {
  /** Files that were written, or would be in a dry run. */
  readonly written: readonly string[];
  /** What is left to do by hand, as lines. */
  readonly next: readonly string[];
}

export interface AgentKind {
  readonly name: string;
  readonly title: string;
  /** The host's usual folder, from the user's home folder. */
  readonly home: string;
  install(options: InstallOptions): InstallReport;
}

const SETTINGS_HINT = [
  "Settings (environment): SIDEBAND_API_URL and SIDEBAND_API_KEY for a service; without them the data folder",
  "SIDEBAND_DATA (or ~/.sideband/data) is used and no service is needed. SIDEBAND_USER_ID says whose memory.",
];

export const AGENTS: readonly AgentKind[] = [
  {
    name: "claude-code",
    title: "Claude Code plugin: hooks, MCP server, skill",
    home: ".sideband/claude-code",
    install(options) {
      const written = copyTree(options, "claude-code", options.target);
      const next = [
        `claude plugin marketplace add ${options.target}`,
        "claude plugin install sideband@sideband",
        ...SETTINGS_HINT,
      ];
      return { written, next };
    },
  },
  {
    name: "codex",
    title: "Codex CLI: hooks and MCP server",
    home: ".codex",
    install(options) {
      const hooks = join(options.target, "hooks.json");
      const config = join(options.target, "config.toml");
      const written = [
        ...writeIfNew(
          options,
          hooks,
          mergedHooks(hooks, adapted(options, read(options, "codex/hooks.json"))),
        ),
        ...writeIfNew(
          options,
          config,
          mergedToml(config, adapted(options, read(options, "codex/config.toml"))),
        ),
      ];
      return { written, next: ["Start codex and review the new hooks with /hooks.", ...SETTINGS_HINT] };
    },
  },
  {
    name: "hermes",
    title: "Hermes Agent memory provider",
    home: ".hermes",
    install(options) {
      const written = copyTree(options, "hermes/sideband", join(options.target, "plugins", "sideband"));
      return {
        written,
        next: [
          "hermes config set memory.provider sideband",
          "Settings (environment, or hermes memory setup): SIDEBAND_API_KEY, SIDEBAND_API_URL, SIDEBAND_USER_ID.",
        ],
      };
    },
  },
  {
    name: "openclaw",
    title: "OpenClaw skill and memory plugin",
    home: ".openclaw",
    install(options) {
      const plugin = join(options.target, "sideband-plugin");
      const written = [
        ...copyTree(options, "openclaw/skill", join(options.target, "skills", "sideband")),
        ...copyTree(options, "openclaw/plugin", plugin),
      ];
      return {
        written,
        next: [
          "The skill works at once. For the plugin (memory in every prompt, a flush before every compaction):",
          `npm install --prefix ${plugin} sideband && openclaw plugins install --link ${plugin}`,
          "openclaw config set plugins.slots.memory sideband",
          "Settings (environment): SIDEBAND_API_KEY, SIDEBAND_API_URL, SIDEBAND_USER_ID.",
        ],
      };
    },
  },
];

function read({ files }: InstallOptions, path: string): string {
  return readFileSync(join(files, path), "utf8");
}

/** Copies a folder. Files that call `sideband` get the command for it. */
function copyTree(options: InstallOptions, from: string, target: string): string[] {
  const source = join(options.files, from);
  const paths = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(source, path)).isFile() && !path.includes("__pycache__"))
    .sort();
  return paths.flatMap((path) => {
    const to = join(target, path);
    if (path.endsWith(".json"))
      return writeIfNew(options, to, adapted(options, readFileSync(join(source, path), "utf8")));
    if (existsSync(to) && readFileSync(to).equals(readFileSync(join(source, path)))) return [];
    if (!options.dryRun) {
      mkdirSync(dirname(to), { recursive: true });
      cpSync(join(source, path), to);
    }
    return [to];
  });
}

/** The files call `sideband`. If that is not on the search path, the full command replaces it. */
function adapted({ command }: InstallOptions, text: string): string {
  if (command.length === 1 && command[0] === "sideband") return text;
  const shell = command.map((word) => (/^[\w./-]+$/.test(word) ? word : `"${word}"`)).join(" ");
  const [program, ...args] = command.map((word) => JSON.stringify(word));
  return text
    .replaceAll('"sideband hook"', JSON.stringify(`${shell} hook`))
    .replace(/("command": |command = )"sideband"/g, `$1${program}`)
    .replace(/("args": |args = )\["mcp"\]/g, `$1[${[...args, '"mcp"'].join(", ")}]`);
}

function writeIfNew({ dryRun }: InstallOptions, path: string, text: string): string[] {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return [];
  if (!dryRun) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return [path];
}

interface HooksFile {
  hooks?: Record<string, { hooks?: { command?: string }[] }[]>;
}

/** The user's hooks stay. Ours are added, and replace an older copy of ours. */
function mergedHooks(path: string, ours: string): string {
  if (!existsSync(path)) return ours;
  const present = JSON.parse(readFileSync(path, "utf8")) as HooksFile;
  const added = JSON.parse(ours) as Required<HooksFile>;
  const isOurs = (group: { hooks?: { command?: string }[] }) =>
    group.hooks?.some(({ command }) => command !== undefined && /sideband(\.js)?"? hook\b/.test(command)) ??
    false;
  const hooks: HooksFile["hooks"] = { ...present.hooks };
  for (const [event, groups] of Object.entries(added.hooks)) {
    hooks[event] = [...(hooks[event] ?? []).filter((group) => !isOurs(group)), ...groups];
  }
  return `${JSON.stringify({ ...present, hooks }, null, 2)}\n`;
}

/** Adds our table at the end, unless the user has one already. */
function mergedToml(path: string, ours: string): string {
  if (!existsSync(path)) return ours;
  const present = readFileSync(path, "utf8");
  if (present.includes("[mcp_servers.sideband]")) return present;
  return `${present.trimEnd()}\n\n${ours}`;
}

/** A path for display: relative to the folder if it is inside it. */
export function shownPath(path: string, folder: string): string {
  const inside = relative(folder, path);
  return inside.startsWith("..") ? path : inside;
}
