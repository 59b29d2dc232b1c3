/** A file on the memory page: what it would bring, what can be changed of it, what it writes, and its undo. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Running } from "../http/running-service.ts";
import { factOf, openMemory, press, remember } from "./memory-visit.ts";
import { visit } from "./visit.ts";

const PROJECT = "loom-3f2a9c81d04e";
const NOTES = `# Notes
## About me
- Name: Ada King
- I like tea.
## Family
- Wife: Grace
- Dog: Turing
## Tasks
- Deadline: 2026-12-24
- Wifi password: Sommer2019!
`;

async function choose(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: "text/plain", buffer: Buffer.from(text) };
  await page.locator("input[type=file]").setInputFiles(file);
}

async function drop(page: Page, name: string, text: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], fileName));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent("main", "dragover", { dataTransfer: data });
  await page.getByText("Drop the file to see what it would bring").waitFor();
  await page.dispatchEvent("main", "drop", { dataTransfer: data });
}

async function factsOf(running: Running, project?: string): Promise<string[]> {
  const where = project === undefined ? "" : `&project=${project}`;
  const { facts } = (await running.call("GET", `/facts?user_id=ada&details=true${where}`)).json;
  return facts
    .map(({ label, value, written_by }: Record<string, string>) => `${label}=${value} (${written_by})`)
    .sort();
}

const row = (page: Page, label: string) =>
  page.getByRole("region", { name: "Facts of the file" }).getByRole("row").filter({ hasText: label });

visit("a dropped file is shown as a plan, changed, imported and undone", async ({ page, running, says }) => {
  await remember(running, { label: "USER.name", value: "Ada" });
  await remember(running, { label: "FAMILY.wife", value: "Grace", new_label: true });
  await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
  await openMemory(page, running.url, running.key, "#user=ada");
  await factOf(page, "USER.name").waitFor();
  const before = [await factsOf(running), await factsOf(running, PROJECT)];
  await drop(page, "notes.md", NOTES);
  await says("It is text: 4 facts, 1 there already, 5 lines left out. Nothing is written yet.");
  await says("There already: FAMILY.wife (line 6)");
  const cells = async (label: string) =>
    (await row(page, label).getByRole("cell").allTextContents()).slice(1);
  assert.deepEqual(await cells("USER.name"), ["“Ada”", "person", "3"]);
  assert.deepEqual(await cells("FAMILY.dog"), ["nothing", "person", "7"]);
  assert.deepEqual(await cells("TASK.deadline"), ["nothing", "project: which?", "9"]);
  await page.getByText("5 lines left out, with the reasons").click();
  const leftOut = page.getByRole("region", { name: "Lines that are left out" });
  await leftOut
    .getByRole("row", { name: "10 TASK.wifi_password=(not shown) This looks like a password" })
    .waitFor();
  assert.equal(await page.getByText("Sommer2019").count(), 0);

  // What belongs to a project waits for one.
  const write = page.getByRole("button", { name: /^Import \d+ facts?$/ });
  assert.ok(await write.isDisabled());
  await page.getByLabel("Which project is TASK.deadline of?").fill(PROJECT);
  await page.keyboard.press("Enter");
  await row(page, "TASK.deadline").getByText(`project ${PROJECT}`).waitFor();

  await row(page, "USER.like_tea").getByRole("checkbox").uncheck();
  const change = page.getByRole("button", { name: "Change FAMILY.dog of line 7" });
  await change.click();
  const editor = page.getByRole("form", { name: "Change FAMILY.dog of line 7" });
  await editor.getByRole("combobox").fill("USER.name");
  await page.keyboard.press("Enter");
  await editor.getByRole("button", { name: "Take it" }).click();
  await editor.getByText("Line 3 has the label USER.name, too.").waitFor();
  await editor.getByRole("combobox").fill("PET.dog");
  await page.keyboard.press("Enter");
  await editor.getByRole("textbox", { name: /^Value of/ }).fill("x".repeat(1025));
  await page.keyboard.press("Enter");
  await editor.getByText(/It cannot be kept: the value has 1025 bytes/).waitFor();
  await editor.getByRole("textbox", { name: /^Value of/ }).fill("Turing, a poodle");
  await page.keyboard.press("Enter");
  await row(page, "PET.dog").getByText("Turing, a poodle").waitFor();
  const changed = page.getByRole("button", { name: "Change PET.dog of line 7" });
  assert.ok(await changed.evaluate((element) => element === document.activeElement));
  assert.deepEqual(
    [await factsOf(running), await factsOf(running, PROJECT)],
    before,
    "nothing is written yet",
  );

  assert.equal(await write.textContent(), "Import 3 facts");
  await write.click();
  await says(/^3 facts imported from notes.md. “What changed” can undo it later, too.$/);
  await factOf(page, "PET.dog").getByText("by import: notes.md").waitFor();
  assert.deepEqual(await factsOf(running, PROJECT), [
    "FAMILY.wife=Grace (claude-code)",
    "PET.dog=Turing, a poodle (import: notes.md)",
    "TASK.deadline=2026-12-24 (import: notes.md)",
    "TASK.next=the gate (claude-code)",
    "USER.name=Ada King (import: notes.md)",
  ]);
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  assert.ok(await undo.evaluate((element) => element === document.activeElement));
  await page.keyboard.press("Enter");
  await says("The import of notes.md is undone.");
  const values = (facts: string[]) => facts.map((fact) => fact.replace(/ \(.*/, ""));
  assert.deepEqual([await factsOf(running), await factsOf(running, PROJECT)].map(values), before.map(values));
});

