/** The door: it opens again where its socket is removed, its end covers what came through before, and it is idle only without an answer. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import {
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Door } from "../../../src/http/access/door.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";
import { ModuleTimers } from "../../fixtures/module-timers.ts";

const GUARD_INTERVAL_MS = 1_000;

async function openDoor(context: TestContext, handle: RequestListener) {
  const folder = temporaryFolder(context);
  const path = join(folder, "door.sock");
  const door = new Door();
  await door.open(handle, path, () => true);
  return { door, path };
}

function send(socketPath: string, path: string): ClientRequest {
  return request({ socketPath, path, agent: false }).end();
}

test("the end of a door that was opened again waits for the requests from before, and cuts the rest", async (context) => {
  const calls = new Map<string | undefined, ServerResponse>();
  const { door, path } = await openDoor(context, ({ url }, response) => void calls.set(url, response));
  const answered = once(send(path, "/answered"), "response") as Promise<[IncomingMessage]>;
  const cut = once(send(path, "/cut"), "response");
  cut.catch(() => {});
  while (calls.size < 2) await pause(10);
  rmSync(path);
  while (!existsSync(path)) await pause(10);
  const timers = new ModuleTimers(context, "src/http/connection/connections.ts");
  const closing = door.close(500);
  await new Promise(setImmediate);
  calls.get("/answered")?.end("whole");
  const [response] = await answered;
  assert.equal(await text(response), "whole");
  timers.tick(500);
  await closing;
  assert.ok(calls.get("/cut")?.req.socket.destroyed, "the end waits for the rest, and cuts it");
  await assert.rejects(cut, { code: "ECONNRESET" });
});

test("a door that ends while it is opened again stays closed", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] });
  const { door, path } = await openDoor(context, () => {});
  rmSync(path);
  context.mock.timers.tick(GUARD_INTERVAL_MS);
  await door.close(0);
  await new Promise(setImmediate);
  assert.ok(!existsSync(path), "nobody listens");
});

test("a door is not idle beside an answer that is being given, however many others have ended", async (context) => {
  const calls = new Map<string | undefined, ServerResponse>();
  const { door, path } = await openDoor(context, ({ url }, response) => void calls.set(url, response));
  const ask = async (name: string) => {
    const answered = once(send(path, name), "response") as Promise<[IncomingMessage]>;
    while (!calls.has(name)) await pause(1);
    return { answered, end: () => calls.get(name)!.end("whole") };
  };
  const ended = async ({ answered, end }: Awaited<ReturnType<typeof ask>>, name: string) => {
    const closed = once(calls.get(name)!, "close");
    end();
    await text((await answered)[0]);
    await closed;
  };
  const long = await ask("/long");
  assert.equal(door.idleMs, 0);
  for (const name of ["/first", "/second"]) await ended(await ask(name), name);
  await pause(5);
  assert.equal(door.idleMs, 0, "the long one is still being answered");
  await ended(long, "/long");
  await pause(5);
  assert.ok(door.idleMs > 0);
  await door.close(0);
});
