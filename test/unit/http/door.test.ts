/** The door whose socket is removed: it opens again, and its end covers what came through before. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, type RequestListener, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Door } from "../../../src/http/access/door.ts";
import { Call } from "../../../src/http/request/call.ts";
import { clientReader } from "../../../src/http/request/client.ts";

const GUARD_INTERVAL_MS = 1_000;
const clientOf = clientReader(() => false);

async function openDoor(context: TestContext, answer: (call: Call) => void) {
  const folder = mkdtempSync(join(tmpdir(), "sideband-door-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "door.sock");
  const door = new Door();
  const handle: RequestListener = (message, response) => answer(new Call(message, response, "id", clientOf));
  await door.open(handle, path, () => true);
  return { door, path };
}

function send(socketPath: string, path: string): ClientRequest {
  return request({ socketPath, path, agent: false }).end();
}

test("the end of a door that was opened again waits for the requests from before, and cuts the rest", async (context) => {
  const calls = new Map<string | undefined, Call>();
  const { door, path } = await openDoor(context, (call) => calls.set(call.request.url, call));
  const answered = once(send(path, "/answered"), "response") as Promise<[IncomingMessage]>;
  const cut = once(send(path, "/cut"), "response");
  cut.catch(() => {});
  while (calls.size < 2) await pause(10);
  rmSync(path);
  while (!existsSync(path)) await pause(10);
  const closing = door.close(500);
  await pause(100);
  calls.get("/answered")?.response.end("whole");
  const [response] = await answered;
  assert.equal(await text(response), "whole");
  await closing;
  assert.ok(calls.get("/cut")?.request.socket.destroyed, "the end waits for the rest, and cuts it");
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
