/**
 * The byte stream to one server: a local socket or TCP, with TLS where the address asks for it. PostgreSQL begins TLS
 * inside an open connection: the client sends SSLRequest, the server answers with one byte, S or N (PostgreSQL
 * manual, "SSL Session Encryption").
 */

import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { join } from "node:path";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { Host, TlsMode } from "./database-address.ts";

interface StreamOptions extends Host {
  readonly tls: TlsMode;
  /** The certificates of the authorities to trust, as PEM; the system's where there are none. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}

/** The server, or what stands in its place, cannot be trusted or does not speak TLS. */
class TlsError extends Error {
  override name = "TlsError";
  readonly code = "TLS";
}

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const YES = "S".charCodeAt(0);

export async function openStream(options: StreamOptions): Promise<Socket> {
  const { host, port, tls, timeoutMs } = options;
  const local = host.startsWith("/");
  const signal = AbortSignal.timeout(timeoutMs);
  const socket = local ? connect(join(host, `.s.PGSQL.${port}`)) : connect(port, host);
  try {
    await once(socket, "connect", { signal });
    if (local || tls === "disable") return socket;
    socket.write(SSL_REQUEST);
    const [answer] = (await once(socket, "data", { signal })) as [Buffer];
    if (answer[0] !== YES || answer.length > 1)
      throw new TlsError(`${host} offers no TLS, and sslmode=${tls} asks for it`);
    return await encrypt(socket, options, signal);
  } catch (error) {
    socket.on("error", () => {}).destroy();
    if (!signal.aborted) throw error;
    throw Object.assign(new Error(`${host}:${port} does not answer within ${timeoutMs} ms`), {
      code: "ETIMEDOUT",
    });
  }
}

async function encrypt(
  socket: Socket,
  { host, tls, ca }: StreamOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const options: ConnectionOptions = {
    socket,
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    ...(ca === undefined ? {} : { ca }),
    rejectUnauthorized: tls !== "require",
    ...(tls === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
  };
  const encrypted = connectTls(options);
  try {
    await once(encrypted, "secureConnect", { signal });
    return encrypted;
  } catch (error) {
    encrypted.on("error", () => {}).destroy();
    if (signal.aborted) throw error;
    throw new TlsError(`the certificate of ${host} cannot be trusted: ${(error as Error).message}`);
  }
}
