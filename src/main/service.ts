/** The service in one process: the core, its HTTP server, the door, and periodic work. */

import { type DestinationStream, type Logger, pino } from "pino";
import { type MonotonicClock, monotonicClock } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import { RateLimiter } from "../base/rate-limiter.ts";
import { noStep } from "../base/steps.ts";
import type { Config } from "../config.ts";
import { doorPath, removeLeftFolders } from "../door-client/private-folder.ts";
import { Door } from "../http/access/door.ts";
import type { Dispatcher } from "../http/request/dispatcher.ts";
import { HttpServer, type Timeouts } from "../http/server.ts";
import { McpHttp } from "../mcp/http.ts";
import { Audit } from "../memory/audit.ts";
import { Demo } from "../memory/demo.ts";
import { Operators } from "../memory/operators.ts";
import { Receipts } from "../memory/receipts.ts";
import { OAuth, type OAuthOptions } from "../oauth/oauth.ts";
import { createBackup } from "./backup.ts";
import { type Core, type CoreOptions, openCore } from "./core.ts";
import { LogOutput } from "./log-output.ts";
import { packageVersion, WEBSITE_FOLDER } from "./package.ts";
import { adminTokens } from "./secrets.ts";
import { startUpkeep } from "./upkeep.ts";

export interface ServiceOptions extends Partial<CoreOptions> {
  /** Whether to listen on the TCP port of the configuration. */
  readonly tcp?: boolean;
  /** The path of the local socket to listen on, instead of the data folder's door. */
  readonly doorPath?: string;
  /** Whether the reader model is loaded before it is needed. */
  readonly warm?: boolean;
  readonly logTo?: DestinationStream;
  readonly timeouts?: Timeouts;
  /** How metadata documents of applications are reached. */
  readonly documents?: OAuthOptions["documents"];
  /** Opens the core, instead of at the first attempt. */
  readonly open?: typeof openCore;
  /** Tells people that it listens, before its log does. */
  readonly announce?: (listening: Pick<Service, "core" | "url">) => Promise<void>;
  /** Called when somebody asks the process to end. */
  readonly onEnd?: () => void;
}

export interface Service {
  readonly core: Core;
  /** Where it listens; empty without TCP. */
  readonly url: string;
  readonly door: Door;
  /** Answers a request that came over no connection. */
  readonly dispatch: Dispatcher["dispatch"];
  /** @param keptMs how long connections are kept after their last use, for what their clients may be about to send */
  close(keptMs?: number): Promise<void>;
}

/** One for the process, however many services it has. */
const LOG_OUTPUT = new LogOutput();
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const { tcp = true, warm = true, atStep = noStep, open = openCore } = options;
  const log = pino({ level: config.logLevel, base: { pid: process.pid } }, options.logTo ?? LOG_OUTPUT);
  removeLeftFolders();
  // A start that fails has one line, which says why.
  const atStart: string[] = [];
  let inform: (line: string) => void = (line) => atStart.push(line);
  const core = await open(config, {
    create: true,
    warn: (line) => log.warn(line),
    inform: (line) => inform(line),
    ...options,
  });
  inform = (line) => log.info(line);
  for (const line of atStart) inform(line);
  core.memory.labels.onChange = (line, message) => log.info(line, message);
  const door = new Door();
  let server: HttpServer | undefined;
  try {
    server = makeServer(config, options, { core, log, door });
    const address = tcp ? await listen(server, config) : undefined;
    const embedded = config.databaseUrl === undefined;
    const path = options.doorPath ?? (embedded ? doorPath(config.dataFolder) : undefined);
    if (path !== undefined)
      await door.open(server.dispatcher.handle, path, () => core.embedded?.isOwner ?? true);
    const url = address === undefined ? "" : `http://${hostInUrl(config.host)}:${address.port}`;
    core.embedded?.noteOwner(url || null);
    atStep("start: listening");
    await options.announce?.({ core, url });
    log.info({ address }, "listening");
    const stopUpkeep = startUpkeep(core, config, log);
    const listening = server;
    if (warm) core.blockWork.warm();
    return {
      core,
      url,
      door,
      dispatch: server.dispatcher.dispatch,
      async close(keptMs) {
        stopUpkeep();
        const timeoutMs = config.shutdownS * 1000;
        await Promise.all([listening.close(timeoutMs, keptMs), door.close(timeoutMs)]);
        await core.close();
        log.flush();
      },
    };
  } catch (error) {
    await Promise.all([server?.close(0), door.close(0)]);
    await core.close();
    throw error;
  }
}

