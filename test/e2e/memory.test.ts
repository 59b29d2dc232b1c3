/** A person's memory page: the whole flow, beside an agent and another page; and what each key may do. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { soon } from "../fixtures/waiting.ts";
import type { Running } from "../http/running-service.ts";
import {
  chooseLabel,
  factOf,
  labelField,
  openMemory,
  press,
  remember,
  savedReceipt,
} from "./memory-visit.ts";
import { type Visit, visit } from "./visit.ts";

const PROJECT = "loom-3f2a9c81d04e";
/** What one page changes is in another within this time. */
const SEEN_MS = 1_000;

/** An agent, as a host connects one. */
async function agentOf({ url, key }: Running): Promise<Client> {
  const client = new Client(
    { name: "weaver", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp?user_id=ada`), { requestInit }));
  return client;
}

visit("the whole flow: see, change, add, forget, undo, go back, take along, erase", async (visit) => {
  const { page, running, says } = visit;
  await remember(running, { label: "USER.name", value: "Ada" });
  await remember(running, { label: "USER.name", value: "Ada Lovelace", written_by: "codex" });
  await remember(running, { label: "TASK.next", value: "the gate", project: PROJECT });
  await openMemory(page, running.url, running.key);
  await page.getByRole("button", { name: /^ada/ }).click();
  await factOf(page, "USER.name").getByText("by codex").waitFor();
  assert.equal(await factOf(page, "TASK.next").count(), 0, "a project's facts are the project's");
  await says(/^Claude Code, .*: 1 fact, /);

  await editsInPlace(visit);
  await seesWhatOthersWrite(visit);
  await addsWithAnOwnLabel(visit);
  await forgetsAndUndoes(visit);
  await looksBack(visit);
  await goesBack(visit);
  await showsEarlierChanges(visit);
  await worksInProject(visit);
  await takesAlongAndErases(visit);
  // Nothing of the key is kept.
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state]),
  );
  assert.equal(kept, '[{},{},"",null]');
  assert.doesNotMatch(page.url(), /sb_live_/);
});

/** The keyboard alone: open, type, save; the focus comes back to where it was. */
async function editsInPlace({ page, running }: Visit): Promise<void> {
  await page.getByRole("button", { name: "Edit USER.name" }).focus();
  await page.keyboard.press("Enter");
  const field = page.getByLabel("Value of USER.name");
  assert.ok(await field.evaluate((element) => element === document.activeElement));
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Ada King");
  await page.getByLabel("Ends").selectOption({ label: "in 1 week" });
  await field.focus();
  await page.keyboard.press("Enter");
  const row = factOf(page, "USER.name");
  await row.locator(".fact-value", { hasText: "Ada King" }).waitFor();
  await row.getByText("by memory page").waitFor();
  await row.getByText("ends in 1 week").waitFor();
  const edit = page.getByRole("button", { name: "Edit USER.name" });
  assert.ok(await edit.evaluate((element) => element === document.activeElement));
  // Another value later, and it still ends.
  await edit.click();
  await field.fill("Countess Ada");
  await page.keyboard.press("Enter");
  await row.locator(".fact-value", { hasText: "Countess Ada" }).waitFor();
  const [fact] = (await running.call("GET", "/facts?user_id=ada")).json.facts;
  assert.deepEqual(
    [fact.value, fact.written_by, typeof fact.expires_at],
    ["Countess Ada", "memory page", "string"],
  );
}

/** An agent over MCP and a second page write while somebody types; nothing that was typed is lost. */
async function seesWhatOthersWrite({ page, running, open: _, ...visit }: Visit): Promise<void> {
  const agent = await agentOf(running);
  const told = page.locator(".visually-hidden[role=status]");
  await soon("a fact that an agent wrote", SEEN_MS, async (round) => {
    const value = `calm ${round}`;
    await agent.callTool({ name: "remember", arguments: { label: "PREF.tone", value } });
    return () => factOf(page, "PREF.tone").getByText(value).waitFor();
  });
  await factOf(page, "PREF.tone").getByText("changed just now").waitFor();
  await factOf(page, "PREF.tone").getByText("by mcp: weaver").waitFor();
  assert.equal(await told.textContent(), "PREF.tone was written by mcp: weaver.");

  await page.getByRole("button", { name: "Edit PREF.tone" }).click();
  const field = page.getByLabel("Value of PREF.tone");
  await field.fill("calm and exact");
  await agent.callTool({ name: "remember", arguments: { label: "PREF.tone", value: "cheerful" } });
  await visit.says(/It was changed while you were typing/);
  await page.locator(".notice ins", { hasText: "cheerful" }).waitFor();
  assert.equal(await field.inputValue(), "calm and exact");
  await press(page, "Save mine all the same");
  await factOf(page, "PREF.tone").locator(".fact-value", { hasText: "calm and exact" }).waitFor();

  await page.getByRole("button", { name: "Edit PREF.tone" }).click();
  await field.fill("loud");
  await agent.callTool({ name: "forget", arguments: { label: "PREF.tone" } });
  await visit.says(/It was forgotten while you were typing/);
  assert.equal(await field.inputValue(), "loud");
  await press(page, "Save mine all the same");
  await factOf(page, "PREF.tone").locator(".fact-value", { hasText: "loud" }).waitFor();
  await agent.close();

  const other = await page.context().newPage();
  await openMemory(other, running.url, running.key, "#user=ada");
  await factOf(other, "PREF.tone").getByText("loud").waitFor();
  await other.getByText("Live", { exact: true }).waitFor();
  await soon("a change of another page", SEEN_MS, async (round) => {
    await page.getByRole("button", { name: "Edit PREF.tone" }).click();
    await field.fill(`quiet ${round}`);
    await page.keyboard.press("Enter");
    return () => factOf(other, "PREF.tone").getByText(`quiet ${round}`).waitFor();
  });
  await factOf(other, "PREF.tone").getByText("changed just now").waitFor();
  assert.equal(
    await factOf(page, "PREF.tone").getByText("changed just now").count(),
    0,
    "not in one's own page",
  );
  await other.getByRole("button", { name: "Forget PREF.tone" }).click();
  await factOf(page, "PREF.tone").waitFor({ state: "detached" });
  assert.equal(await told.textContent(), "PREF.tone was forgotten.");
  await press(other, "Undo");
  await factOf(page, "PREF.tone").getByText("quiet").waitFor();
  await other.close();
}

async function addsWithAnOwnLabel({ page, running, says }: Visit): Promise<void> {
  await press(page, "Add a fact");
  await chooseLabel(page, "USER.name");
  await says(/USER.name is “Countess Ada”/);
  await labelField(page).fill("");
  await page.keyboard.press("Escape");
  await press(page, "A label for all users of the account …");
  await page.getByLabel("Label: GROUP.name").fill("FAMILY.size");
  await page.getByLabel("What belongs there").fill("The shirt size of the family");
  await page.getByText("More: fixed choices").click();
  await page.getByLabel("Only these values").fill("S, M, L");
  await press(page, "Add the label");
  await says(/The shirt size of the family/);
  const value = page.getByLabel("Value of FAMILY.size");
  assert.deepEqual(await value.locator("option").allTextContents(), ["Choose one", "S", "M", "L"]);
  await value.selectOption("M");
  await press(page, "Remember it");
  await factOf(page, "FAMILY.size").getByText("M", { exact: true }).waitFor();
  await page.getByRole("heading", { name: "FAMILY", exact: true }).waitFor();
  await press(page, "Add a fact");
  await chooseLabel(page, "PREF.editor");
  await page.getByLabel("Value of PREF.editor").fill("é".repeat(600));
  await says(/1,200 of at most 1,024 bytes: too long\. Nothing is cut\./);
  await press(page, "Remember it");
  await page.getByRole("alert").waitFor();
  assert.equal((await page.getByLabel("Value of PREF.editor").inputValue()).length, 600);
  await page.getByLabel("Value of PREF.editor").fill("Neovim");
  await press(page, "Remember it");
  await factOf(page, "PREF.editor").getByText("Neovim").waitFor();
  const { json } = await running.call("GET", "/channels");
  assert.deepEqual(json.channels.at(-1).one_of, ["S", "M", "L"]);
  await page.getByLabel("Find a fact").fill("shirt SIZE");
  await says("1 fact for “shirt SIZE”");
  await factOf(page, "USER.name").waitFor({ state: "detached" });
  await page.getByLabel("Find a fact").fill("");
}

async function forgetsAndUndoes({ page, running, says }: Visit): Promise<void> {
  const historyOf = (label: string) => running.call("GET", `/facts/history?user_id=ada&label=${label}`);
  const before = (await running.call("GET", "/facts?user_id=ada")).json.facts[0];
  await page.getByRole("button", { name: "Forget USER.name" }).click();
  await says(/USER.name is forgotten. Its earlier values are kept./);
  await factOf(page, "USER.name").waitFor({ state: "detached" });
  const undo = page.getByRole("button", { name: "Undo", exact: true });
  assert.ok(await undo.evaluate((element) => element === document.activeElement));
  await page.keyboard.press("Enter");
  await factOf(page, "USER.name").getByText("ends in 1 week").waitFor();
  const after = (await running.call("GET", "/facts?user_id=ada")).json.facts[0];
  assert.deepEqual([after.value, after.expires_at], [before.value, before.expires_at]);
  await page.getByRole("button", { name: "Forget PREF.editor" }).click();
  const forGood = page.getByRole("button", { name: /PREF.editor, which cannot be undone$/ });
  await forGood.click();
  assert.equal((await historyOf("PREF.editor")).status, 200, "it asks first");
  assert.equal(await forGood.textContent(), "Confirm");
  await forGood.click();
  await says(/PREF.editor is forgotten for good/);
  assert.equal((await historyOf("PREF.editor")).status, 404);
}

async function looksBack({ page, running, says }: Visit): Promise<void> {
  await page.getByRole("button", { name: "History of USER.name" }).click();
  const values = page.getByRole("list", { name: "Values of USER.name, the newest first" });
  await values.locator("ins", { hasText: "Lovelace" }).waitFor();
  await page.getByRole("button", { name: "Write it again, this value of USER.name: Ada Lovelace" }).click();
  await says("USER.name has its earlier value again.");
  await factOf(page, "USER.name").locator(".fact-value", { hasText: "Ada Lovelace" }).waitFor();
  await press(page, "Undo");
  await factOf(page, "USER.name").locator(".fact-value", { hasText: "Countess Ada" }).waitFor();
  const [fact] = (await running.call("GET", "/facts?user_id=ada")).json.facts;
  assert.equal(typeof fact.expires_at, "string");
  await page.getByRole("button", { name: "History of USER.name" }).click();
}

async function goesBack({ page, running, says }: Visit): Promise<void> {
  const valuesOf = async () => {
    const { facts } = (await running.call("GET", `/facts?user_id=ada&project=${PROJECT}`)).json;
    return facts.map(({ label, value }: { label: string; value: string }) => `${label}=${value}`);
  };
  const before = await valuesOf();
  // Two facts that an agent should not have written, one of them in a project.
  await remember(running, { label: "PREF.avoid", value: "nonsense" });
  await remember(running, { label: "TASK.next", value: "nonsense too", project: PROJECT });
  const changes = page.getByRole("list", { name: "Changes, the newest first" });
  await changes
    .getByRole("listitem")
    .filter({ hasText: /TASK\.next.*nonsense/ })
    .waitFor();
  await page
    .getByRole("button", { name: "Undo from here: this change of PREF.avoid and all later ones" })
    .click();
  await says(/This is what changes, in 2 facts/);
  await page.locator(".rollback").getByText("was not there").waitFor();
  await page.locator(".rollback ins", { hasText: "gate" }).waitFor();
  assert.equal((await valuesOf()).length, before.length + 1, "a look changes nothing");
  // A change elsewhere has the page look again, and who presses meanwhile is heard.
  const look = "**/users/rollback";
  const looking = page.waitForRequest(look);
  await page.route(look, (route) => (route.request().postDataJSON().dry_run ? undefined : route.continue()));
  await remember(running, { label: "PREF.avoid", value: "nonsense" });
  await looking;
  await press(page, "Undo what changed in 2 facts");
  await says(/^Back to .*: 2 facts changed\./);
  await page.unroute(look);
  await factOf(page, "PREF.avoid").waitFor({ state: "detached" });
  assert.deepEqual(await valuesOf(), before);
  await press(page, "Undo");
  await factOf(page, "PREF.avoid").getByText("nonsense").waitFor();
  await says("Going back is undone.");
}

async function showsEarlierChanges({ page, running }: Visit): Promise<void> {
  await page.getByLabel("Since when").selectOption({ label: "in the last hour" });
  await page.getByRole("button", { name: "Show earlier changes" }).click();
  const changes = page.getByRole("list", { name: "Changes, the newest first" });
  await changes.getByText("Lovelace").first().waitFor();
  // A change elsewhere has the list read again, as long as it is.
  await remember(running, { label: "PREF.avoid", value: "more nonsense" });
  await changes.getByText("more nonsense").first().waitFor();
  assert.ok((await changes.getByText("Lovelace").count()) > 0);
}

async function worksInProject({ page, running }: Visit): Promise<void> {
  await page.getByLabel("Where").selectOption(PROJECT);
  const row = factOf(page, "TASK.next");
  await row.getByText("project", { exact: true }).waitFor();
  await factOf(page, "USER.name").getByText("person", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Edit TASK.next" }).click();
  await page.getByLabel("Value of TASK.next").fill("the shuttle");
  await page.keyboard.press("Enter");
  await row.locator(".fact-value", { hasText: "the shuttle" }).waitFor();
  await press(page, "Add a fact");
  await chooseLabel(page, "PREF.units");
  await page.getByLabel("Value of PREF.units").fill("inches");
  await page.getByLabel("Kept for").selectOption("project");
  await press(page, "Remember it");
  await factOf(page, "PREF.units").getByText("project", { exact: true }).waitFor();
  const { json } = await running.call("GET", "/facts?user_id=ada");
  assert.ok(json.facts.every(({ label }: { label: string }) => !/units|TASK/.test(label)));
}

async function takesAlongAndErases({ page, running, says }: Visit): Promise<void> {
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Export to a file")]);
  assert.equal(download.suggestedFilename(), "sideband-ada.jsonl");
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  const { kind, facts } = JSON.parse(lines.at(-1)!);
  // Before it the label that was added.
  assert.deepEqual([kind, facts.length > 4, lines.length], ["user", true, 2]);
  await press(page, "Erase this project …");
  await press(page, "Keep it");
  await press(page, "Erase everything …");
  const erase = page.getByRole("button", { name: "Erase everything", exact: true });
  assert.ok(await erase.isDisabled());
  await page.getByLabel("Type ada to confirm").fill("Ada");
  assert.ok(await erase.isDisabled());
  await page.getByLabel("Type ada to confirm").fill("ada");
  await erase.click();
  await says("Nothing is remembered here yet.");
  await says("Nothing has changed.");
  assert.deepEqual((await running.call("GET", "/users?prefix=ada")).json.users, []);
  assert.ok((await savedReceipt(page, "ada")).facts > 4);
}

visit(
  "a reading key sees everything and nothing to change it with; a bound key only its user",
  async ({ page, running, says }) => {
    await remember(running, { label: "USER.name", value: "Ada" });
    await remember(running, { label: "USER.name", value: "Ada Lovelace" });
    await remember(running, { user_id: "bo", label: "USER.name", value: "Bo" });
    const keyFor = async (terms: object) =>
      (await running.service.core.keys.create({ account: "acme", ...terms })).key;
    await openMemory(page, running.url, await keyFor({ access: "read" }), "#user=ada");
    await factOf(page, "USER.name").getByText("Ada Lovelace").waitFor();
    await says("reads only");
    await says(/^Claude Code, .*: 1 fact, /);
    await page.getByRole("button", { name: "History of USER.name" }).click();
    await page
      .getByRole("list", { name: /^Values of USER.name/ })
      .getByText("now", { exact: true })
      .waitFor();
    const names = await page.locator("main").getByRole("button").allTextContents();
    const jumps = ["What changed", "What agents get", "All of it"];
    assert.deepEqual(names, [
      ...["Another user", "Forget the key", ...jumps, "The user USER", "History"],
      "Export to a file",
    ]);
    await press(page, "Forget the key");
    // The address names another user than the key is for.
    await openMemory(page, running.url, await keyFor({ user: "bo" }), "#user=ada");
    await factOf(page, "USER.name").getByText("Bo", { exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Another user" }).count(), 0);
    await press(page, "Add a fact");
    assert.equal(await page.getByRole("button", { name: /^A label for all users/ }).count(), 0);
  },
);

visit("users are found by how their names begin, page by page, and a new one can be begun", async (visit) => {
  const { page, running, says } = visit;
  const facts = [{ label: "USER.name", value: "x" }];
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const user_id = `user ${String(i).padStart(2, "0")}`;
      return running.call("POST", "/encode/batch", { body: { user_id, facts } });
    }),
  );
  await openMemory(page, running.url, running.key);
  await says("user 49");
  assert.equal(await page.getByText("user 50").count(), 0);
  await press(page, "Show more");
  await says("user 59");
  await page.getByLabel("The name begins with").fill("user 3");
  await page.getByText("user 29").waitFor({ state: "detached" });
  assert.equal(await page.locator(".users li").count(), 10);
  await page.getByLabel("The name begins with").fill("grace");
  await press(page, "Begin a memory for grace");
  await says("Nothing is remembered here yet.");
  assert.match(page.url(), /#user=grace$/);
  await page.reload();
  await page.getByLabel("Your key").fill(running.key);
  await page.keyboard.press("Enter");
  await says("Nothing is remembered here yet.");
});

visit(
  "a connection that is lost is said to be, and what happened meanwhile is there after it",
  async ({ page, running, says }) => {
    await remember(running, { label: "USER.name", value: "Ada" });
    await openMemory(page, running.url, running.key, "#user=ada");
    await says("Live");
    await page.context().setOffline(true);
    await running.service.core.memory.events.close();
    await says("Not connected");
    await remember(running, { label: "USER.name", value: "Ada Lovelace" });
    await page.context().setOffline(false);
    await factOf(page, "USER.name").getByText("Ada Lovelace").waitFor();
  },
);

visit("a key that is revoked ends it with a word", async ({ page, running, says }) => {
  const { key, record } = await running.service.core.keys.create({ account: "acme" });
  await openMemory(page, running.url, key, "#user=ada");
  await says("Live");
  await running.service.core.keys.revoke(record.id);
  await press(page, "Add a fact");
  await chooseLabel(page, "USER.name");
  await page.getByLabel("Value of USER.name").fill("Ada");
  await press(page, "Remember it");
  await says(/revoked/);
  assert.equal(await page.getByLabel("Value of USER.name").inputValue(), "Ada");
});