visit("an undo that would take back what others wrote since asks first", async ({ page, running, says }) => {
  await openMemory(page, running.url, running.key, "#user=ada");
  await says("Nothing is remembered here yet.");
  await choose(page, "facts.txt", "USER.name=Ada\nPREF.tone=calm\n");
  await press(page, "Import 2 facts");
  await says(/^2 facts imported/);
  await remember(running, { label: "PREF.tone", value: "merry" });
  await remember(running, { label: "USER.os", value: "Plan 9" });
  await press(page, "Undo");
  await says("Since the import others have changed USER.os, PREF.tone. That would be undone, too.");
  assert.equal((await factsOf(running)).length, 3);
  await press(page, "Undo all of it");
  await says("The import of facts.txt is undone.");
  assert.deepEqual(await factsOf(running), []);
});

visit(
  "what a file leaves open is asked: whose memory, which format, whether a CLAUDE.md is about the person",
  async ({ page, running, says }) => {
    await openMemory(page, running.url, running.key, "#user=ada");
    await says("Nothing is remembered here yet.");
    const memories = ["bob", "eve"].map((user) => ({ memory: `Name: ${user}`, user_id: user }));
    await choose(page, "export.json", JSON.stringify({ results: memories }));
    await says("it holds the memory of 2 users (bob, eve)");
    await page.getByLabel("Whose memory in it").selectOption("eve");
    await row(page, "USER.name").getByText("eve").waitFor();
    await choose(page, "odd.json", '{"a":{"b":1}}');
    await says(/it is JSON, but none that is known/);
    await page.getByLabel("Read the file as").selectOption("text");
    await says(/^It is text: /);
    await choose(page, "notes.zip", "PK\u0003\u0004");
    await says("it is packed: unpack it, and import the file inside");
    await choose(page, "CLAUDE.md", "- Always run the tests.\n");
    await says(/^Which project is/);
    await page.getByLabel("It is about the person, not about a project").check();
    await page.getByText(/^Which project is/).waitFor({ state: "detached" });
    await press(page, "Import 1 fact");
    await says(/^1 fact imported from CLAUDE.md/);
    await choose(page, "more.md", "- Dog: Turing\n");
    await says(/^It is text: /);
    await press(page, "Cancel");
    await page.getByRole("heading", { name: "Import more.md" }).waitFor({ state: "detached" });
    const button = page.getByRole("button", { name: "Import a file …" });
    assert.ok(await button.evaluate((element) => element === document.activeElement));
    assert.equal((await factsOf(running)).length, 1);
  },
);

visit(
  "in a strict account a file makes no labels: such facts are named, and can be given one that is there",
  async ({ page, running, says }) => {
    await running.call("PATCH", "/channels", { body: { strict: true } });
    await openMemory(page, running.url, running.key, "#user=ada");
    await says("Nothing is remembered here yet.");
    await choose(page, "facts.txt", "USER.name=Ada\nPET.dog=Turing\n");
    await row(page, "PET.dog")
      .getByText(/Left out: there is no such label, and this account is strict/)
      .waitFor();
    assert.ok(await row(page, "PET.dog").getByRole("checkbox").isDisabled());
    await page.getByRole("button", { name: "Change PET.dog of line 2" }).click();
    await page
      .getByRole("form", { name: /^Change PET.dog/ })
      .getByRole("combobox")
      .fill("PREF.avoid");
    await page.keyboard.press("Enter");
    await press(page, "Take it");
    await press(page, "Import 2 facts");
    await says(/^2 facts imported/);
    assert.deepEqual(await factsOf(running), [
      "PREF.avoid=Turing (import: facts.txt)",
      "USER.name=Ada (import: facts.txt)",
    ]);
  },
);
