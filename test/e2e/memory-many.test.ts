/** The memory page of somebody with 1,000 facts: folded groups, ways to each part, finding, arrow keys, review, and prompts. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Running } from "../http/running-service.ts";
import { factOf, openMemory, press, remember } from "./memory-visit.ts";
import { PHONE, visit } from "./visit.ts";

const PROJECT = "loom-3f2a9c81d04e";
const BATCH = 40;

/** Groups of 40 facts. */
async function rememberMany(running: Running, groupCount: number): Promise<void> {
  for (let group = 0; group < groupCount; group++) {
    const facts = Array.from({ length: BATCH }, (_, i) => ({
      label: `GROUP_${String.fromCharCode(65 + group)}.fact_${i}`,
      value: `a value that somebody once told an agent, ${group * BATCH + i}`,
      new_label: "certain",
    }));
    const { status, text } = await running.call("POST", "/encode/batch", { body: { user_id: "ada", facts } });
    assert.equal(status, 200, text);
  }
}

const findField = (page: Page) => page.getByLabel("Find a fact");
const groupButton = (page: Page, name: string) => page.locator(".group-head").getByRole("button", { name });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
const shownRows = (page: Page) => page.locator(".fact-group .fact").count();

/** Tab stops from the top of the page to the first for which `isThere` holds. */
async function tabsTo(page: Page, isThere: () => Promise<boolean>): Promise<number> {
  await page.getByRole("link", { name: "Skip to content" }).focus();
  for (let stops = 1; stops <= 40; stops++) {
    if (await isThere()) return stops;
    await page.keyboard.press("Tab");
  }
  return Number.POSITIVE_INFINITY;
}

visit(
  "with 1,000 facts few are drawn; every part and group is at most 20 tab stops away, also on a phone",
  async ({ page, running, says }) => {
    await rememberMany(running, 25);
    await openMemory(page, running.url, running.key, "#user=ada");
    await says("1000 facts");
    assert.equal(await shownRows(page), 2 * BATCH, "the first groups are unfolded");
    const inJumpList = () => page.evaluate(() => document.activeElement?.closest(".jump") !== null);
    const names = ["What changed", "What agents get", "All of it", "GROUP_A", "GROUP_Y"];
    for (const viewport of [page.viewportSize()!, PHONE]) {
      await page.setViewportSize(viewport);
      assert.ok((await tabsTo(page, inJumpList)) <= 20);
      const inList = () => page.evaluate(() => document.activeElement?.closest(".fact-group") !== null);
      assert.ok((await tabsTo(page, inList)) <= 20, "the whole list is one stop after it");
      for (const name of names) {
        await tabsTo(page, inJumpList);
        await page.keyboard.press("Home");
        while (!(await focused(page)).startsWith(name)) await page.keyboard.press("ArrowRight");
        await page.keyboard.press("Enter");
        const heading = page.locator("main h2", { hasText: name });
        await heading.and(page.locator(":focus")).or(heading.locator(":focus")).waitFor();
        const { y } = (await heading.boundingBox())!;
        assert.ok(y >= 0 && y < viewport.height, `${name} is in sight`);
      }
    }
    assert.equal(await groupButton(page, "GROUP_Y").getAttribute("aria-expanded"), "true");
  },
);

visit("a group stays folded or unfolded, until the key is forgotten", async ({ page, running, says }) => {
  await remember(running, { label: "USER.name", value: "Ada" });
  await remember(running, { label: "PREF.tone", value: "calm" });
  await openMemory(page, running.url, running.key, "#user=ada");
  await groupButton(page, "The user").click();
  await factOf(page, "USER.name").waitFor({ state: "detached" });
  await remember(running, { label: "USER.name", value: "Ada Lovelace" });
  await page.locator(".group-head", { hasText: "changed just now" }).waitFor();
  await press(page, "Another user");
  await page.getByRole("button", { name: /^ada/ }).click();
  await factOf(page, "PREF.tone").waitFor();
  assert.equal(await factOf(page, "USER.name").count(), 0);
  await press(page, "Unfold all");
  await factOf(page, "USER.name").getByText("Ada Lovelace").waitFor();
  await press(page, "Fold all");
  // What is added is shown.
  await press(page, "Add a fact");
  await page.getByRole("combobox", { name: "Label", exact: true }).fill("PREF.units");
  await page.keyboard.press("Enter");
  await page.getByLabel("Value of PREF.units").fill("metres");
  await press(page, "Remember it");
  await factOf(page, "PREF.units").getByText("metres").waitFor();
  await press(page, "Forget the key");
  await page.getByLabel("Your key").fill(running.key);
  await page.keyboard.press("Enter");
  await says("3 facts");
  await factOf(page, "USER.name").waitFor();
});

