/** One process of the service: the core, its HTTP server, and the work that comes round by the clock. */

import { existsSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { type DestinationStream, type Logger, pino } from "pino";
import { systemClock } from "../base/clock.ts";
import { renderMetrics } from "../base/metrics.ts";
import type { Config } from "../config.ts";
import type { Limit } from "../http/rate-limiter.ts";
import { RateLimiter } from "../http/rate-limiter.ts";
import { createServer } from "../http/server.ts";
import { McpHttp } from "../mcp/http.ts";
import { Demo } from "../memory/demo.ts";
import { type Core, openCore } from "./core.ts";
import { adminToken } from "./secrets.ts";

/** What several processes do together; alone a process does it for itself. */
export interface Companions {
  readonly limit: (limiter: LimiterName) => Limit;
  readonly renderMetrics: (core: Core) => string | Promise<string>;
  /** Whether this process does what must be done once: sweeping, compacting. */
  readonly leads: () => boolean;
  /** Told of the core once it is open. */
  readonly attach?: (core: Core) => void;
}

export interface Service {
  readonly core: Core;
  readonly url: string;
  close(): Promise<void>;
}

export type LimiterName = "demo" | "key" | "keyRequests" | "adminFailures";

const TOUCH_INTERVAL_MS = 10_000;
const SWEEP_INTERVAL_MS = 50;
const UPKEEP_INTERVAL_MS = 30_000;

export async function startService(
  config: Config,
  options: {
    companions?: Companions;
    logTo?: DestinationStream;
    prepare?: (core: Core) => Promise<void>;
  } = {},
): Promise<Service> {
  const companions = options.companions ?? alone(config);
  const log = pino(
    { level: config.logLevel, base: { pid: process.pid } },
    options.logTo ?? pino.destination({ fd: 2, sync: false }),
  );
  const core = await openCore(config, { create: true });
  companions.attach?.(core);
  try {
    await options.prepare?.(core);
    const publicUrl = config.publicUrl ?? `http://${hostInUrl(config.host)}:${config.port}`;
    const limiter = companions.limit;
    const app = createServer(
      {
        log,
        memory: core.memory,
        authentication: core.authentication,
        desk: core.desk,
        demo: config.demo ? new Demo(core.memory, config.demoResetS * 1000) : undefined,
        clock: systemClock,
        metrics: core.metrics,
        renderMetrics: () => companions.renderMetrics(core),
        limits: {
          demo: limiter("demo"),
          keyRequests: limiter("keyRequests"),
          adminFailures: limiter("adminFailures"),
          ...(config.rate === 0 ? {} : { key: limiter("key") }),
        },
        adminToken: adminToken(config.dataFolder, config.adminToken),
        publicUrl,
        upgradeUrl: config.upgradeUrl ?? `${publicUrl}/docs#limits`,
        version: packageVersion(),
      },
      {
        trustProxy: config.trustProxy,
        connectionsMax: config.connectionsMax,
        extensions: [new McpHttp({ memory: core.memory, version: packageVersion() })],
        websiteFolder: websiteFolder(),
      },
    );
    await app.listen({ host: config.host, port: config.port });
    log.info({ address: app.server.address() }, "listening");
    const stopUpkeep = keepUp(core, config, companions.leads, log);
    core.workshop.warm();
    const { port } = app.server.address() as AddressInfo;
    return {
      core,
      url: `http://${hostInUrl(config.host)}:${port}`,
      async close() {
        stopUpkeep();
        // Connections are kept alive by their clients: each is closed as soon as its request is answered.
        const sweeping = setInterval(() => app.server.closeIdleConnections(), SWEEP_INTERVAL_MS);
        const timer = setTimeout(() => app.server.closeAllConnections(), config.shutdownS * 1000);
        await app.close();
        clearTimeout(timer);
        clearInterval(sweeping);
        await core.close();
        log.flush();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

function keepUp(core: Core, config: Config, leads: () => boolean, log: Logger): () => void {
  const complain = (what: string) => (error: unknown) => log.warn({ err: error }, `${what} failed`);
  const touching = setInterval(() => {
    core.store.touchKeys(core.authentication.takeUses()).catch(complain("noting the use of keys"));
  }, TOUCH_INTERVAL_MS);
  const upkeep = setInterval(
    async () => {
      if (!leads()) return;
      await core.store.sweep(Date.now()).catch(complain("sweeping"));
      const since = core.embedded?.forgottenSinceMs();
      if (
        config.compactAfterS === 0 ||
        since === undefined ||
        Date.now() - since < config.compactAfterS * 1000
      )
        return;
      await core.embedded?.compact().then((report) => log.info(report, "compacted"), complain("compacting"));
    },
    Math.min(UPKEEP_INTERVAL_MS, Math.max(1, config.compactAfterS) * 1000),
  );
  return () => {
    clearInterval(touching);
    clearInterval(upkeep);
  };
}

/** The limiters of a service, made where they are kept: in the only process, or in the primary. */
export function limiters(config: Config): Record<LimiterName, RateLimiter> {
  const make = (countMax: number, windowMs: number) =>
    new RateLimiter({ countMax, windowMs, clock: systemClock });
  return {
    demo: make(config.demoRate, 60_000),
    key: make(Math.max(1, config.rate), 1_000),
    keyRequests: make(5, 3_600_000),
    adminFailures: make(10, 60_000),
  };
}

function alone(config: Config): Companions {
  const own = limiters(config);
  return {
    limit: (name) => (caller) => own[name].take(caller),
    renderMetrics: ({ metrics }) => renderMetrics(metrics.definitions, [metrics.snapshot()]),
    leads: () => true,
  };
}

export function packageVersion(): string {
  // src/main/service.ts and dist/src/main/service.js are two and three folders below the package.
  for (const up of ["../../package.json", "../../../package.json"]) {
    try {
      return JSON.parse(readFileSync(new URL(up, import.meta.url), "utf8")).version;
    } catch {}
  }
  return "unknown";
}

/** The built website: dist/web, from the sources as from the build. Absent where it was not built. */
function websiteFolder(): string | undefined {
  const folders = ["../../dist/web", "../../../dist/web"].map((up) =>
    fileURLToPath(new URL(up, import.meta.url)),
  );
  return folders.find((folder) => existsSync(folder));
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
