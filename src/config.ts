/**
 * The only reader of the environment. Every setting is a SIDEBAND_ variable of the table below, parsed once;
 * a variable that the table does not know, or a value that it cannot take, stops the start.
 */

import { isIP, isIPv4 } from "node:net";
import { availableParallelism, homedir, userInfo } from "node:os";
import { ACCOUNT_DEFAULT } from "./base/account.ts";
import { OperatorError } from "./base/errors.ts";
import { HISTORY_DEFAULT, HISTORY_MAX } from "./base/limits.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  readonly databasePool: number;
  readonly databaseCa: string | undefined;
  readonly blockWorkers: number;
  readonly masterKey: string | undefined;
  readonly adminToken: string | undefined;
  readonly demo: boolean;
  readonly demoResetS: number;
  readonly demoRate: number;
  readonly rate: number;
  readonly trustProxy: number | readonly string[] | false;
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly upgradeUrl: string | undefined;
  readonly keysText: string | undefined;
  readonly logLevel: string;
  readonly queueMax: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddress: number;
  readonly shutdownS: number;
  readonly compactAfterS: number;
  /** Undefined: the limit that the store has. */
  readonly historyMax: number | undefined;
  /** Facts that were read somewhere wait for the person. */
  readonly review: boolean;
}

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
}

export class ConfigError extends OperatorError {
  override name = "ConfigError";
  /** The setting whose value is wrong, if it is one setting's. */
  readonly setting: string | undefined;
  /** What is wrong, without the name of the setting. */
  readonly fault: string;

  constructor(fault: string, setting?: string) {
    super(setting === undefined ? fault : `${setting} ${fault}`);
    this.setting = setting;
    this.fault = fault;
  }
}

interface Setting {
  readonly field: keyof Config;
  /** The default, as text for the parser. */
  readonly fallback: string;
  readonly parse: (text: string) => Config[keyof Config];
  readonly meaning: string;
}

/** One folder for all, whatever the working directory is: agents find the facts of the service, and it theirs. */
const DATA_FOLDER = "~/.sideband/data";

const text = (value: string) => {
  if (value === "") throw new ConfigError("must not be empty");
  return value;
};
/** A folder; `~/` is expanded here, since a shell does not do it in a default or in a file of settings. */
export const folder = (value: string) => text(value).replace(/^~(?=[\\/]|$)/, () => homedir());
const optionalText = (value: string) => (value === "" ? undefined : value);
const flag = (value: string) => {
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  throw new ConfigError("takes 1 or 0");
};
const integer = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d{1,12}$/.test(value) || number < min || number > max) {
    throw new ConfigError(`takes a whole number from ${min} to ${max}`);
  }
  return number;
};
const coresButOne = () => Math.min(64, Math.max(1, availableParallelism() - 1));
const oneOf =
  <T extends string>(...values: T[]) =>
  (value: string): T => {
    const known = values.find((one) => one === value);
    if (known === undefined) throw new ConfigError(`takes one of ${values.join(", ")}`);
    return known;
  };
