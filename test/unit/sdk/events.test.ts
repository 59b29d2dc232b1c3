/** A stream that is silent: it is opened again, but not while its reader is at work. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Sideband } from "../../../src/sdk/index.ts";
import { ModuleTimers } from "../../fixtures/module-timers.ts";

const SILENCE_MS_MAX = 20_000;

/** A service whose streams a test writes to. */
function fakeStreams() {
  const streams: { write: (text: string) => void; headers: Headers }[] = [];
  const fetch = async (_url: string, { signal, headers }: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal?.addEventListener("abort", () => controller.error(new DOMException("", "AbortError")));
        const write = (text: string) => controller.enqueue(new TextEncoder().encode(text));
        streams.push({ write, headers: new Headers(headers) });
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  return { streams, memory: new Sideband({ apiKey: "k", fetch }) };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

test("a stream that is silent for 20 seconds is opened again after its last event", async (t) => {
  const timers = new ModuleTimers(t, "src/sdk/deadline.ts");
  const { streams, memory } = fakeStreams();
  const events = memory.events("ada");
  const first = events.next();
  await settle();
  streams[0].write(": listening\n\nid: 1\nevent: change\nda");
  streams[0].write('ta: {"kind":"written"}\n\n');
  assert.deepEqual((await first).value, { id: "1", kind: "written" });
  // Nobody waits for the next one yet.
  timers.tick(10 * SILENCE_MS_MAX);
  await settle();
  const second = events.next();
  await settle();
  timers.tick(SILENCE_MS_MAX - 1);
  streams[0].write(": still here\n\n");
  await settle();
  timers.tick(SILENCE_MS_MAX - 1);
  await settle();
  assert.equal(streams.length, 1, "something came in time");
  timers.tick(1);
  await settle();
  timers.tick(500);
  await settle();
  assert.equal(streams.length, 2);
  assert.equal(streams[1].headers.get("last-event-id"), "1");
  streams[1].write("event: reset\ndata: {}\n\n");
  assert.deepEqual((await second).value, { kind: "reset" });
  await events.return(undefined);
});
