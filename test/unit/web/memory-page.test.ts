/** What the memory page computes: differences of values, times in words and in fields, and events of a stream. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { seededRandom } from "../../../src/base/random.ts";
import { followEvents, type ServerEvent, serverEvents } from "../../../src/web/api/event-stream.ts";
import { ApiError } from "../../../src/web/api/request.ts";
import {
  fieldTime,
  lifeText,
  momentOfField,
  startOfYesterday,
  timeAgo,
  timeUntil,
} from "../../../src/web/memory/times.ts";
import { endChoiceOf, endOfChoice } from "../../../src/web/memory/value-fields.tsx";
import { wordDifference } from "../../../src/web/memory/word-difference.ts";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";

const NOW = Date.UTC(2026, 10, 17, 12);
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

test("a difference names the words that are gone and those that are new", () => {
  const shown = (before: string, after: string) =>
    wordDifference(before, after)
      .map(({ kind, text }) => (kind === "same" ? text : kind === "gone" ? `-${text}-` : `+${text}+`))
      .join("");
  assert.equal(shown("Short, with reasons", "Short answers, with reasons"), "Short+ answers+, with reasons");
  assert.equal(shown("2026-12-01", "2026-12-08"), "2026-12--01-+08+");
  assert.equal(shown("", "calm"), "+calm+");
  assert.equal(shown("calm", ""), "-calm-");
  assert.equal(shown("the same", "the same"), "the same");
});

test("the pieces of a difference make up both values, whatever they are", () => {
  const random = seededRandom(7);
  const words = ["a", "b", "über", "👩‍🚀", " ", "  ", ",", "(", "naïve", "\u0301"];
  for (let round = 0; round < 300; round++) {
    const text = () =>
      Array.from({ length: random.below(12) }, () => words[random.below(words.length)]).join("");
    const [before, after] = [text(), text()];
    const pieces = wordDifference(before, after);
    const without = (kind: string) =>
      pieces.flatMap((piece) => (piece.kind === kind ? [] : [piece.text])).join("");
    assert.deepEqual([without("new"), without("gone")], [before, after]);
    assert.ok(pieces.every((piece, i) => piece.kind !== pieces[i + 1]?.kind && piece.text !== ""));
  }
});

test("times are told in words, and a clock that is behind tells no future of what was", () => {
  assert.deepEqual(
    [-3600 * 24 * 3, -90, -9, 5].map((seconds) => timeAgo(at(seconds), NOW)),
    ["3 days ago", "1 minute ago", "just now", "just now"],
  );
  assert.deepEqual(
    [6.4 * 86_400, 7 * 86_400 - 5, 3600, 40, 3, -2].map((seconds) => timeUntil(at(seconds), NOW)),
    ["in 6 days", "in 1 week", "in 1 hour", "in 40 seconds", "in a few seconds", "in a few seconds"],
  );
  assert.deepEqual([3600, 86_400, 604_800, 90].map(lifeText), ["1 hour", "1 day", "1 week", "90 seconds"]);
});

test("a field for a date and time gives back the moment that it was made from, to the minute", () => {
  assert.equal(momentOfField(fieldTime(NOW)), new Date(NOW).toISOString());
  assert.equal(momentOfField(""), undefined);
  const start = new Date(startOfYesterday(NOW));
  assert.deepEqual([start.getHours(), start.getMinutes(), start.getSeconds()], [0, 0, 0]);
  assert.ok(NOW - start.getTime() >= 86_400_000 - 3_600_000 && NOW - start.getTime() < 3 * 86_400_000);
});

test("a field for a date and time shows the reader's zone, and its text is taken in that zone", async () => {
  const fields = {
    "America/New_York": {
      noon: "2026-11-17T07:00",
      newYear: "2026-12-31T19:00",
      yesterday: "2026-11-16T05:00",
    },
    "Asia/Kolkata": { noon: "2026-11-17T17:30", newYear: "2027-01-01T05:30", yesterday: "2026-11-15T18:30" },
  };
  await inOtherTimeZones((zone) => {
    const { noon, newYear, yesterday } = fields[zone];
    assert.deepEqual([fieldTime(NOW), fieldTime(Date.UTC(2027, 0))], [noon, newYear], zone);
    assert.deepEqual(
      [momentOfField(noon), momentOfField(newYear)],
      ["2026-11-17T12:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    );
    assert.deepEqual(endOfChoice({ kind: "at", field: noon }, undefined), { expires_at: at(0) });
    assert.equal(endChoiceOf(at(0)).field, noon);
    assert.equal(new Date(startOfYesterday(NOW)).toISOString().slice(0, 16), yesterday);
  });
});

test("a fact that is edited keeps its end, unless another is chosen", () => {
  const end = at(86_400);
  const choice = endChoiceOf(end);
  assert.deepEqual(endOfChoice(choice, end), { expires_at: end });
  assert.deepEqual(endOfChoice({ ...choice, kind: "none" }, end), {});
  assert.deepEqual(endOfChoice({ ...choice, kind: 3600 }, end), { ttl_s: 3600 });
  assert.deepEqual(endOfChoice({ kind: "at", field: fieldTime(NOW) }, end), { expires_at: at(0) });
  assert.deepEqual(endOfChoice(endChoiceOf(undefined), undefined), {});
});

function bodyOf(chunks: readonly string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

test("events are read across the borders of chunks, and comments are none", async () => {
  const found: ServerEvent[] = [];
  const chunks = [
    ": listening\n\n",
    "id: a-1\nevent: cha",
    'nge\ndata: {"x":1}\n',
    "\nevent: reset\ndata: {}\n\n",
    "id: b",
  ];
  for await (const event of serverEvents(bodyOf(chunks))) found.push(event);
  assert.deepEqual(found, [
    { id: "a-1", name: "change", data: '{"x":1}' },
    { id: "", name: "reset", data: "{}" },
  ]);
});

test("an event has all lines of its data, whatever ends a line, and none is too long", async () => {
  const found: ServerEvent[] = [];
  const chunks = [
    "id: 1\ndata: a\ndata: b\n\n",
    "data: c\r\ndata:d\r",
    "\n\r\n",
    "data\rdata: é\r\rretry: 9\n\n",
  ];
  for await (const event of serverEvents(bodyOf(chunks))) found.push(event);
  assert.deepEqual(found, [
    { id: "1", name: "message", data: "a\nb" },
    { id: "", name: "message", data: "c\nd" },
    { id: "", name: "message", data: "\né" },
  ]);
  const endless = serverEvents(bodyOf(Array(20).fill(`data: ${"x".repeat(8192)}\n`)));
  await assert.rejects(endless.next(), { type: "max-buffer-size-exceeded" });
});

test("a stream that is silent for 20 seconds is opened again, and one that says something is not", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: (string | undefined)[] = [];
  const live: boolean[] = [];
  const heard: string[] = [];
  const ended = new AbortController();
  let say: (text: string) => void = () => {};
  const settle = async () => {
    for (let i = 0; i < 20; i++) await turn();
  };
  const following = followEvents({
    open: (lastId, signal) => {
      asked.push(lastId);
      const failure = (reject: (reason: unknown) => void) =>
        signal.addEventListener("abort", () => reject(signal.reason));
      // The second time nothing answers at all.
      if (asked.length === 2) return new Promise((_, reject) => failure(reject));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          say = (text) => controller.enqueue(new TextEncoder().encode(text));
          failure((reason) => controller.error(reason));
        },
      });
      return Promise.resolve(new Response(body));
    },
    onEvent: ({ data }) => heard.push(data),
    onLive: (isLive) => live.push(isLive),
    signal: ended.signal,
  });
  const wait = async (ms: number) => {
    context.mock.timers.tick(ms);
    await settle();
  };
  await settle();
  for (const text of [": keep-alive\n\n", "id: 7\ndata: x\n\n", ": keep-alive\n\n"]) {
    await wait(19_999);
    say(text);
    await settle();
  }
  await wait(19_999);
  assert.deepEqual([asked, live, heard], [[undefined], [true], ["x"]]);
  await wait(1);
  assert.deepEqual(live, [true, false]);
  await wait(500);
  assert.deepEqual(asked, [undefined, "7"]);
  await wait(20_000);
  await wait(1000);
  assert.deepEqual(
    [asked, live],
    [
      [undefined, "7", "7"],
      [true, false, false, true],
    ],
  );
  ended.abort();
  await following;
  assert.equal(live.at(-1), false);
});

test("a stream that ends is opened again with the last id, and one that is refused is not", async () => {
  const asked: (string | undefined)[] = [];
  const live: boolean[] = [];
  await followEvents({
    open: async (lastId) => {
      asked.push(lastId);
      if (asked.length === 3) throw new ApiError(401, {});
      return new Response(bodyOf(asked.length === 1 ? ["id: 7-1\nevent: change\ndata: {}\n\n"] : []));
    },
    onEvent: () => {},
    onLive: (isLive) => live.push(isLive),
    signal: AbortSignal.timeout(20_000),
  });
  assert.deepEqual(asked, [undefined, "7-1", "7-1"]);
  assert.deepEqual(live, [true, false, true, false, false]);
});
