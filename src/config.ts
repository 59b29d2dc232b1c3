/**
 * The only reader of the environment, and of what `sideband connect` and `sideband off` keep of a person. Every setting is
 * a SIDEBAND_ variable of the tables in settings.ts, parsed once; a variable that they do not know, or a value that it cannot
 * take, stops the start.
 */

import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { ACCOUNT_DEFAULT } from "./base/accounts.ts";
import { isSlip } from "./base/edit-distance.ts";
import { ConfigError } from "./base/errors.ts";
import { promptGroups } from "./base/groups.ts";
import { CONTEXT_TOKENS_MAX } from "./base/limits.ts";
import { flag, folder, integer, named, oneOf, optionalText, url } from "./setting-values.ts";
import { AGENT_SETTINGS, DATA_FOLDER, SETTINGS, type ServiceSettings } from "./settings.ts";

/** The service's settings, frozen. */
export type Config = ServiceSettings;

/** The agent's side: `sideband mcp`, `sideband hook`, and the memory for a person at a terminal. */
export interface AgentConfig {
  readonly apiUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly userId: string;
  readonly dataFolder: string;
  readonly account: string;
  /** How long an agent waits for its memory. */
  readonly timeoutMs: number;
  /** How long it waits before a compaction, where hosts give a hook 10 seconds. */
  readonly compactionTimeoutMs: number;
  /** How long a person at a terminal waits: the first block needs the reader model, which takes seconds to load. */
  readonly personTimeoutMs: number;
  /** The name of the project, "off", or undefined to find it. */
  readonly project: string | undefined;
  /** What a git repository's project is known by; its path where it has no remote. */
  readonly projectFrom: "remote" | "path";
  /** What goes into a prompt: the facts in plain text, the sealed block, or both. */
  readonly include: "index" | "block" | "both";
  readonly allowSecrets: boolean;
  readonly contextTokens: number;
  /** No agent gets or stores facts in this session. */
  readonly isOff: boolean;
  /** Names of the projects for which the person has turned memory off. */
  readonly offProjects: readonly string[];
  /** The groups of labels that a prompt gets in a host for code; undefined: all. */
  readonly groups: string | undefined;
}

/** @param overrides settings from a command's options; they take precedence over the environment */
export function readConfig(
  overrides: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string | undefined>> = { ...process.env, ...overrides },
): Config {
  const unknown = unknownSettings(environment);
  if (unknown !== undefined) throw new ConfigError(unknown);
  const config: Record<string, unknown> = {};
  for (const [name, { field, fallback, parse, secret }] of Object.entries(SETTINGS)) {
    // What a command says comes before a file that the environment names.
    const text = secret && overrides[name] === undefined ? secretIn(environment, name) : environment[name];
    config[field] = named(name, parse, text ?? fallback);
  }
  return Object.freeze(config) as unknown as Config;
}

/** A secret, as its setting says it or the file that the setting with _FILE behind its name names. */
function secretIn(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const fileName = name + FILE;
  const file = optionalText(environment[fileName] ?? "");
  if (file === undefined) return environment[name];
  if (optionalText(environment[name] ?? "") !== undefined)
    throw new ConfigError(`is set, and so is ${name}: leave one of them out`, fileName);
  try {
    return readFileSync(folder(file), "utf8").trim();
  } catch (error) {
    throw new ConfigError(`names a file that cannot be read: ${(error as Error).message}`, fileName);
  }
}

/** A line about SIDEBAND_ variables that no table has, each with the name that was probably meant. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const secrets = Object.keys(SETTINGS).filter((name) => SETTINGS[name].secret);
  const files = [...secrets, AGENT_SECRET].map((name) => name + FILE);
  const known = [...Object.keys(SETTINGS), ...Object.keys(AGENT_SETTINGS), ...files];
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith("SIDEBAND_") && !known.includes(name),
  );
  if (unknown.includes("SIDEBAND_WORKERS"))
    return "SIDEBAND_WORKERS no longer exists: one process serves a data folder; for several nodes use SIDEBAND_DATABASE_URL";
  if (unknown.length === 0) return undefined;
  const named = unknown.map((name) => {
    const near = known.filter((one) => isSlip(name.slice(9), one.slice(9)));
    return near.length === 1 ? `${name} (did you mean ${near[0]}?)` : name;
  });
  return `unknown setting ${named.join(", ")} (docs/CONFIG.md lists them)`;
}

/** Behind the name of a setting whose value is a secret: the file that the secret stands in. */
const FILE = "_FILE";
const AGENT_SECRET = "SIDEBAND_API_KEY";