const host = (value: string) => {
  const isName = /^[\w-]+(\.[\w-]+)*$/.test(value) && URL.canParse(`http://${value}`);
  if (isIP(value) === 0 && !isName) throw new ConfigError("takes an address or a name");
  return value;
};
/** An address that is needed, as of --url. */
export const serviceUrl = (value: string) => {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(value) || !URL.canParse(value))
    throw new ConfigError("takes an http(s) address such as http://127.0.0.1:8787");
  return value.replace(/(?<!\/)\/+$/, "");
};
const url = (value: string) => (value === "" ? undefined : serviceUrl(value));
const database = (value: string) => {
  if (value === "") return undefined;
  // The address holds a password: it is never part of the message.
  if (!/^postgres(ql)?:\/\/[\x21-\x7e]+$/.test(value)) throw new ConfigError("takes a postgres:// address");
  return value;
};
const isNetwork = (text: string) => {
  const [, address, bits = "0"] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address ?? "") !== 0 && Number(bits) <= (isIPv4(address) ? 32 : 128);
};
const proxies = (value: string) => {
  if (value === "" || value === "0" || value === "false") return false;
  if (value === "true") return 1;
  if (/^[1-9]\d?$/.test(value)) return Number(value);
  const addresses = value.split(",").map((address) => address.trim());
  if (addresses.every(isNetwork)) return addresses;
  throw new ConfigError("takes a number of hops, or addresses and networks separated by commas");
};
const origins = (value: string) => {
  const list = value.split(",").flatMap((origin) => (origin.trim() === "" ? [] : [origin.trim()]));
  if (list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) return list;
  throw new ConfigError("takes origins such as https://agent.example, separated by commas");
};
const keysText = (value: string) => {
  if (value.length > 1000) throw new ConfigError("takes at most 1000 characters");
  return optionalText(value.trim());
};
const tokenText = (value: string) => {
  if (value !== "" && !/^[\x21-\x7e]{16,200}$/.test(value))
    throw new ConfigError("takes 16 to 200 visible characters");
  return optionalText(value);
};

