/** The memory page's times: in the zone of its reader, weeks from now, and in what changed long ago. */

import assert from "node:assert/strict";
import { chooseLabel, factOf, openMemory, press, remember } from "./memory-visit.ts";
import { type Visit, visit } from "./visit.ts";

const START = Date.UTC(2026, 10, 17, 12);
const DAY_MS = 86_400_000;

/** The service and the browser go by one clock, which the test moves. */
function timeTravel() {
  const clock = { ms: START, now: () => clock.ms };
  return {
    clock,
    start: ({ page }: Visit) => page.clock.install({ time: START }),
    forward: async ({ page }: Visit, ms: number) => {
      clock.ms += ms;
      await page.clock.fastForward(ms);
    },
  };
}

// Half an hour beside the full ones, and ahead of UTC: its evening is the next day's.
const ZONE = "Asia/Kolkata";
const zoned = timeTravel();

visit(
  "a field for a date and time shows the reader's zone, and what is stored is that moment in UTC",
  async (visit) => {
    const { page, running } = visit;
    await zoned.start(visit);
    await openMemory(page, running.url, running.key, "#user=ada");
    assert.equal(await page.evaluate(() => new Date().getTimezoneOffset()), -330);
    await press(page, "Add a fact");
    await chooseLabel(page, "TASK.next");
    await page.getByLabel("Value of TASK.next").fill("the gate");
    await page.getByLabel("Ends").selectOption({ label: "at a date and time" });
    const field = page.getByLabel("Date and time, your zone");
    assert.equal(await field.inputValue(), "2026-11-18T17:30");
    await field.fill("2026-11-25T02:15");
    await press(page, "Remember it");
    const end = factOf(page, "TASK.next").locator(".ends time");
    assert.deepEqual(
      [await end.textContent(), await end.getAttribute("title")],
      ["in 1 week", "Nov 25, 2026, 2:15 AM"],
    );
    const stored = async () => (await running.call("GET", "/facts?user_id=ada")).json.facts[0].expires_at;
    assert.equal(await stored(), "2026-11-24T20:45:00.000Z");
    // The field of the editor begins with the end that the fact has, and gives the same moment back.
    await page.getByRole("button", { name: "Edit TASK.next" }).click();
    await page.getByLabel("Ends").selectOption({ label: "at a date and time" });
    assert.equal(await field.inputValue(), "2026-11-25T02:15");
    await page.getByLabel("Value of TASK.next").fill("the shuttle");
    await press(page, "Save");
    await factOf(page, "TASK.next").locator(".fact-value", { hasText: "the shuttle" }).waitFor();
    assert.equal(await stored(), "2026-11-24T20:45:00.000Z");

    await page.getByLabel("Since when").selectOption({ label: "since a moment" });
    const since = page.getByLabel("Since, your zone");
    assert.equal(await since.inputValue(), "2026-11-16T00:00");
    const asked = page.waitForRequest(/\/users\/history\?.*since=2026-11-17T12%3A01/);
    await since.fill("2026-11-17T17:31");
    await asked;
    await page.getByText("Nothing has changed.").waitFor();
  },
  { browser: { timezoneId: ZONE }, clock: zoned.clock },
);

const weeks = timeTravel();

visit(
  "a fact that ends in 30 days is not asked for again and again, and is gone when its end has come",
  async (visit) => {
    const { page, running } = visit;
    await weeks.start(visit);
    await remember(running, { label: "TASK.next", value: "the gate", ttl_s: 30 * 86_400 });
    let reads = 0;
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/facts") reads += 1;
    });
    await openMemory(page, running.url, running.key, "#user=ada");
    await factOf(page, "TASK.next").getByText("ends in 1 month").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const before = reads;
    // Each of these rounds would be enough for a timer that fires at once.
    for (let round = 0; round < 10; round++) {
      await page.clock.runFor(1000);
      await page.evaluate(() => fetch("/healthz").then((answer) => answer.text()));
    }
    assert.equal(reads, before);
    await weeks.forward(visit, 29 * DAY_MS);
    await factOf(page, "TASK.next").getByText("ends in 1 day").waitFor();
    await weeks.forward(visit, DAY_MS + 1000);
    await factOf(page, "TASK.next").waitFor({ state: "detached" });
    assert.equal(
      await page.locator(".visually-hidden[role=status][aria-live]").textContent(),
      "TASK.next has ended.",
    );
  },
  { browser: {}, clock: weeks.clock },
);

const months = timeTravel();

visit(
  "what changed shows the value before each change, also where that is older than the list or on no page of it yet",
  async ({ page, running }) => {
    await remember(running, { label: "USER.name", value: "Ada Byron" });
    months.clock.ms += 40 * DAY_MS;
    await remember(running, { label: "USER.name", value: "Ada Lovelace" });
    // A page has twelve: the change before these is the last one on the first page.
    for (let i = 1; i <= 11; i++) {
      months.clock.ms += 1000;
      await remember(running, { label: i % 2 === 0 ? "PREF.tone" : "PREF.avoid", value: `words ${i}` });
    }
    await page.clock.install({ time: months.clock.ms });
    await openMemory(page, running.url, running.key, "#user=ada");
    const rows = page.getByRole("list", { name: "Changes, the newest first" }).getByRole("listitem");
    const oldest = rows.filter({ hasText: "Lovelace" });
    await oldest.locator("del", { hasText: "Byron" }).waitFor();
    await oldest.locator("ins", { hasText: "Lovelace" }).waitFor();
    assert.equal(await rows.count(), 12);
    assert.deepEqual(await rows.first().locator("del, ins").allTextContents(), ["9", "11"]);
    // A change on the page after this one is the one before, too.
    await remember(running, { label: "PREF.format", value: "lists" });
    await remember(running, { label: "USER.name", value: "Ada King" });
    await rows.first().locator("ins", { hasText: "King" }).waitFor();
    assert.deepEqual(await rows.first().locator("del, ins").allTextContents(), ["Lovelace", "King"]);
  },
  { browser: {}, clock: months.clock },
);