function makeServer(
  config: Config,
  { atStep = noStep, clock, onEnd = () => {}, timeouts, documents }: ServiceOptions,
  { core, log, door }: { core: Core; log: Logger; door: Door },
): HttpServer {
  const tokens = adminTokens(config.dataFolder, config.adminTokens, () => core.embedded?.requireOwner());
  atStep("start: secrets made");
  const version = packageVersion();
  const audit = new Audit(core.memory);
  const publicUrl = config.publicUrl ?? `http://${hostInUrl(config.host)}:${config.port}`;
  return new HttpServer(
    {
      log,
      memory: core.memory,
      authentication: core.authentication,
      keys: core.keys,
      audit,
      demo: config.demo ? new Demo(core.memory, config.demoResetS * 1000) : undefined,
      clock: core.clock,
      databaseServer: core.databaseServer,
      metrics: core.metrics,
      limits: limiters(config, clock),
      door,
      mcp: new McpHttp({
        memory: core.memory,
        version,
        watch: (caller, onEnd) => core.authentication.watch(caller, onEnd),
      }),
      oauth: config.oauth
        ? openOAuth(config, core, { monotonic: clock ?? monotonicClock, documents })
        : undefined,
      upkeep: {
        compact: (progress) => core.compact(progress),
        backUp: (folder, withMasterKey, progress) =>
          createBackup(core, config, folder, withMasterKey, progress),
        end: onEnd,
      },
      receipts: new Receipts(core.memory.keyRing, backupsKeptMs(config)),
      atStep,
      operators: new Operators(core.store, core.clock, tokens),
      publicUrl,
      upgradeUrl: config.upgradeUrl ?? `${publicUrl}/docs#limits`,
      version,
    },
    {
      trustProxy: config.trustProxy,
      origins: {
        allowed: config.allowedOrigins,
        names: [config.host, new URL(publicUrl).hostname],
        isLocal: LOOPBACK.has(config.host),
      },
      connectionsMax: config.connectionsMax,
      connectionsPerAddress: config.connectionsPerAddress,
      timeouts,
      website: { folder: WEBSITE_FOLDER, keysText: config.keysText },
    },
  );
}

/** A backup goes when there are so many that are younger; null where the service makes none. */
function backupsKeptMs({ backupFolder, backupEveryH, backupKeep }: Config): number | null {
  return backupFolder === undefined ? null : backupEveryH * backupKeep * 3_600_000;
}

/** Clients compare addresses letter by letter, and take the issuer's without a path. */
function openOAuth(
  { publicUrl }: Config,
  { memory, authentication, clock }: Core,
  options: Pick<OAuthOptions, "monotonic" | "documents">,
): OAuth {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isSafe = url?.protocol === "https:" || (url !== undefined && LOOPBACK.has(url.hostname));
  if (url === undefined || !isSafe || url.origin !== publicUrl)
    throw new ConfigError(
      "SIDEBAND_OAUTH=on needs SIDEBAND_PUBLIC_URL, the https address that people use, without a path, as https://memory.example.com",
    );
  const { store: keys, labels, keyRing } = memory;
  const parts = {
    keys,
    audit: new Audit(memory),
    authentication,
    labels,
    clock,
    secrets: keyRing.grantSecrets,
  };
  return new OAuth({ ...parts, ...options, publicUrl: url.origin });
}

/** When the embedded store is given up. An orderly end would answer from it, and work in a folder that is another's. */
export function exitNow(line: string): never {
  console.error(`sideband: ${line}`);
  process.exit(1);
}

export async function listen(
  server: Pick<HttpServer, "listen">,
  { host, port }: Config,
): Promise<{ port: number }> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new ConfigError(`port ${port} of ${host} is in use: choose another with --port or SIDEBAND_PORT`);
    if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new ConfigError(`cannot listen on ${host}, port ${port}: ${(error as Error).message}`);
    throw error;
  }
}

/** By default durations are measured: a clock that stands still or jumps must not lock anybody out. */
function limiters(config: Config, clock: MonotonicClock = monotonicClock) {
  const make = (countMax: number, windowMs: number) => new RateLimiter({ countMax, windowMs, clock });
  return {
    demo: make(config.demoRate, 60_000),
    keyRequests: make(5, 3_600_000),
    adminFailures: make(10, 60_000),
    ...(config.rate === 0 ? {} : { key: make(config.rate, 1_000) }),
  };
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  // An address has no zone in a URL.
  return host.includes(":") ? `[${host.split("%")[0]}]` : host;
}
