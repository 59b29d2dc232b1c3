/** What the HTTP layer works with. */

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { ServiceClock } from "../base/clock.ts";
import type { Failure } from "../base/errors.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RateLimiter } from "../base/rate-limiter.ts";
import type { AtStep } from "../base/steps.ts";
import type { Audit } from "../memory/audit.ts";
import type { Authentication, Caller } from "../memory/authentication.ts";
import type { Demo } from "../memory/demo.ts";
import type { KeyManager } from "../memory/key-manager.ts";
import type { Operators } from "../memory/operators.ts";
import type { BackupReport, CompactReport, DatabaseServer, Progress } from "../memory/ports.ts";
import type { Receipts } from "../memory/receipts.ts";
import type { AuditedNames, AuditNote } from "../memory/records.ts";
import type { MemoryServices } from "../memory/services.ts";
import type { OAuth } from "../oauth/oauth.ts";

/** Where lines go; pino's shape. */
export interface Log {
  info(line: object, message: string): void;
  debug(line: object, message: string): void;
  error(line: object, message: string): void;
  isLevelEnabled(level: string): boolean;
}

/** What came: a request of Node's server, or one that was made without a connection. Its body is read from it. */
export type HttpRequest = Readable &
  Pick<IncomingMessage, "method" | "url" | "headers" | "rawHeaders" | "httpVersion"> & {
    readonly socket: Pick<Socket, "remoteAddress" | "destroyed">;
  };

/** Requests that come through the door of the data folder, a local socket. */
interface DoorChecks {
  admits(request: Pick<HttpRequest, "socket">): boolean;
  callerOf(request: Pick<HttpRequest, "headers">): Caller;
}

/** What the operator does to the whole store, or to the process. */
interface Upkeep {
  compact(progress: Progress): Promise<CompactReport>;
  backUp(folder: string, withMasterKey: boolean, progress: Progress): Promise<BackupReport>;
  /** Ends the process in order. */
  end(): void;
}

/** A request to /mcp. */
export interface McpVisit {
  readonly caller: Caller;
  /** The one user that the visit is bound to; without it every call names one. */
  readonly userId: string | undefined;
  /** Whether add_label is offered where the key may add labels; undefined: only where no user is bound. */
  readonly addLabel?: boolean | undefined;
  /** Where the person works. */
  readonly project: string | undefined;
  /** The groups of labels whose facts a prompt gets; undefined: all that the caller sees. */
  readonly groups?: string | undefined;
  /** What of a memory the client wants in its prompt. */
  readonly include: "index" | "block" | "both";
  readonly request: { readonly method: string; readonly url: string; readonly headers: Headers };
  /** The JSON of the body; undefined without one. */
  readonly body: unknown;
  /** Fires when the answer has been sent, or the client has gone. */
  readonly ended: AbortSignal;
  /** What the client is told of an error. What is not expected is logged. */
  readonly failureOf: (error: unknown) => Failure;
  /** The note of a change that the audit is to have. */
  readonly audit: (operation: string, of: AuditedNames) => AuditNote;
}

/** The Model Context Protocol itself. */
export interface McpEndpoint {
  answer(visit: McpVisit): Promise<Response>;
  /** Ends the streams: a server that stops does not wait for listeners. */
  close(): void;
}

export interface HttpServices {
  readonly log: Log;
  readonly memory: MemoryServices;
  readonly authentication: Authentication;
  readonly keys: KeyManager;
  readonly demo: Demo | undefined;
  readonly clock: ServiceClock;
  /** Where the store is a database: the server that takes its writes. */
  readonly databaseServer: () => DatabaseServer | undefined;
  readonly metrics: Metrics;
  readonly door: DoorChecks;
  readonly mcp: McpEndpoint;
  /** Undefined where the operator has not turned it on. */
  readonly oauth?: OAuth | undefined;
  readonly upkeep: Upkeep;
  readonly receipts: Receipts;
  readonly atStep: AtStep;
  readonly limits: {
    /** For each address, on the demo. */
    readonly demo: RateLimiter;
    /** For each key; absent without a limit. */
    readonly key?: RateLimiter;
    /** For each address, on requests for keys. */
    readonly keyRequests: RateLimiter;
    /** For each address, on wrong admin tokens. */
    readonly adminFailures: RateLimiter;
  };
  readonly operators: Operators;
  readonly audit: Audit;
  readonly upgradeUrl: string;
  readonly publicUrl: string;
  readonly version: string;
}
