/** Bare connections: several requests in one write, chopped into pieces, broken heads, and clients that hang up. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import type { Request } from "../load/exchange.ts";
import { type Field, FuzzFault, judge, type Kind, type Shot } from "./field.ts";
import { post, validCall } from "./http-traffic.ts";
import { bytesOf, RawConnection } from "./raw-connection.ts";

const PIPELINED_MAX = 10;
const HANG_UP_MS_MAX = 20;
const BROKEN_HEADS = [
  "GET / HTTP/9.9\r\n\r\n",
  "GET /\r\n\r\n",
  "\0\0\0\0",
  "GET / HTTP/1.1\r\nhost x\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
  "POST /encode HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /encode HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
  `GET / HTTP/1.1\r\nhost: x\r\nlong: ${"x".repeat(20_000)}\r\n\r\n`,
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

export const SOCKET_KINDS: readonly Kind[] = [
  { name: "pipelined", weight: 22, run: pipeline },
  { name: "pipelined and broken", weight: 12, run: breakPipeline },
  { name: "hang-ups", weight: 55, run: hangUp },
];

/** Requests with ids, so that each answer can be told. */
function withIds(random: Random, field: Field): Request[] {
  return Array.from({ length: 1 + random.below(PIPELINED_MAX) }, (_, i) => {
    const request = validCall(random, field);
    return { ...request, headers: { ...request.headers, "x-request-id": `pipelined-${i}` } };
  });
}

async function pipeline(field: Field, random: Random, shot: Shot): Promise<void> {
  const requests = withIds(random, field);
  const last = requests.length - 1;
  const bytes = requests.map((request, i) => bytesOf(request, i === last)).join("");
  shot.note(bytes, requests.length);
  const connection = new RawConnection(field.port);
  if (random.below(2) === 0) connection.socket.write(bytes, "latin1");
  else await connection.writeInPieces(random, bytes);
  const answers = await connection.allAnswers(requests.map(({ method }) => method));
  if (answers.length !== requests.length)
    throw new FuzzFault(`${answers.length} answers to ${requests.length} requests`);
  for (const [i, answer] of answers.entries()) {
    judge(field, shot, requests[i], answer);
    const id = answer.headers["x-request-id"];
    if (id !== `pipelined-${i}`) throw new FuzzFault(`answer ${i} is ${id}`);
  }
}

/** Valid requests and then bytes that are none: each request has its answer, then the bytes have theirs. */
async function breakPipeline(field: Field, random: Random, shot: Shot): Promise<void> {
  const requests = withIds(random, field).slice(0, random.below(4));
  const bytes = requests.map((request) => bytesOf(request, false)).join("") + random.pick(BROKEN_HEADS);
  shot.note(bytes, requests.length + 1);
  const connection = new RawConnection(field.port);
  if (random.below(2) === 0) connection.socket.write(bytes, "latin1");
  else await connection.writeInPieces(random, bytes);
  const answers = await connection.allAnswers(requests.map(({ method }) => method));
  if (answers.length !== requests.length + 1)
    throw new FuzzFault(`${answers.length} answers to ${requests.length} requests and what is none`);
  for (const [i, answer] of answers.entries()) {
    judge(field, shot, requests[i] ?? { method: "GET", path: "/" }, answer);
    const id = answer.headers["x-request-id"];
    if (i < requests.length && id !== `pipelined-${i}`)
      throw new FuzzFault(
        `answer ${i} of ${requests.length} is ${answer.status} ${id}: ${answer.text.slice(0, 200)}`,
      );
  }
}

/** In the head, in the body, before the answer, or within it. */
async function hangUp(field: Field, random: Random, shot: Shot): Promise<void> {
  const request = random.pick<() => Request>([
    () => validCall(random, field),
    () => ({ method: "GET", path: random.pick(field.websitePaths) }),
    () => ({ method: "GET", path: "/openapi.json" }),
    () => post("/flush", field.key, { user_id: `user ${random.below(100)}` }),
    () =>
      post("/encode/batch", field.key, {
        user_id: "u",
        facts: [{ label: "USER.name", value: "x".repeat(1000) }],
      }),
  ])();
  const bytes = bytesOf(request, false).repeat(1 + random.below(3));
  const connection = new RawConnection(field.port);
  const cut = random.below(2) === 0 ? bytes.length : random.below(bytes.length);
  shot.note(bytes.slice(0, cut));
  connection.socket.write(bytes.slice(0, cut), "latin1");
  await sleep(random.below(HANG_UP_MS_MAX));
  connection.hangUp(random);
  await connection.ended;
  shot.statuses.push("hung up");
}
