/** Clients that take their time: slow senders, readers that do not read, streams that are held, silent connections. */

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import { type Field, FuzzFault, judge, type Kind, type Shot } from "./field.ts";
import { validCall } from "./http-traffic.ts";
import { streamRequest } from "./mcp-traffic.ts";
import { bytesOf, RawConnection } from "./raw-connection.ts";

/** The service gives up on a request after this, and tells so. */
const REQUEST_TIMEOUT_MS = 15_000;
const PIECES = 12;
const LARGE = { method: "GET", path: "/openapi.json" };
const UNREAD_MAX = 60;

export const SLOW_KINDS: readonly Kind[] = [
  { name: "slow senders", weight: 6, run: sendSlowly },
  { name: "unfinished requests", weight: 3, run: leaveUnfinished },
  { name: "idle readers", weight: 5, run: readLate },
  { name: "MCP streams", weight: 6, run: holdStream },
  { name: "silent connections", weight: 2, run: saySilence },
];

async function sendSlowly(field: Field, random: Random, shot: Shot): Promise<void> {
  const request = validCall(random, field);
  const bytes = bytesOf(request, true);
  shot.note(bytes);
  const connection = new RawConnection(field.port);
  const size = Math.ceil(bytes.length / PIECES);
  const totalMs = random.below(Math.min(field.patienceMs, REQUEST_TIMEOUT_MS / 2));
  for (let at = 0; at < bytes.length; at += size) {
    connection.socket.write(bytes.slice(at, at + size), "latin1");
    await sleep(totalMs / PIECES);
  }
  const [answer] = await connection.allAnswers([request.method]);
  if (answer === undefined) throw new FuzzFault("a slow request was not answered");
  judge(field, shot, request, answer);
}

/** A request that never ends is answered 408 in time; who has no patience hangs up before that. */
async function leaveUnfinished(field: Field, random: Random, shot: Shot): Promise<void> {
  const request = validCall(random, field);
  const bytes = bytesOf(request, false);
  const part = bytes.slice(0, 1 + random.below(bytes.length - 1));
  shot.note(part);
  const connection = new RawConnection(field.port);
  connection.socket.write(part, "latin1");
  if (field.patienceMs < 2 * REQUEST_TIMEOUT_MS) {
    await sleep(random.below(field.patienceMs));
    connection.hangUp(random);
    await connection.ended;
    shot.statuses.push("hung up");
    return;
  }
  const [answer] = await connection.allAnswers([request.method]);
  if (answer === undefined) throw new FuzzFault("an unfinished request was not answered");
  judge(field, shot, request, answer);
}

/** Asks for more than the buffers on the way hold, reads nothing for a while, then everything or never. */
async function readLate(field: Field, random: Random, shot: Shot): Promise<void> {
  const count = 1 + random.below(UNREAD_MAX);
  const bytes = bytesOf(LARGE, false).repeat(count - 1) + bytesOf(LARGE, true);
  shot.note(`${count} times GET ${LARGE.path}, unread`, count);
  const connection = new RawConnection(field.port);
  await once(connection.socket, "connect");
  connection.socket.pause();
  connection.socket.write(bytes, "latin1");
  await sleep(random.below(field.patienceMs));
  if (random.below(2) === 0) {
    connection.hangUp(random);
    await connection.ended;
    shot.statuses.push("hung up");
    return;
  }
  connection.socket.resume();
  const answers = await connection.allAnswers([]);
  if (answers.length !== count) throw new FuzzFault(`${answers.length} answers of ${count} were left`);
  for (const answer of answers) judge(field, shot, LARGE, answer);
}

async function holdStream(field: Field, random: Random, shot: Shot): Promise<void> {
  const { body, ...request } = streamRequest(field, random);
  shot.note(request);
  const sent = httpRequest({ host: "127.0.0.1", port: field.port, ...request, agent: false });
  sent.on("error", () => {});
  sent.end(body);
  if (random.below(3) > 0) {
    const [stream] = await once(sent, "response");
    if (stream.statusCode !== 200) throw new FuzzFault(`a stream was answered ${stream.statusCode}`);
    stream.resume().on("error", () => {});
  }
  await sleep(random.below(field.patienceMs));
  sent.destroy();
  shot.statuses.push("dropped");
}

async function saySilence(field: Field, random: Random, shot: Shot): Promise<void> {
  shot.note("");
  const connection = new RawConnection(field.port);
  await sleep(random.below(Math.min(field.patienceMs, REQUEST_TIMEOUT_MS)));
  connection.hangUp(random);
  await connection.ended;
  shot.statuses.push("hung up");
}
