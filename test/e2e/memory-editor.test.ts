/** The forms of the memory page when others write meanwhile, and the buttons beside the main path. */

import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";
import type { Running } from "../http/running-service.ts";
import { chooseLabel, factOf, labelField, openMemory, press, remember } from "./memory-visit.ts";
import { visit } from "./visit.ts";

const PROJECT = "loom-3f2a9c81d04e";
const TREE = `${PROJECT}/feature`;
const LABEL = "PREF.tone";
const DAY_S = 86_400;

interface Kept {
  readonly value: string;
  readonly revision: number;
  readonly written_by?: string;
  readonly expires_at?: string;
}

async function factsIn(running: Running, project?: string): Promise<Record<string, Kept>> {
  const where = project === undefined ? "" : `&project=${encodeURIComponent(project)}`;
  const { facts } = (await running.call("GET", `/facts?user_id=ada&details=true${where}`)).json;
  return Object.fromEntries(facts.map((fact: Kept & { label: string }) => [fact.label, fact]));
}

const valueField = (page: Page) => page.getByLabel(`Value of ${LABEL}`);
const chosenEnd = (page: Page) => page.getByLabel("Ends").locator("option:checked").textContent();

/** Opens the editor, and has an agent write while something is typed. */
async function editBeside(
  page: Page,
  running: Running,
  [before, meanwhile]: readonly [object, object],
): Promise<Kept> {
  await remember(running, { label: LABEL, value: "calm", ...before });
  await factOf(page, LABEL).locator(".fact-value", { hasText: "calm" }).waitFor();
  await page.getByRole("button", { name: `Edit ${LABEL}` }).click();
  await valueField(page).fill("mine");
  await remember(running, { label: LABEL, value: "cheerful", ...meanwhile });
  await page.getByText(/It was changed while you were typing, by claude-code/).waitFor();
  return (await factsIn(running))[LABEL];
}

const ENDS = [
  {
    name: "another end",
    before: { ttl_s: 7 * DAY_S },
    meanwhile: { ttl_s: DAY_S },
    shown: "as now: in 1 day",
  },
  { name: "an end, where it had none", before: {}, meanwhile: { ttl_s: DAY_S }, shown: "as now: in 1 day" },
  { name: "no end any more", before: { ttl_s: 7 * DAY_S }, meanwhile: {}, shown: "never" },
];

visit("who takes the new value takes its end, and who saves theirs keeps the end it has", async (visit) => {
  const { page, running } = visit;
  await openMemory(page, running.url, running.key, "#user=ada");
  for (const { name, before, meanwhile, shown } of ENDS) {
    const theirs = await editBeside(page, running, [before, meanwhile]);
    const said = shown === "never" ? "does not end" : "ends in 1 day";
    await page.locator(".fact-editor .notice", { hasText: said }).waitFor();
    await press(page, "Take the new value");
    assert.deepEqual([await valueField(page).inputValue(), await chosenEnd(page)], ["cheerful", shown], name);
    await valueField(page).fill("cheerful, by me");
    await press(page, "Save");
    await factOf(page, LABEL).locator(".fact-value", { hasText: "cheerful, by me" }).waitFor();
    const taken = (await factsIn(running))[LABEL];
    assert.deepEqual([taken.written_by, taken.expires_at], ["memory page", theirs.expires_at], name);

    const again = await editBeside(page, running, [before, meanwhile]);
    assert.deepEqual([await valueField(page).inputValue(), await chosenEnd(page)], ["mine", shown], name);
    await press(page, "Save mine all the same");
    await factOf(page, LABEL).locator(".fact-value", { hasText: "mine" }).waitFor();
    const saved = (await factsIn(running))[LABEL];
    assert.deepEqual([saved.value, saved.expires_at], ["mine", again.expires_at], name);
  }
  // An end that the person chose stays chosen, until the new value is taken.
  await editBeside(page, running, [{}, {}]);
  await page.getByLabel("Ends").selectOption({ label: "in 1 week" });
  const theirs = await remember(running, { label: LABEL, value: "merry", ttl_s: DAY_S });
  await page.locator(".fact-editor .notice", { hasText: "merry, and ends in 1 day" }).waitFor();
  assert.equal(await chosenEnd(page), "in 1 week");
  await press(page, "Take the new value");
  assert.equal(await chosenEnd(page), "as now: in 1 day");
  // What is written after that is seen as a change from what was taken.
  await remember(running, { label: LABEL, value: "merry indeed", ttl_s: DAY_S });
  await page.locator(".fact-editor .notice ins", { hasText: "indeed" }).waitFor();
  assert.equal(await page.locator(".fact-editor .notice del").count(), 0);
  assert.ok((await factsIn(running))[LABEL].revision > theirs);
  await press(page, "Cancel");
  await factOf(page, LABEL).locator(".fact-value", { hasText: "merry indeed" }).waitFor();
});