visit("what was forgotten where is found: by a slip, by its writer, and in all projects", async (visit) => {
  const { page, running, says } = visit;
  await remember(running, { label: "HEALTH.allergy", value: "penicillin", new_label: true });
  await remember(running, { label: "USER.name", value: "Ada", written_by: "codex" });
  await remember(running, { label: "PROJ.goal", value: "the penicillin gate", project: PROJECT });
  await openMemory(page, running.url, running.key, "#user=ada");
  await factOf(page, "USER.name").waitFor();
  await page.keyboard.press("/");
  assert.ok(await findField(page).evaluate((element) => element === document.activeElement));
  await page.keyboard.type("alergy");
  await says("1 fact for “alergy”");
  await factOf(page, "USER.name").waitFor({ state: "detached" });
  // What is typed into a fact that was found outlives the search.
  await page.getByRole("button", { name: "Edit HEALTH.allergy" }).click();
  await page.getByLabel("Value of HEALTH.allergy").fill("penicillin / nuts");
  await press(page, "Show all facts");
  await factOf(page, "USER.name").waitFor();
  assert.equal(await page.getByLabel("Value of HEALTH.allergy").inputValue(), "penicillin / nuts");
  await press(page, "Save");
  await factOf(page, "HEALTH.allergy").getByText("penicillin / nuts").waitFor();
  await findField(page).fill("codex");
  await says("1 fact for “codex”");
  await factOf(page, "USER.name").waitFor();
  await findField(page).fill("penicillin");
  await says("1 fact for “penicillin”");
  await page.getByLabel("in all projects").check();
  await says("2 facts for “penicillin”");
  await press(page, "Go to where PROJ.goal is");
  await factOf(page, "PROJ.goal").getByText("the penicillin gate").waitFor();
  assert.equal(await page.getByLabel("Where").inputValue(), PROJECT);
  await findField(page).fill("xylophone");
  await says("Nothing is found for “xylophone”.");
  await findField(page).press("Escape");
  await factOf(page, "USER.name").waitFor();
});

visit("the arrow keys go from fact to fact, and the list keeps one tab stop", async ({ page, running }) => {
  for (const label of ["USER.name", "USER.os", "PREF.tone"]) await remember(running, { label, value: "x" });
  await openMemory(page, running.url, running.key, "#user=ada");
  await factOf(page, "PREF.tone").waitFor();
  const focusedName = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
    );
  await page.getByRole("button", { name: "Edit USER.name" }).focus();
  const walk = [
    ["ArrowRight", "History of USER.name"],
    ["ArrowDown", "History of USER.os"],
    ["ArrowDown", "Preferences PREF"],
    ["ArrowDown", "Edit PREF.tone"],
    ["ArrowLeft", "Preferences PREF"],
    ["Home", "The user USER"],
    ["End", "Edit PREF.tone"],
    ["ArrowDown", "Edit PREF.tone"],
    ["ArrowUp", "Preferences PREF"],
  ];
  for (const [key, name] of walk) {
    await page.keyboard.press(key);
    assert.equal((await focusedName())?.trim(), name, key);
  }
  const stops = () => page.locator(".fact-group button[tabindex='0']").count();
  assert.equal(await stops(), 1);
  // A row that goes hands its place on.
  await page.getByRole("button", { name: "Forget PREF.tone" }).click();
  await factOf(page, "PREF.tone").waitFor({ state: "detached" });
  assert.equal(await stops(), 1);
});

