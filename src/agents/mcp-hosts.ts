/**
 * Hosts that start MCP servers of a JSON file: where the file is on each system, under which key it has its servers, and
 * how an entry looks. One table; what is special about a host is a piece beside its entry.
 */

import { existsSync } from "node:fs";
import { join, posix, win32 } from "node:path";
import {
  type AgentKind,
  agentFile,
  hookCommand,
  hookGroups,
  type InstallOptions,
  mcpWords,
  type Piece,
  type System,
} from "./agent-files.ts";
import { hasEntry, ITEM } from "./json-text.ts";
import { fileText } from "./user-file.ts";

interface McpHost {
  readonly name: string;
  readonly title: string;
  readonly folder: (system: System) => string;
  /** The names that the file may have: the first that is there, or else the last. */
  readonly files: readonly string[];
  readonly keys: readonly string[];
  /** Its windows are not started from a shell, and do not have its search path. */
  readonly isDesktop: boolean;
  /** @param mcp what follows the command */
  readonly entry?: (command: readonly string[], mcp: readonly string[]) => object;
  /** What puts the memory into a session, where the host has a way. */
  readonly more?: (options: InstallOptions) => Piece[];
  readonly next: readonly string[];
}

const NAME = "sideband";
const SERVERS = ["mcpServers", NAME];
/** Of a host that hands the variables of its shell on, to its hooks and to its MCP servers. */
export const SETTINGS_HINT = [
  "Settings (environment): SIDEBAND_API_URL and SIDEBAND_API_KEY for a service; without them the data folder",
  "SIDEBAND_DATA (or ~/.sideband/data) is used and no service is needed. SIDEBAND_USER_ID says whose memory.",
  "A prompt gets the facts in plain text; SIDEBAND_INCLUDE=both adds the sealed block, for every agent.",
];
const ENTRY_SETTINGS = [
  'Settings: add "env" with SIDEBAND_API_URL, SIDEBAND_API_KEY and SIDEBAND_USER_ID to the entry for a service; without',
  "them the data folder ~/.sideband/data is used and no service is needed. What you add to the entry stays.",
];
const ASKS =
  "The agent asks for the memory itself, with the tool recall: nothing puts it into a session of this host.";

const MCP_HOSTS: readonly McpHost[] = [
  {
    name: "cursor",
    title: "Cursor: MCP server and hook",
    folder: (system) => inHome(system, ".cursor"),
    files: ["mcp.json"],
    keys: SERVERS,
    isDesktop: true,
    more: ({ target, command, platform, groups }) =>
      platform === "win32"
        ? []
        : [
            {
              path: join(target, "hooks.json"),
              kind: "json",
              keys: ["hooks", "sessionStart", ITEM],
              text: JSON.stringify({
                command: `${hookCommand(command)} hook --host cursor${hookGroups({ groups, platform })}`,
                timeout: 10,
              }),
              fresh: '{\n  "version": 1\n}\n',
            },
          ],
    next: [
      "Restart Cursor. It lists the server under MCP and the hook under Hooks in its settings.",
      ...ENTRY_SETTINGS,
    ],
  },
  {
    name: "vscode",
    title: "VS Code: MCP server and hook",
    folder: (system) => inSettings(system, "Code", "User"),
    files: ["mcp.json"],
    keys: ["servers", NAME],
    isDesktop: true,
    entry: ([program, ...args], mcp) => ({ type: "stdio", command: program, args: [...args, ...mcp] }),
    more: (options) =>
      options.platform === "win32" || !options.isUsual
        ? []
        : [
            agentFile(
              options,
              "vscode/sideband.json",
              join(options.home, ".copilot", "hooks", "sideband.json"),
            ),
          ],
    next: [
      'Run "MCP: List Servers" in VS Code and start sideband; it asks once whether you trust it.',
      ...ENTRY_SETTINGS,
    ],
  },
  {
    name: "windsurf",
    title: "Windsurf: MCP server",
    folder: (system) => inHome(system, ".codeium", "windsurf"),
    files: ["mcp_config.json"],
    keys: SERVERS,
    isDesktop: true,
    next: ["Refresh the MCP servers in Windsurf.", ASKS, ...ENTRY_SETTINGS],
  },
  {
    name: "opencode",
    title: "opencode: MCP server and plugin",
    folder: ({ platform, home, configHome }) =>
      configHome === undefined
        ? pathsOf(platform).join(home, ".config", "opencode")
        : pathsOf(platform).join(configHome, "opencode"),
    files: ["opencode.jsonc", "opencode.json"],
    keys: ["mcp", NAME],
    isDesktop: false,
    entry: (command, mcp) => ({ type: "local", command: [...command, ...mcp] }),
    more: (options) => [
      agentFile(options, "opencode/sideband.js", join(options.target, "plugins", "sideband.js")),
    ],
    // Not in its entry: opencode does not start with an "env" there, and its plugin would not have them.
    next: ["Start opencode from the shell that has the settings.", ...SETTINGS_HINT],
  },
  {
    name: "cline",
    title: "Cline: MCP server",
    folder: (system) => inHome(system, ".cline", "data", "settings"),
    files: ["cline_mcp_settings.json"],
    keys: SERVERS,
    isDesktop: true,
    next: ["Cline in editors and at a terminal has it at its next start.", ASKS, ...ENTRY_SETTINGS],
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop: MCP server",
    folder: (system) => inSettings(system, "Claude"),
    files: ["claude_desktop_config.json"],
    keys: SERVERS,
    isDesktop: true,
    next: ["Quit Claude Desktop and start it again.", ASKS, ...ENTRY_SETTINGS],
  },
];

export const MCP_AGENTS: readonly AgentKind[] = MCP_HOSTS.map((host) => ({
  name: host.name,
  title: host.title,
  folder: host.folder,
  isDesktop: host.isDesktop,
  pieces: (options) => [
    {
      path: fileOf(host, options.target),
      kind: "json",
      keys: host.keys,
      text: JSON.stringify((host.entry ?? plainEntry)(options.command, mcpWords(options))),
    },
    ...(host.more?.(options) ?? []),
  ],
  next: () => [...host.next],
  after: [],
}));

function plainEntry([program, ...args]: readonly string[], mcp: readonly string[]): object {
  return { command: program, args: [...args, ...mcp] };
}

/** An entry of the user's own in one of the files is found there; the host reads all of them. */
function fileOf({ files, keys }: McpHost, target: string): string {
  const paths = files.map((file) => join(target, file));
  const hasOne = (path: string) => {
    try {
      return hasEntry(fileText(path) ?? "", keys);
    } catch {
      // What is wrong with it is said when it is written.
      return false;
    }
  };
  return paths.find(hasOne) ?? paths.find(existsSync) ?? paths[paths.length - 1];
}

function pathsOf(platform: System["platform"]) {
  return platform === "win32" ? win32 : posix;
}

function inHome({ platform, home }: System, ...names: string[]): string {
  return pathsOf(platform).join(home, ...names);
}

/** Where the system's applications have their settings. */
function inSettings({ platform, home, appData, configHome }: System, ...names: string[]): string {
  if (platform === "win32") return win32.join(appData ?? win32.join(home, "AppData", "Roaming"), ...names);
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", ...names);
  return posix.join(configHome ?? posix.join(home, ".config"), ...names);
}