visit(
  "who saves or adds what somebody wrote a moment before is shown that, and loses nothing",
  async ({ page, running, says }) => {
    await remember(running, { label: LABEL, value: "calm" });
    await openMemory(page, running.url, running.key, "#user=ada");
    /** Somebody is faster than the next write of the page. */
    const overtake = (fact: object) =>
      page.route(
        "**/encode",
        async (route: Route) => {
          await remember(running, fact);
          await route.continue();
        },
        { times: 1 },
      );
    await page.getByRole("button", { name: `Edit ${LABEL}` }).click();
    await valueField(page).fill("mine");
    await overtake({ label: LABEL, value: "cheerful", ttl_s: DAY_S });
    await press(page, "Save");
    await says(/It was changed while you were typing, by claude-code/);
    assert.deepEqual(
      [await valueField(page).inputValue(), await chosenEnd(page)],
      ["mine", "as now: in 1 day"],
    );
    await press(page, "Take the new value");
    await overtake({ label: LABEL, value: "cheerful again" });
    await press(page, "Save");
    await says(/It was changed while you were typing/);
    assert.equal((await factsIn(running))[LABEL].value, "cheerful again");
    await page.keyboard.press("Escape");
    await press(page, "Add a fact");
    await chooseLabel(page, "USER.name");
    await page.getByLabel("Value of USER.name").fill("Ada");
    await overtake({ label: "USER.name", value: "Eve" });
    await press(page, "Remember it");
    await says(/USER.name is “Eve”/);
    await press(page, "Edit it");
    assert.equal(await page.getByLabel("Value of USER.name").inputValue(), "Eve");
    assert.equal(await page.getByRole("heading", { name: "Add a fact" }).count(), 0);
  },
);

