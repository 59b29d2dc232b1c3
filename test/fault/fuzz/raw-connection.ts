/** A bare connection of the fuzzer: writes any bytes in any pieces, and takes the answers apart by HTTP's own rules. */

import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import type { Request } from "../load/exchange.ts";
import { FuzzFault } from "./field.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

const END_TIMEOUT_MS = 60_000;
/** More pieces than this are not worth the time. */
const PIECES_MAX = 40;

export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the connection has ended, however it did. */
  readonly ended: Promise<void>;
  #text = "";

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port, noDelay: true }).setEncoding("latin1");
    this.socket.on("data", (chunk) => {
      this.#text += chunk;
    });
    this.socket.on("error", () => {});
    this.ended = new Promise((resolve) => this.socket.once("close", () => resolve()));
  }

  /** Writes all of it in pieces of random size. */
  async writeInPieces(random: Random, bytes: string): Promise<void> {
    const pieces = 1 + random.below(PIECES_MAX);
    const size = Math.ceil(bytes.length / pieces);
    for (let at = 0; at < bytes.length && !this.socket.destroyed; at += size) {
      this.socket.write(bytes.slice(at, at + size), "latin1");
      await setImmediate();
    }
  }

  /** Everything that comes until the service closes the connection. */
  async allAnswers(methods: readonly string[]): Promise<RawAnswer[]> {
    const timer = setTimeout(() => this.socket.destroy(), END_TIMEOUT_MS);
    const startMs = performance.now();
    await this.ended;
    clearTimeout(timer);
    if (performance.now() - startMs >= END_TIMEOUT_MS) throw new FuzzFault("the connection was not closed");
    return answersIn(this.#text, methods);
  }

  hangUp(random: Random): void {
    if (random.below(2) === 0) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }
}

/** The bytes of a request, in latin1. */
export function bytesOf({ method, path, headers = {}, body = "" }: Request, close: boolean): string {
  const text = Buffer.from(body).toString("latin1");
  const lines = Object.entries({ host: "x", ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (text !== "") lines.push(`content-length: ${text.length}`);
  if (close) lines.push("connection: close");
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`;
}

/** @param methods of the requests, in their order: an answer to HEAD has no body */
export function answersIn(text: string, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\r\n\r\n", at);
    const [first, ...lines] = text.slice(at, end < 0 ? undefined : end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new FuzzFault(`no answer: ${text.slice(at, at + 300)}`);
    at = end + 4;
    if (status < 200) continue;
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const hasBody = methods[answers.length] !== "HEAD" && status !== 204 && status !== 304;
    const chunked = headers["transfer-encoding"] === "chunked";
    const close = chunked
      ? text.indexOf("\r\n0\r\n\r\n", at - 2) + 7
      : at + Number(headers["content-length"] ?? 0);
    if (hasBody && (close > text.length || close < at))
      throw new FuzzFault(`a cut answer: ${text.slice(end - 200)}`);
    answers.push({ status, headers, text: hasBody ? text.slice(at, close) : "" });
    if (hasBody) at = close;
  }
  return answers;
}