export const SETTINGS: Readonly<Record<string, Setting>> = {
  SIDEBAND_HOST: {
    field: "host",
    fallback: "127.0.0.1",
    parse: host,
    meaning: "Address to listen on; 0.0.0.0 for all.",
  },
  SIDEBAND_PORT: {
    field: "port",
    fallback: "8787",
    parse: integer(0, 65535),
    meaning: "Port to listen on; 0 picks a free one.",
  },
  SIDEBAND_DATA: {
    field: "dataFolder",
    fallback: DATA_FOLDER,
    parse: folder,
    meaning: "The data folder of the service, of the operator's commands and of agents.",
  },
  SIDEBAND_DATABASE_URL: {
    field: "databaseUrl",
    fallback: "",
    parse: database,
    meaning:
      "A PostgreSQL database (postgres://user:password@host:5432/name) that nodes share, instead of the embedded store.",
  },
  SIDEBAND_DATABASE_POOL: {
    field: "databasePool",
    fallback: "8",
    parse: integer(2, 1000),
    meaning: "Connections of each process to PostgreSQL, beside one for single writes and one that listens.",
  },
  SIDEBAND_DATABASE_CA: {
    field: "databaseCa",
    fallback: "",
    parse: optionalText,
    meaning:
      "A file with the certificates (PEM) of the authorities that the server's certificate is checked against, with sslmode=verify-full in SIDEBAND_DATABASE_URL. When empty: those that Node.js trusts.",
  },
  SIDEBAND_BLOCK_WORKERS: {
    field: "blockWorkers",
    fallback: "",
    parse: (value) => (value === "" ? coresButOne() : integer(1, 64)(value)),
    meaning: "Threads for block work. When empty: all cores but one, at least one.",
  },
  SIDEBAND_MASTER_KEY: {
    field: "masterKey",
    fallback: "",
    parse: optionalText,
    meaning:
      "Master keys for blocks instead of the file master.key: 64 hexadecimal digits, or `id:digits` separated by commas, the newest last.",
  },
  SIDEBAND_ADMIN_TOKEN: {
    field: "adminToken",
    fallback: "",
    parse: tokenText,
    meaning: "Token for /admin instead of the file admin.token.",
  },
  SIDEBAND_DEMO: {
    field: "demo",
    fallback: "1",
    parse: flag,
    meaning: "1 turns the demo endpoints on, 0 turns them off.",
  },
  SIDEBAND_DEMO_RESET_S: {
    field: "demoResetS",
    fallback: "900",
    parse: integer(1, 86_400),
    meaning: "Seconds between resets of the demo state.",
  },
  SIDEBAND_DEMO_RATE: {
    field: "demoRate",
    fallback: "60",
    parse: integer(1, 1_000_000),
    meaning: "Demo requests a minute for one address.",
  },
  SIDEBAND_RATE: {
    field: "rate",
    fallback: "0",
    parse: integer(0, 1_000_000),
    meaning:
      "Operations a second for one key, on this node; 0 for no limit. With N nodes a key may do N times as many. A JSON-RPC batch counts each of its calls.",
  },
  SIDEBAND_TRUST_PROXY: {
    field: "trustProxy",
    fallback: "",
    parse: proxies,
    meaning:
      "Proxies whose X-Forwarded-For is trusted: a number of hops, or addresses and networks separated by commas.",
  },
  SIDEBAND_ALLOWED_ORIGINS: {
    field: "allowedOrigins",
    fallback: "",
    parse: origins,
    meaning:
      "Origins of browser pages that may call /mcp, and every path with a token (`sbt_…`), separated by commas, such as `https://agent.example`; the service's own is always allowed.",
  },
  SIDEBAND_PUBLIC_URL: {
    field: "publicUrl",
    fallback: "",
    parse: url,
    meaning: "The address that clients use, for the OpenAPI document. When empty: the listening address.",
  },
  SIDEBAND_UPGRADE_URL: {
    field: "upgradeUrl",
    fallback: "",
    parse: url,
    meaning: "The link in a 429 for the monthly limit. When empty: the public address with /docs#limits.",
  },
  SIDEBAND_KEYS_TEXT: {
    field: "keysText",
    fallback: "",
    parse: keysText,
    meaning:
      "The text of the page /keys: who issues keys, and how they reach people. At most 1,000 characters. When empty: the operator decides, and gets in touch with the person.",
  },
  SIDEBAND_LOG_LEVEL: {
    field: "logLevel",
    fallback: "info",
    parse: oneOf("fatal", "error", "warn", "info", "debug", "silent"),
    meaning: "What to log (fatal, error, warn, info, debug, silent), as JSON lines on standard error.",
  },
  SIDEBAND_QUEUE_MAX: {
    field: "queueMax",
    fallback: "10000",
    parse: integer(1, 1_000_000),
    meaning: "How many writes, and how many block tasks, may wait. Beyond that: 503.",
  },
  SIDEBAND_CONNECTIONS_MAX: {
    field: "connectionsMax",
    fallback: "10000",
    parse: integer(1, 1_000_000),
    meaning: "Open connections at the same time.",
  },
  SIDEBAND_CONNECTIONS_PER_ADDRESS: {
    field: "connectionsPerAddress",
    fallback: "512",
    parse: integer(1, 1_000_000),
    meaning: "Open connections from one address at the same time; trusted proxies have no such limit.",
  },
  SIDEBAND_SHUTDOWN_S: {
    field: "shutdownS",
    fallback: "10",
    parse: integer(1, 600),
    meaning: "Seconds that running requests may still take after SIGTERM.",
  },
  SIDEBAND_COMPACT_AFTER_S: {
    field: "compactAfterS",
    fallback: "3600",
    parse: integer(0, 31_536_000),
    meaning: "Seconds from the first forgetting to the automatic compaction; 0 for none.",
  },
  SIDEBAND_HISTORY: {
    field: "historyMax",
    fallback: "",
    parse: (value) => (value === "" ? undefined : integer(0, HISTORY_MAX)(value)),
    meaning: `Earlier values that are kept of every fact, at most ${HISTORY_MAX}; 0 for none. When empty: as many as the store was last started with, ${HISTORY_DEFAULT} for a new one.`,
  },
  SIDEBAND_REVIEW: {
    field: "review",
    fallback: "none",
    parse: (value) => oneOf("none", "read")(value) === "read",
    meaning:
      "`read` keeps facts that agents have read somewhere (`origin`) out of contexts and blocks until the person accepts them with `sideband review`.",
  },
};