visit("what is cancelled, closed or kept changes nothing", async ({ page, running, says }) => {
  await remember(running, { label: LABEL, value: "calm" });
  await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
  await openMemory(page, running.url, running.key, `#user=ada&project=${PROJECT}`);
  const before = await factsIn(running, PROJECT);
  const edit = page.getByRole("button", { name: `Edit ${LABEL}` });
  for (const leave of [() => press(page, "Cancel"), () => page.keyboard.press("Escape")]) {
    await edit.click();
    await valueField(page).fill("never mind");
    await leave();
    await factOf(page, LABEL).locator(".fact-value", { hasText: "calm" }).waitFor();
    assert.ok(await edit.evaluate((element) => element === document.activeElement));
    await edit.click();
    assert.equal(await valueField(page).inputValue(), "calm", "what was typed before is gone");
    await leave();
    await press(page, "Add a fact");
    await chooseLabel(page, "USER.os");
    await page.getByLabel("Value of USER.os").fill("Plan 9");
    await leave();
    await page.getByRole("heading", { name: "Add a fact" }).waitFor({ state: "detached" });
  }
  await press(page, "Add a fact");
  await press(page, "A label for all users of the account …");
  await page.getByLabel("Label: GROUP.name").fill("FAMILY.size");
  await page.getByRole("form", { name: "Add a label" }).getByRole("button", { name: "Cancel" }).click();
  assert.equal(await labelField(page).inputValue(), "");
  await press(page, "Cancel");
  await press(page, "Undo everything since then …");
  await says(/This is what changes, in 2 facts/);
  await press(page, "Cancel");
  await page.getByRole("list", { name: "Changes, the newest first" }).waitFor();
  for (const [what, name] of [
    ["Erase this project …", PROJECT],
    ["Erase everything …", "ada"],
  ]) {
    await press(page, what);
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await press(page, "Keep it");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await press(page, what);
    assert.equal(await page.getByLabel(`Type ${name} to confirm`).inputValue(), "");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  assert.deepEqual(await factsIn(running, PROJECT), before);
  const { channels } = (await running.call("GET", "/channels")).json;
  assert.ok(channels.every(({ label }: { label: string }) => label !== "FAMILY.size"));
});

visit("what is erased is what is said: a worktree, a project, or everything", async (visit) => {
  const { page, running, says } = visit;
  await remember(running, { label: LABEL, value: "calm" });
  await remember(running, { label: "PROJ.goal", value: "cloth", project: PROJECT });
  await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
  await remember(running, { label: "TASK.next", value: "the shuttle", project: TREE });
  await openMemory(page, running.url, running.key, `#user=ada&project=${encodeURIComponent(TREE)}`);
  const erase = async (what: string, name: string) => {
    await press(page, `Erase ${what} …`);
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.keyboard.press("Enter");
  };
  const said = page.locator(".toast [role=status]");
  await erase("this worktree", TREE);
  await says(`The worktree ${TREE} is erased.`);
  await factOf(page, "TASK.next").getByText("the gate").waitFor();
  await press(page, "Close this message");
  assert.equal(await said.textContent(), "");

  await page.getByLabel("Where").selectOption(PROJECT);
  await erase("this project", PROJECT);
  await says(`The project ${PROJECT} is erased.`);
  await factOf(page, "PROJ.goal").waitFor({ state: "detached" });
  await factOf(page, LABEL).getByText("calm").waitFor();

  await erase("everything", "ada");
  await says("Everything of ada is erased.");
  await says("Nothing is remembered here yet.");
  assert.deepEqual(await factsIn(running, PROJECT), {});
});

visit(
  "in a worktree a fact is kept for it, beside that of its project; a project has no worktree",
  async ({ page, running, says }) => {
    await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
    await openMemory(page, running.url, running.key, `#user=ada&project=${PROJECT}`);
    const keptFor = page.getByLabel("Kept for");
    const places = () => keptFor.locator("option").allTextContents();
    await press(page, "Add a fact");
    await chooseLabel(page, "TASK.next");
    // Its label's facts are a worktree's, which here is the project itself.
    await says(/TASK.next is “the gate”/);
    assert.deepEqual(
      [await keptFor.inputValue(), await places()],
      ["project", ["the person, everywhere", "this project"]],
    );
    assert.ok(await page.getByRole("button", { name: "Remember it" }).isDisabled());

    await press(page, "Forget the key");
    await openMemory(page, running.url, running.key, `#user=ada&project=${encodeURIComponent(TREE)}`);
    await press(page, "Add a fact");
    await chooseLabel(page, "TASK.next");
    await says(/There is also “the gate”, kept for the project/);
    assert.deepEqual(
      [await keptFor.inputValue(), await places()],
      ["worktree", ["the person, everywhere", "this project", "this worktree"]],
    );
    await keptFor.selectOption("project");
    await says(/TASK.next is “the gate”/);
    await keptFor.selectOption("worktree");
    await page.getByLabel("Value of TASK.next").fill("the shuttle");
    await press(page, "Remember it");
    await factOf(page, "TASK.next").getByText("worktree", { exact: true }).waitFor();
    const kept = [await factsIn(running, TREE), await factsIn(running, PROJECT)];
    assert.deepEqual(
      kept.map((facts) => facts["TASK.next"].value),
      ["the shuttle", "the gate"],
    );
  },
);

visit("what looks like a secret is kept from no form, unless the person insists", async (visit) => {
  const { page, running, says } = visit;
  await openMemory(page, running.url, running.key, "#user=ada");
  await press(page, "Add a fact");
  await chooseLabel(page, LABEL);
  await valueField(page).fill("password: Sonnenblume2024!");
  await press(page, "Remember it");
  await says(/^This looks like a password: nothing was kept\. Agents would read it\./);
  assert.deepEqual(await factsIn(running), {});
  await valueField(page).fill("key box at the door 4471");
  await page.locator(".add-fact .notice").waitFor({ state: "detached" });
  await press(page, "Remember it");
  await says(/^This may be the code of a lock: nothing was kept\./);
  await press(page, "Keep it all the same");
  await factOf(page, LABEL).locator(".fact-value", { hasText: "4471" }).waitFor();

  await page.getByRole("button", { name: `Edit ${LABEL}` }).click();
  await page.getByLabel("Ends").selectOption({ label: "in 1 week" });
  await press(page, "Save");
  await page.locator(".fact-editor").waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Edit ${LABEL}` }).click();
  await valueField(page).fill("door code 4711");
  await press(page, "Save");
  await says(/^This looks like the code of a lock: nothing was kept\./);
  assert.equal((await factsIn(running))[LABEL].value, "key box at the door 4471");
  await press(page, "Keep it all the same");
  await factOf(page, LABEL).locator(".fact-value", { hasText: "door code 4711" }).waitFor();
});
