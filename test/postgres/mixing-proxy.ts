/**
 * A stand-in for a pooler that mixes up answers: it passes everything on to PostgreSQL until it is told to mix. Then it
 * keeps an answer until there is one on another connection, and gives each client the other's. It reads the server's
 * messages only as far as that needs: a type byte, a length, the content (PostgreSQL manual, "Message Formats").
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** The answer of a statement begins with this, */
const BIND_COMPLETE = "2".charCodeAt(0);
/** and ends with this. */
const READY_FOR_QUERY = "Z".charCodeAt(0);
const LENGTH_BYTES = 4;
interface Kept {
  readonly client: Socket;
  readonly answer: Buffer;
  readonly timer: NodeJS.Timeout;
}

export class MixingProxy {
  readonly url: string;
  mixing = false;
  /** An answer goes to its own client where no other comes within this time. */
  keepMs = 200;
  /** Pairs of answers that were swapped. */
  swapped = 0;
  #kept: Kept | undefined;

  private constructor(url: string) {
    this.url = url;
  }

  static async start(context: TestContext, databaseUrl: string): Promise<MixingProxy> {
    const { port } = new URL(databaseUrl);
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(port), "127.0.0.1");
      for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
      proxy.#join(client, upstream);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const own = (server.address() as AddressInfo).port;
    const proxy = new MixingProxy(databaseUrl.replace(`:${port}/`, `:${own}/`));
    context.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return proxy;
  }

  /** Mixes no more: an answer that is kept goes to its own client. */
  stop(): void {
    this.mixing = false;
    if (this.#kept === undefined) return;
    const { client, answer } = this.#release(this.#kept);
    client.write(answer);
  }

  #join(client: Socket, server: Socket): void {
    client.pipe(server);
    client.once("close", () => server.destroy());
    server.once("close", () => client.destroy());
    let rest: Buffer = Buffer.alloc(0);
    let answer: Buffer[] = [];
    server.on("data", (bytes: Buffer) => {
      const { messages, left } = messagesOf(Buffer.concat([rest, bytes]));
      rest = left;
      for (const message of messages) {
        if (answer.length === 0 && message[0] !== BIND_COMPLETE) client.write(message);
        else answer.push(message);
        if (message[0] !== READY_FOR_QUERY || answer.length === 0) continue;
        this.#pass(client, Buffer.concat(answer));
        answer = [];
      }
    });
  }

  #pass(client: Socket, answer: Buffer): void {
    if (this.#kept !== undefined && this.#kept.client !== client) {
      const { client: other, answer: othersAnswer } = this.#release(this.#kept);
      client.write(othersAnswer);
      other.write(answer);
      this.swapped += 1;
      return;
    }
    if (this.#kept !== undefined) client.write(this.#release(this.#kept).answer);
    if (!this.mixing) {
      client.write(answer);
      return;
    }
    const timer = setTimeout(() => {
      if (this.#kept?.timer === timer) client.write(this.#release(this.#kept).answer);
    }, this.keepMs);
    this.#kept = { client, answer, timer };
  }

  #release(kept: Kept): Kept {
    clearTimeout(kept.timer);
    this.#kept = undefined;
    return kept;
  }
}

/** The whole messages, and what is left of the next one. */
function messagesOf(bytes: Buffer): { messages: Buffer[]; left: Buffer } {
  const messages: Buffer[] = [];
  let at = 0;
  while (at + 1 + LENGTH_BYTES <= bytes.length) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return { messages, left: bytes.subarray(at) };
}
