/** What a team shares, on the memory page: whose it is and who wrote it, where a write goes, its undo, and what stays. */

import assert from "node:assert/strict";
import type { Running } from "../http/running-service.ts";
import { chooseLabel, factOf, openMemory, press, remember } from "./memory-visit.ts";
import { type Visit, visit } from "./visit.ts";

const PROJECT = "loom";
const SHARED = { user_id: "grace", project: PROJECT, scope: "shared", written_by: "codex" };

async function share(running: Running, terms: object = {}): Promise<void> {
  const body = { shared: true, members: ["ada", "grace"], ...terms };
  const { status, text } = await running.call("PUT", `/projects/${PROJECT}`, { body });
  assert.equal(status, 200, text);
}

const keyOf = async (running: Running, user: string, access: "read" | "write" = "write") =>
  (await running.service.core.keys.create({ account: "acme", user, access })).key;

/** Ada's page, in the shared project; her key is for her alone. */
async function openTeam({ page, running, says }: Visit, user = "ada"): Promise<void> {
  await openMemory(page, running.url, await keyOf(running, user), `#user=${user}&project=${PROJECT}`);
  await says(/loom is shared with your team/);
}

async function valueFor(running: Running, user: string, label: string): Promise<string | undefined> {
  const { facts } = (await running.call("GET", `/facts?user_id=${user}&project=${PROJECT}`)).json;
  return facts.find((fact: { label: string }) => fact.label === label)?.value;
}

visit(
  "a member sees what the team shares, who wrote it, and each change of a colleague as it comes",
  async (visit) => {
    const { page, running, says } = visit;
    await share(running);
    await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
    await openTeam(visit);
    const stack = factOf(page, "PROJ.stack");
    await stack.getByText("by grace (codex)").waitFor();
    await stack.getByText("team", { exact: true }).waitFor();
    await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript, Node 20" });
    await stack.getByText("TypeScript, Node 20").waitFor();
    await stack.getByText("changed just now").waitFor();
    await page.getByText("PROJ.stack was written by grace (codex).").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "History of PROJ.stack" }).click();
    await page
      .getByRole("list", { name: /^Values of PROJ.stack/ })
      .getByText("by grace (codex)")
      .first()
      .waitFor();
    const changes = page.getByRole("list", { name: /^Changes/ });
    await changes.getByText("by grace (codex)").first().waitFor();
    assert.equal(await changes.getByText("team", { exact: true }).count(), 2);
    // A colleague's own facts are nobody else's.
    await remember(running, { ...SHARED, scope: "own", label: "PROJ.goal", value: "hers alone" });
    await remember(running, { ...SHARED, label: "PROJ.repo", value: "npm test" });
    await says("npm test");
    assert.equal(await page.getByText("hers alone").count(), 0);
  },
);

visit("a write says where it goes, for the team or only for me, and each is undone", async (visit) => {
  const { page, running, says } = visit;
  await share(running);
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
  await openTeam(visit);
  await press(page, "Add a fact");
  await chooseLabel(page, "PROJ.testing");
  const kept = page.getByLabel("Kept for");
  assert.deepEqual(await kept.locator("option").allTextContents(), [
    "the person, everywhere",
    "the team",
    "only me, in this project",
  ]);
  assert.equal(await kept.inputValue(), "shared");
  await page.getByLabel("Value of PROJ.testing").fill("npm test");
  await press(page, "Remember it");
  await factOf(page, "PROJ.testing").getByText("by ada (memory page)").waitFor();
  assert.equal(await valueFor(running, "grace", "PROJ.testing"), "npm test");
  await press(page, "Undo");
  await says("PROJ.testing is not remembered any more.");
  assert.equal(await valueFor(running, "grace", "PROJ.testing"), undefined);

  await page.getByRole("button", { name: "Edit PROJ.stack" }).click();
  await page.getByLabel("Value of PROJ.stack").fill("Rust");
  await press(page, "Save");
  await says("PROJ.stack is changed.");
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "Rust");
  await press(page, "Undo");
  await says("PROJ.stack is as it was.");
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "TypeScript");

  // Only for oneself: the team's stays, and both are shown.
  await page.getByRole("button", { name: "Edit PROJ.stack" }).click();
  await page.getByLabel("Value of PROJ.stack").fill("Zig");
  await page.getByLabel("Kept for").selectOption("own");
  await press(page, "Save");
  const stack = factOf(page, "PROJ.stack");
  await stack.getByText("only me", { exact: true }).waitFor();
  await stack.locator(".hidden-fact", { hasText: "TypeScript" }).waitFor();
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "TypeScript");
  assert.equal(await valueFor(running, "ada", "PROJ.stack"), "Zig");
  await press(page, "Undo");
  await stack.locator(".hidden-fact").waitFor({ state: "detached" });
  assert.equal(await valueFor(running, "ada", "PROJ.stack"), "TypeScript");
});

