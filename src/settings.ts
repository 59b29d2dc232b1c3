/**
 * The settings of the service and of the agent's side: every one is a SIDEBAND_ variable of these tables, with its default,
 * the values that it takes, and what it means (docs/CONFIG.md is made of them). config.ts reads them.
 */

import { TIERS, type Tier } from "./base/accounts.ts";
import { HISTORY_DEFAULT, HISTORY_MAX } from "./base/limits.ts";
import {
  coresButOne,
  database,
  flag,
  folder,
  host,
  integer,
  keysText,
  oneOf,
  optionalFolder,
  optionalText,
  origins,
  proxies,
  tokenTexts,
  url,
} from "./setting-values.ts";

/** Parsed. */
export interface ServiceSettings {
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  readonly databasePool: number;
  readonly databaseCa: string | undefined;
  /** Whether a start brings the database to this program's form. */
  readonly migrate: boolean;
  readonly blockWorkers: number;
  readonly masterKey: string | undefined;
  /** Each of them counts. */
  readonly adminTokens: readonly string[] | undefined;
  readonly demo: boolean;
  readonly demoResetS: number;
  readonly demoRate: number;
  readonly rate: number;
  readonly trustProxy: number | readonly string[] | false;
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  /** Whether applications connect by the service's address. */
  readonly oauth: boolean;
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
  readonly keyTier: Tier;
  readonly backupFolder: string | undefined;
  readonly backupEveryH: number;
  readonly backupKeep: number;
  readonly erasures: string | undefined;
  readonly embeddingsUrl: string | undefined;
  readonly embeddingsModel: string | undefined;
  readonly embeddingsKey: string | undefined;
}

interface Setting {
  readonly field: keyof ServiceSettings;
  /** The default, as text for the parser. */
  readonly fallback: string;
  readonly parse: (text: string) => ServiceSettings[keyof ServiceSettings];
  readonly meaning: string;
  /** It may also stand in a file, which the setting with _FILE behind its name names. */
  readonly secret?: true;
}

/** One folder for all, whatever the working directory is: agents find the facts of the service, and it theirs. */
export const DATA_FOLDER = "~/.sideband/data";

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
    secret: true,
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
  SIDEBAND_MIGRATE: {
    field: "migrate",
    fallback: "on",
    parse: (value) => oneOf("on", "off")(value) === "on",
    meaning:
      "`off`: a node does not change the database's form when it starts. It waits until `sideband db migrate` has done so, and takes no traffic meanwhile.",
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
    secret: true,
    meaning:
      "Master keys for blocks instead of the file master.key: 64 hexadecimal digits, or `id:digits` separated by commas, the one that writes last. `id:digits:blocks` is a key that only opens old blocks.",
  },
  SIDEBAND_ADMIN_TOKEN: {
    field: "adminTokens",
    fallback: "",
    parse: tokenTexts,
    secret: true,
    meaning:
      "Token for /admin instead of the file admin.token: 16 to 200 visible characters. Several, separated by commas, while one takes the place of another.",
  },
  SIDEBAND_DEMO: {
    field: "demo",
    fallback: "0",
    parse: flag,
    meaning:
      "1 switches the demo on (`/demo/…` and the playground of the website): then strangers may write there without a key.",
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
    meaning:
      "The address that clients use, for the OpenAPI document and for SIDEBAND_OAUTH. When empty: the listening address.",
  },
  SIDEBAND_OAUTH: {
    field: "oauth",
    fallback: "off",
    parse: (value) => oneOf("off", "on")(value) === "on",
    meaning:
      "`on` lets applications such as Claude and ChatGPT connect to /mcp by its address alone (OAuth): a person allows them with a key. It needs SIDEBAND_PUBLIC_URL: https, without a path.",
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
  SIDEBAND_KEY_TIER: {
    field: "keyTier",
    fallback: "unlimited",
    parse: oneOf(...TIERS),
    meaning:
      "The tier of a key that is made without one: `free`, `pro`, `builder` or `unlimited`. Who sells keys makes them `free`.",
  },
  SIDEBAND_REVIEW: {
    field: "review",
    fallback: "none",
    parse: (value) => oneOf("none", "read")(value) === "read",
    meaning:
      "`read` keeps facts that agents have read somewhere (`origin`) out of contexts and blocks until the person accepts them with `sideband review`.",
  },
  SIDEBAND_BACKUP_DIR: {
    field: "backupFolder",
    fallback: "",
    parse: optionalFolder,
    meaning:
      "A folder for backups of the embedded store, of this service alone, on another disk: the service makes them by itself. When empty: none but those of `sideband backup create`.",
  },
  SIDEBAND_BACKUP_EVERY_H: {
    field: "backupEveryH",
    fallback: "24",
    parse: integer(1, 8_760),
    meaning:
      "Hours between two backups in SIDEBAND_BACKUP_DIR. What is lost with the disk is at most what was written in that time, and while a backup was made.",
  },
  SIDEBAND_BACKUP_KEEP: {
    field: "backupKeep",
    fallback: "7",
    parse: integer(1, 1_000),
    meaning: "Backups that are kept in SIDEBAND_BACKUP_DIR. An older one goes when a new one is whole.",
  },
  SIDEBAND_ERASURES: {
    field: "erasures",
    fallback: "",
    parse: optionalFolder,
    meaning:
      "The file in which erasures of persons and projects, and moves of projects, are noted, as keyed hashes without names: a restored backup forgets them again. When empty: `erasures.list` in SIDEBAND_BACKUP_DIR, else in the data folder. Each node on a database has its own.",
  },
  SIDEBAND_EMBEDDINGS_URL: {
    field: "embeddingsUrl",
    fallback: "",
    parse: url,
    meaning:
      "An embedding service, as `http://127.0.0.1:11434/v1` (Ollama): facts are then found by meaning too. Labels, descriptions, values and what is looked for are sent there. When empty: nothing is sent, and facts are found by words.",
  },
  SIDEBAND_EMBEDDINGS_MODEL: {
    field: "embeddingsModel",
    fallback: "",
    parse: optionalText,
    meaning: "The model of SIDEBAND_EMBEDDINGS_URL. With another one all vectors are made anew.",
  },
  SIDEBAND_EMBEDDINGS_KEY: {
    field: "embeddingsKey",
    fallback: "",
    parse: optionalText,
    secret: true,
    meaning: "The key of SIDEBAND_EMBEDDINGS_URL, sent as a bearer token.",
  },
};

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
  SIDEBAND_CONTEXT_TOKENS:
    "Tokens that the section with the facts may have in a prompt of an agent's host: 200 to 100000. When empty: 800. `0`: all facts. Not where a prompt has the sealed block.",
  SIDEBAND_GROUPS:
    "The groups of labels that go into a prompt in a host for code, beside those that the project names: `USER,PREF`, or with a minus all but those: `-HEALTH`. When empty: `USER,PREF,TASK,PROJ`. `all`: every group. Other facts are found with find and recall.",
  SIDEBAND_ALLOW_SECRETS:
    "1 lets an agent, and a person at a terminal, keep what looks like a key, a token or a password.",
  SIDEBAND_OFF:
    "1 turns memory off for a session: no agent in it gets facts or stores any. `sideband off` does it for a repository.",
};