export interface ConnectedService {
  readonly url: string;
  readonly key: string;
  readonly user: string;
  /** Where the person has signed in at the service: `key` is a token then, and this is how the next one is got. */
  readonly signedIn?: SignedIn | undefined;
}

export interface SignedIn {
  readonly clientId: string;
  readonly refreshToken: string;
  /** When `key` ends. */
  readonly endsAtMs: number;
}

/** What `sideband connect` and `sideband off` keep of a person. */
export interface PersonSettings {
  /** The service that commands, hooks and the MCP server use where the environment names no memory. */
  readonly service?: ConnectedService | undefined;
  /** Names of the projects for which memory is off. */
  readonly off?: readonly string[] | undefined;
}

export function personSettingsFile(): string {
  return join(homedir(), ".sideband", "settings.json");
}

export function readPersonSettings(): PersonSettings {
  const file = personSettingsFile();
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * What the agent's side needs. SPECTRAL_MEMORY_ variables, which clients of the original service have, are read
 * where ours are not set. A memory that the environment names comes before the service that the person is connected to.
 */
export function readAgentConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  { service: connected, off: offProjects = [] }: PersonSettings = readPersonSettings(),
): AgentConfig {
  const find = (name: string) =>
    optionalText(environment[`SIDEBAND_${name}`] ?? "") ??
    optionalText(environment[`SPECTRAL_MEMORY_${name}`] ?? "");
  const ownKey = optionalText(secretIn(environment, AGENT_SECRET) ?? "");
  const apiKey = ownKey ?? optionalText(environment.SPECTRAL_MEMORY_API_KEY ?? "");
  const isNamed = [find("API_URL"), apiKey, environment.SIDEBAND_DATA].some(Boolean);
  const service = isNamed ? undefined : connected;
  return {
    apiUrl: named("SIDEBAND_API_URL", url, find("API_URL") ?? service?.url ?? ""),
    apiKey: apiKey ?? service?.key,
    userId: find("USER_ID") ?? service?.user ?? userName(),
    dataFolder: folder(optionalText(environment.SIDEBAND_DATA ?? "") ?? DATA_FOLDER),
    account: ACCOUNT_DEFAULT,
    timeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "2000"),
    compactionTimeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "8000"),
    personTimeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "30000"),
    project: find("PROJECT"),
    projectFrom: named("SIDEBAND_PROJECT_FROM", oneOf("remote", "path"), find("PROJECT_FROM") ?? "remote"),
    include: named("SIDEBAND_INCLUDE", oneOf("index", "block", "both"), find("INCLUDE") ?? "index"),
    allowSecrets: find("ALLOW_SECRETS") === "1",
    isOff: named("SIDEBAND_OFF", flag, find("OFF") ?? "0"),
    offProjects,
    contextTokens: named("SIDEBAND_CONTEXT_TOKENS", contextTokens, find("CONTEXT_TOKENS") ?? "800"),
    groups: named("SIDEBAND_GROUPS", promptGroups, find("GROUPS") ?? "USER,PREF,TASK,PROJ"),
  };
}

/** Whether the memory is that of a service, and not a data folder's. */
export function usesService({ apiUrl, apiKey }: Pick<AgentConfig, "apiUrl" | "apiKey">): boolean {
  return apiUrl !== undefined || apiKey !== undefined;
}

export const contextTokens = (text: string) => (text === "0" ? 0 : integer(200, CONTEXT_TOKENS_MAX)(text));

function timeoutOf(value: string): number {
  return named("SIDEBAND_TIMEOUT_MS", integer(1, 600_000), value);
}

/** In a container the user may have a number and no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "default";
  }
}

/** The shell's search path for commands. */
export function readSearchPath(): string {
  return process.env.PATH ?? "";
}

/** The person's editor. */
export function readEditor(): string {
  return process.env.VISUAL || process.env.EDITOR || (process.platform === "win32" ? "notepad" : "vi");
}

/** What the folders of other programs depend on, beside the home folder. */
export function readSystemFolders(environment: Readonly<Record<string, string | undefined>> = process.env): {
  readonly appData: string | undefined;
  readonly configHome: string | undefined;
} {
  return {
    appData: optionalText(environment.APPDATA ?? ""),
    // A relative one is to be ignored.
    configHome: environment.XDG_CONFIG_HOME?.startsWith("/") ? environment.XDG_CONFIG_HOME : undefined,
  };
}