visit("a fact of one's own that is forgotten lets the team's count again", async (visit) => {
  const { page, running, says } = visit;
  await share(running);
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
  await remember(running, { label: "PROJ.stack", value: "Zig", project: PROJECT, scope: "own" });
  await openTeam(visit);
  await page.getByRole("button", { name: "Forget PROJ.stack" }).click();
  await says("The team's counts again: “TypeScript”.");
  await factOf(page, "PROJ.stack").getByText("by grace (codex)").waitFor();
  await press(page, "Undo");
  await factOf(page, "PROJ.stack").locator(".hidden-fact", { hasText: "TypeScript" }).waitFor();
  assert.equal(await valueFor(running, "ada", "PROJ.stack"), "Zig");
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "TypeScript");
});

visit("a member who only reads changes nothing of the team's, and writes for themself", async (visit) => {
  const { page, running, says } = visit;
  await share(running);
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "Rust", origin: "read" });
  await share(running, { access: "read" });
  await openTeam(visit);
  await says(/Its members only read what is shared/);
  const stack = factOf(page, "PROJ.stack");
  await stack.getByText("read somewhere").waitFor();
  await page.getByRole("button", { name: "History of PROJ.stack" }).click();
  await page
    .getByRole("list", { name: /^Values of PROJ.stack/ })
    .getByText("TypeScript")
    .first()
    .waitFor();
  for (const name of [
    /^Edit /,
    /^Rename /,
    /^Forget (PROJ|what)/,
    /^Accept/,
    /^Write it again/,
    /^Undo from here/,
    /the team's since/,
  ])
    assert.equal(await page.getByRole("button", { name }).count(), 0, String(name));
  await press(page, "Add a fact");
  await chooseLabel(page, "PROJ.stack");
  assert.equal(await page.getByLabel("Kept for").inputValue(), "own");
  await says(/The team has “Rust”/);
  await page.getByLabel("Value of PROJ.stack").fill("Zig");
  await press(page, "Remember it");
  await stack.locator(".hidden-fact", { hasText: "Rust" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Edit PROJ.stack" }).count(), 1);
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "Rust");
});

visit("the team's changes go back alone, one's own stay, and going back is undone", async (visit) => {
  const { page, running, says } = visit;
  await share(running);
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
  await openTeam(visit);
  await says("TypeScript");
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "Rust" });
  await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
  await factOf(page, "TASK.next").getByText("the gate").waitFor();
  await page.locator(".changes", { hasText: "Rust" }).waitFor();
  await page
    .getByRole("button", { name: /^Undo from here: this change of PROJ.stack/ })
    .first()
    .click();
  await says(/This is what changes for the whole team, in 1 fact/);
  await press(page, "Undo what changed in 1 fact");
  await page
    .locator(".toast")
    .getByText(/^Back to /)
    .waitFor();
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "TypeScript");
  assert.equal(await valueFor(running, "ada", "TASK.next"), "the gate");
  await press(page, "Undo");
  await says("Going back is undone.");
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "Rust");
});

visit("who erases everything is told what stays for the team, and why", async (visit) => {
  const { page, running, says } = visit;
  await share(running);
  await remember(running, { ...SHARED, user_id: "ada", label: "PROJ.stack", value: "TypeScript" });
  await remember(running, { label: "USER.name", value: "Ada" });
  await openTeam(visit);
  await says("What a team shares is not in it.");
  await press(page, "Erase everything …");
  await says(/stays, without their name: it belongs to the shared project/);
  await page.getByLabel("Type ada to confirm").fill("ada");
  await press(page, "Erase everything");
  await says("1 value of the team in loom stays, without the name.");
  // Whoever is erased does not share the project any more.
  await factOf(page, "PROJ.stack").waitFor({ state: "detached" });
  await factOf(page, "USER.name").waitFor({ state: "detached" });
  assert.equal(await valueFor(running, "grace", "PROJ.stack"), "TypeScript");
});

visit("who is removed from the team sees nothing of it any more, on an open page too", async (visit) => {
  const { page, running } = visit;
  await share(running);
  await remember(running, { ...SHARED, label: "PROJ.stack", value: "TypeScript" });
  await openTeam(visit);
  await factOf(page, "PROJ.stack").waitFor();
  await share(running, { members: ["grace"] });
  // Whatever happens next makes the page look again.
  await remember(running, { label: "USER.name", value: "Ada" });
  await factOf(page, "USER.name").waitFor();
  await factOf(page, "PROJ.stack").waitFor({ state: "detached" });
  await page.getByRole("note").waitFor({ state: "detached" });
});