visit("what an agent has read somewhere waits: it is accepted, changed or forgotten", async (visit) => {
  const { page, running, says } = visit;
  const read = { origin: "read", ttl_s: 86_400 };
  for (const label of ["PREF.tools", "PREF.editor", "PREF.tone"])
    await remember(running, { label, value: "from a page", ...read });
  await remember(running, { label: "USER.name", value: "Ada", origin: "said" });
  const origins = async () => {
    const { facts } = (await running.call("GET", "/facts?user_id=ada&details=true")).json;
    return Object.fromEntries(
      facts.map((fact: Record<string, string>) => [
        fact.label,
        `${fact.origin} ${fact.value}${fact.expires_at === undefined ? "" : " ends"}`,
      ]),
    );
  };
  await openMemory(page, running.url, running.key, "#user=ada");
  const card = page.locator("#review");
  await card.getByText("PREF.tools").waitFor();
  assert.equal(await card.getByRole("listitem").count(), 3);
  // Who looks for something sees first what is found.
  await findField(page).fill("Ada");
  await says("1 fact for “Ada”");
  const topOf = async (heading: string) =>
    (await page.getByRole("heading", { name: heading, exact: true }).boundingBox())!.y;
  assert.ok((await topOf("Found")) < (await topOf("Waiting for you")));
  await findField(page).press("Escape");
  await factOf(page, "USER.name").waitFor();
  await press(page, "Accept PREF.tools");
  await says("PREF.tools is accepted.");
  assert.equal((await origins())["PREF.tools"], "said from a page ends");
  await press(page, "Undo");
  await says("PREF.tools waits for you again.");
  assert.equal((await origins())["PREF.tools"], "read from a page ends");
  await press(page, "Accept PREF.tools");
  await card.getByText("PREF.tools").waitFor({ state: "detached" });
  // What the person saves is said by them, also where they leave the value as it is.
  await press(page, "Change PREF.editor");
  await press(page, "Save");
  await card.getByText("PREF.editor").waitFor({ state: "detached" });
  assert.equal((await origins())["PREF.editor"], "said from a page ends");
  await press(page, "Forget what was read: PREF.tone");
  await card.waitFor({ state: "detached" });
  assert.deepEqual(Object.keys(await origins()).sort(), ["PREF.editor", "PREF.tools", "USER.name"]);
  // What it has replaced is shown, and counts again.
  await remember(running, { label: "USER.name", value: "A. Reader", ...read });
  await card.getByText("In place of “Ada”").waitFor();
  await press(page, "Turn down what was read: USER.name");
  await says("USER.name is “Ada” again.");
  assert.equal((await origins())["USER.name"], "said Ada");
  await press(page, "Undo");
  await says("USER.name waits for you again.");
  assert.equal((await origins())["USER.name"], "read A. Reader ends");
});

visit("what agents get is counted and shown; a block is made only for who asks for it", async (visit) => {
  const { page, running, says } = visit;
  await rememberMany(running, 20);
  await remember(running, { label: "USER.name", value: "Ada Lovelace" });
  const blocks: string[] = [];
  page.on("request", (request) => {
    if (/\/context\?.*include=(block|both)/.test(request.url())) blocks.push(request.url());
  });
  await openMemory(page, running.url, running.key, "#user=ada");
  const [hosts, all] = [0, 1].map((i) => page.locator("#prompts details").nth(i));
  await all.getByText("801 facts").waitFor();
  const said = (await hosts.locator("summary").textContent())!;
  const [, count, tokens] = /: (\d+) facts?, (\d+) tokens/.exec(said)!.map(Number);
  assert.ok(count > 0 && count < 801 && tokens > 0 && tokens <= 800, said);
  await hosts.locator("summary").click();
  const text = (await hosts.locator("pre").textContent())!;
  assert.match(text, /^<sideband-memory>\n.*USER\.name=Ada Lovelace\n.*<\/sideband-memory>$/s);
  // In a project the groups that it names are there too.
  await remember(running, { label: "DEPLOY.host", value: "mill", new_label: true });
  const groups = { label: "PROJ.memory_groups", value: "DEPLOY", project: PROJECT, new_label: "certain" };
  await remember(running, groups);
  await page.getByLabel("Where").selectOption(PROJECT);
  await hosts.locator("pre", { hasText: "DEPLOY.host=mill" }).waitFor({ state: "attached" });
  assert.equal(await page.getByText(/no room|not in the block/).count(), 0);
  assert.deepEqual(blocks, []);
  await page.getByText("The sealed block").click();
  await says(/% full/);
  assert.equal(blocks.length, 1);
});
