/** Answers in one write are, byte for byte, those that Node sends by itself. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { OneWriteResponse } from "../../../src/http/request/answer.ts";

type Answer = (response: ServerResponse, ended: () => void) => void;

const LARGE = "é".repeat(2_000_000);
const TEXT = { "content-type": "text/plain", "content-length": "5" };

const ANSWERS: Record<string, Answer> = {
  plain: (response, ended) => response.writeHead(200, TEXT).end("hello", ended),
  "with an encoding": (response, ended) => response.writeHead(200, TEXT).end("h\xe9llo", "latin1", ended),
  bytes: (response, ended) => response.writeHead(200, TEXT).end(Buffer.from("hello"), ended),
  "without a length": (response, ended) => response.writeHead(200, { "x-odd": "1" }).end("hello", ended),
  "with the head left to Node": (response, ended) => response.end("hello", ended),
  "in pieces": (response, ended) => {
    response.writeHead(200, TEXT);
    response.write("he");
    response.end("llo", ended);
  },
  empty: (response, ended) => response.writeHead(204).end(ended),
  "an empty text": (response, ended) => response.writeHead(200, { "content-length": "0" }).end("", ended),
  large: (response, ended) =>
    response.writeHead(200, { "content-length": String(Buffer.byteLength(LARGE)) }).end(LARGE, ended),
};

test("an answer in one write has the bytes of Node's own, alone and behind others, and says when it has ended", async () => {
  for (const method of ["GET", "HEAD"]) {
    for (const names of [...Object.keys(ANSWERS).map((name) => [name]), Object.keys(ANSWERS)]) {
      const own = await collect(method, names, OneWriteResponse);
      const plain = await collect(method, names);
      assert.equal(own.ended, names.length);
      assert.equal(own.text, plain.text, `${method} ${names.join(", ")}`);
    }
  }
});

test("a text with its length, and all that comes with it, goes to the kernel in one write", async () => {
  const { writes } = await collect("GET", ["with an encoding"], OneWriteResponse);
  assert.deepEqual(writes, ["one"]);
  // Node 24 does it by itself. When no Node is supported that does not, this class is of no use.
  if (!process.version.startsWith("v20.")) return;
  const plain = await collect("GET", ["with an encoding"]);
  assert.deepEqual(plain.writes, ["list"], "Node 20 itself sends a list");
});

/** All that comes back when the answers are asked for at once on one connection. */
async function collect(
  method: string,
  names: readonly string[],
  kind?: typeof OneWriteResponse<IncomingMessage>,
): Promise<{ text: string; ended: number; writes: string[] }> {
  let ended = 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    response.sendDate = false;
    ANSWERS[decodeURIComponent(request.url!.slice(1))](response, () => {
      ended += 1;
    });
  };
  const server = kind === undefined ? createServer(answer) : createServer({ ServerResponse: kind }, answer);
  const writes: string[] = [];
  server.on("connection", (socket) => {
    // What a stream calls for one write, and for several that have come together.
    for (const [method, kind] of [
      ["_write", "one"],
      ["_writev", "list"],
    ] as const) {
      const original = socket[method] as (...given: unknown[]) => void;
      socket[method] = (...given: unknown[]) => {
        writes.push(kind);
        original.apply(socket, given);
      };
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const requests = names.map(
    (name, i) =>
      `${method} /${encodeURIComponent(name)} HTTP/1.1\r\nHost: x\r\n${i === names.length - 1 ? "Connection: close\r\n" : ""}\r\n`,
  );
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(requests.join("")));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve());
  });
  server.close();
  return { text: Buffer.concat(chunks).toString(), ended, writes };
}