/** @param overrides settings from a command's options; they take precedence over the environment */
export function readConfig(
  overrides: Readonly<Record<string, string>> = {},
  environment: Readonly<Record<string, string | undefined>> = { ...process.env, ...overrides },
): Config {
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith("SIDEBAND_") && !(name in SETTINGS) && !(name in AGENT_SETTINGS),
  );
  if (unknown.includes("SIDEBAND_WORKERS")) {
    throw new ConfigError(
      "SIDEBAND_WORKERS no longer exists: one process serves a data folder; for several nodes use SIDEBAND_DATABASE_URL",
    );
  }
  if (unknown.length > 0)
    throw new ConfigError(`unknown setting ${unknown.join(", ")} (docs/CONFIG.md lists them)`);
  const config: Record<string, unknown> = {};
  for (const [name, { field, fallback, parse }] of Object.entries(SETTINGS))
    config[field] = named(name, parse, environment[name] ?? fallback);
  return Object.freeze(config) as unknown as Config;
}

/** Settings of the agent's side. The service accepts and ignores them, since both may run from one shell. */
export const AGENT_SETTINGS: Readonly<Record<string, string>> = {
  SIDEBAND_API_URL:
    "The address of the service that an agent uses. If only a key is set: `http://127.0.0.1:8787`. Without both, the agent uses the data folder's owner.",
  SIDEBAND_API_KEY: "The key that an agent uses.",
  SIDEBAND_USER_ID: "Whose memory an agent uses. When empty: the name of the operating-system user.",
  SIDEBAND_TIMEOUT_MS:
    "Milliseconds that an agent waits for its memory before it goes on without it. When empty: 2000, 8000 before a compaction, and 30000 for a person at a terminal.",
  SIDEBAND_STALE_IF_ERROR_MS:
    "Milliseconds for which a client uses the last known memory while memory is away; the model is told how old it is. When empty: 600000. `0`: never.",
  SIDEBAND_PROJECT:
    "The project in which a person works: its facts are added to the person's own. When empty: the git repository of the working directory. `off`: the person's facts alone.",
  SIDEBAND_PROJECT_FROM:
    "What a git repository's project is known by: `remote`, so that every clone of it is the same project, or `path`. When empty: `remote`. A repository without a remote is known by its path.",
  SIDEBAND_INCLUDE:
    "What an agent's prompt gets: `index`, the facts in plain text; `block`, the sealed block; or `both`. When empty: `index`.",
  SIDEBAND_ALLOW_SECRETS:
    "1 lets an agent, and a person at a terminal, keep what looks like a key, a token or a password.",
};

/**
 * What the agent's side needs. SPECTRAL_MEMORY_ variables, which clients of the original service have, are read
 * where ours are not set.
 */
export function readAgentConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): AgentConfig {
  const find = (name: string) =>
    optionalText(environment[`SIDEBAND_${name}`] ?? "") ??
    optionalText(environment[`SPECTRAL_MEMORY_${name}`] ?? "");
  return {
    apiUrl: named("SIDEBAND_API_URL", url, find("API_URL") ?? ""),
    apiKey: find("API_KEY"),
    userId: find("USER_ID") ?? userName(),
    dataFolder: folder(optionalText(environment.SIDEBAND_DATA ?? "") ?? DATA_FOLDER),
    account: ACCOUNT_DEFAULT,
    timeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "2000"),
    compactionTimeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "8000"),
    personTimeoutMs: timeoutOf(find("TIMEOUT_MS") ?? "30000"),
    project: find("PROJECT"),
    projectFrom: named("SIDEBAND_PROJECT_FROM", oneOf("remote", "path"), find("PROJECT_FROM") ?? "remote"),
    include: named("SIDEBAND_INCLUDE", oneOf("index", "block", "both"), find("INCLUDE") ?? "index"),
    allowSecrets: find("ALLOW_SECRETS") === "1",
  };
}

/** Whether the memory is that of a service, and not a data folder's. */
export function usesService({ apiUrl, apiKey }: Pick<AgentConfig, "apiUrl" | "apiKey">): boolean {
  return apiUrl !== undefined || apiKey !== undefined;
}

function timeoutOf(value: string): number {
  return named("SIDEBAND_TIMEOUT_MS", integer(1, 600_000), value);
}

/** Parses a value; a message about it begins with the name of its setting or option. */
export function named<T>(name: string, parse: (value: string) => T, value: string): T {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.fault, name);
  }
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
