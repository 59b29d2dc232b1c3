/** What the memory page computes: differences of values, times in words and in fields, and ends of facts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../src/base/random.ts";
import { diffWords } from "../../../src/web/memory/diff.tsx";
import {
  fromDateTimeLocal,
  lifetimeText,
  startOfYesterday,
  timeAgo,
  timeUntil,
  toDateTimeLocal,
} from "../../../src/web/memory/times.tsx";
import { endChoiceOf, endOfChoice } from "../../../src/web/memory/value-fields.tsx";
import { inOtherTimeZones } from "../../fixtures/time-zones.ts";

const NOW = Date.UTC(2026, 10, 17, 12);
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

test("a difference names the words that are gone and those that are new", () => {
  const shown = (before: string, after: string) =>
    diffWords(before, after)
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
    const pieces = diffWords(before, after);
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
  assert.deepEqual([3600, 86_400, 604_800, 90].map(lifetimeText), [
    "1 hour",
    "1 day",
    "1 week",
    "90 seconds",
  ]);
});

test("a field for a date and time gives back the moment that it was made from, to the minute", () => {
  assert.equal(fromDateTimeLocal(toDateTimeLocal(NOW)), new Date(NOW).toISOString());
  assert.equal(fromDateTimeLocal(""), undefined);
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
    assert.deepEqual([toDateTimeLocal(NOW), toDateTimeLocal(Date.UTC(2027, 0))], [noon, newYear], zone);
    assert.deepEqual(
      [fromDateTimeLocal(noon), fromDateTimeLocal(newYear)],
      ["2026-11-17T12:00:00.000Z", "2027-01-01T00:00:00.000Z"],
    );
    assert.deepEqual(endOfChoice({ kind: "at", field: noon }, undefined), { expiresAt: at(0) });
    assert.equal(endChoiceOf(at(0)).field, noon);
    assert.equal(new Date(startOfYesterday(NOW)).toISOString().slice(0, 16), yesterday);
  });
});

test("a fact that is edited keeps its end, unless another is chosen", () => {
  const end = at(86_400);
  const choice = endChoiceOf(end);
  assert.deepEqual(endOfChoice(choice, end), { expiresAt: end });
  assert.deepEqual(endOfChoice({ ...choice, kind: "none" }, end), {});
  assert.deepEqual(endOfChoice({ ...choice, kind: 3600 }, end), { ttlS: 3600 });
  assert.deepEqual(endOfChoice({ kind: "at", field: toDateTimeLocal(NOW) }, end), { expiresAt: at(0) });
  assert.deepEqual(endOfChoice(endChoiceOf(undefined), undefined), {});
});
