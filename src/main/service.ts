/** The service in one process: the core, its HTTP server, the door, and periodic work. */

import { type DestinationStream, pino } from "pino";
import { type Clock, type MonotonicClock, monotonicClock } from "../base/clock.ts";
import { RateLimiter } from "../base/rate-limiter.ts";
import { type AtStep, noStep } from "../base/steps.ts";
import { type Config, ConfigError } from "../config.ts";
import { doorPath } from "../door-client/door-path.ts";
import { removeLeftFolders } from "../door-client/private-folder.ts";
import { Door } from "../http/access/door.ts";
import type { Dispatcher } from "../http/request/dispatcher.ts";
import { HttpServer, type Timeouts } from "../http/server.ts";
import { McpHttp } from "../mcp/http.ts";
import { Demo } from "../memory/demo.ts";
import { backUp } from "./backup.ts";
import { type Core, openCore } from "./core.ts";
import { packageVersion, WEBSITE_FOLDER } from "./package.ts";
import { adminToken } from "./secrets.ts";
import { keepUp } from "./upkeep.ts";

export interface ServiceOptions {
  /** Makes the store where the data folder has none. */
  readonly create?: boolean;
  /** False refuses a data folder without a master key, instead of making one. */
  readonly newMasterKey?: boolean;
  /** How long to wait for an owner of the data folder that is about to end. */
  readonly lockWaitMs?: number;
  /** Nothing is changed, so that a standby of PostgreSQL may be used. */
  readonly readOnly?: boolean;
  /** Whether to listen on the TCP port of the configuration. */
  readonly tcp?: boolean;
  /** The path of the local socket to listen on, instead of the data folder's door. */
  readonly doorPath?: string;
  /** Whether the reader model is loaded before it is needed. */
  readonly warm?: boolean;
  /** What the threads of block work run, instead of the built module. */
  readonly blockWorker?: URL;
  readonly logTo?: DestinationStream;
  readonly timeouts?: Timeouts;
  /** Opens the core, instead of at the first attempt. */
  readonly open?: typeof openCore;
  /** Tells people that it listens, before its log does. */
  readonly announce?: (listening: Pick<Service, "core" | "url">) => Promise<void>;
  /** Called when somebody asks the process to end. */
  readonly onEnd?: () => void;
  /** Called once, with a line for the operator, when the embedded store is given up. */
  readonly onLost?: (line: string) => void;
  readonly atStep?: AtStep;
  /** Instead of the store's. */
  readonly clock?: Clock;
}

export interface Service {
  readonly core: Core;
  /** Where it listens; empty without TCP. */
  readonly url: string;
  readonly door: Door;
  /** Answers a request that came over no connection. */
  readonly dispatch: Dispatcher["dispatch"];
  close(): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const {
    create = true,
    tcp = true,
    warm = true,
    atStep = noStep,
    lockWaitMs = 0,
    readOnly = false,
    clock,
  } = options;
  const log = pino(
    { level: config.logLevel, base: { pid: process.pid } },
    options.logTo ?? pino.destination({ fd: 2, sync: false }),
  );
  const warn = (line: string) => log.warn(line);
  removeLeftFolders();
  const core = await (options.open ?? openCore)(config, {
    create,
    newMasterKey: options.newMasterKey ?? true,
    atStep,
    lockWaitMs,
    readOnly,
    warn,
    ...(clock === undefined ? {} : { clock }),
    ...(options.onLost === undefined ? {} : { onLost: options.onLost }),
    ...(options.blockWorker === undefined ? {} : { blockWorker: options.blockWorker }),
  });
  core.memory.labels.onChange = (line, message) => log.info(line, message);
  const door = new Door();
  let server: HttpServer | undefined;
  try {
    const token = adminToken(config.dataFolder, config.adminToken, () => core.embedded?.requireOwner());
    atStep("start: secrets made");
    const publicUrl = config.publicUrl ?? `http://${hostInUrl(config.host)}:${config.port}`;
    server = new HttpServer(
      {
        log,
        memory: core.memory,
        authentication: core.authentication,
        keys: core.keys,
        demo: config.demo ? new Demo(core.memory, config.demoResetS * 1000) : undefined,
        clock: core.clock,
        metrics: core.metrics,
        limits: limiters(config, clock),
        door,
        mcp: new McpHttp({
          memory: core.memory,
          version: packageVersion(),
          watch: (caller, onEnd) => core.authentication.watch(caller, onEnd),
        }),
        upkeep: {
          compact: (progress) => core.compact(progress),
          backUp: (folder, withMasterKey, progress) => backUp(core, config, folder, withMasterKey, progress),
          end: options.onEnd ?? (() => {}),
        },
        atStep,
        adminToken: token,
        publicUrl,
        upgradeUrl: config.upgradeUrl ?? `${publicUrl}/docs#limits`,
        version: packageVersion(),
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
        timeouts: options.timeouts,
        website: { folder: WEBSITE_FOLDER, keysText: config.keysText },
      },
    );
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
    const stopUpkeep = keepUp(core, config, log);
    const listening = server;
    if (warm) core.blockWork.warm();
    return {
      core,
      url,
      door,
      dispatch: server.dispatcher.dispatch,
      async close() {
        stopUpkeep();
        const timeoutMs = config.shutdownS * 1000;
        await Promise.all([listening.close(timeoutMs), door.close(timeoutMs)]);
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

/** When the embedded store is given up. An orderly end would answer from it, and work in a folder that is another's. */
export function endForGood(line: string): never {
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
