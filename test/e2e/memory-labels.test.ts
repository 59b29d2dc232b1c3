/** Labels on the memory page: completed, made, refused in a strict account, renamed and merged; and every write is undone. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Running } from "../http/running-service.ts";
import { chooseLabel, factOf, labelField, openMemory, press, remember } from "./memory-visit.ts";
import { visit } from "./visit.ts";

const WIFE = {
  label: "FAMILY.wife",
  value: "Grace",
  new_label: true,
  description: "What the wife is called",
};

/** All that is remembered, without revisions and times. */
async function memoryOf(running: Running): Promise<unknown[]> {
  const { facts } = (await running.call("GET", "/facts?user_id=ada&details=true")).json;
  return facts
    .map(({ label, value, expires_at, description }: Record<string, string>) =>
      [label, value, expires_at, description].join("|"),
    )
    .sort();
}

const offered = (page: Page) => page.locator(".options [role=option]").allTextContents();
const undo = (page: Page) => press(page, "Undo");

visit(
  "a label is completed by name and description, and made where none fits, by keyboard alone",
  async ({ page, running, says }) => {
    await remember(running, WIFE);
    await openMemory(page, running.url, running.key, "#user=ada");
    await factOf(page, "FAMILY.wife").getByText("What the wife is called").waitFor();
    const before = await memoryOf(running);
    await page.getByRole("button", { name: "Add a fact" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.type("called");
    assert.deepEqual(await offered(page), [
      "FAMILY.wife What the wife is calledhas a value",
      "USER.name What the user is called",
      "Make NOTE.called a new label",
    ]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await labelField(page).inputValue(), "USER.name");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Pet: dog");
    assert.deepEqual(await offered(page), ["Make PET.dog a new label"]);
    await page.keyboard.press("Escape");
    assert.deepEqual(await offered(page), [], "the list is closed, and the form is not");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByLabel(/^What belongs under PET.dog/).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("The name of the dog");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Turing");
    await page.keyboard.press("Enter");
    await factOf(page, "PET.dog").getByText("The name of the dog").waitFor();
    assert.deepEqual(await memoryOf(running), [...before, "PET.dog|Turing||The name of the dog"]);
    await says("PET.dog is remembered.");
    const takeBack = page.getByRole("button", { name: "Undo", exact: true });
    assert.ok(await takeBack.evaluate((element) => element === document.activeElement));
    await page.keyboard.press("Enter");
    await says("PET.dog is not remembered any more.");
    assert.deepEqual(await memoryOf(running), before);
  },
);

visit(
  "a slip names the label that was meant, keeps what was typed, and can be insisted on",
  async ({ page, running, says }) => {
    await remember(running, WIFE);
    await remember(running, { label: "PREF.tone", value: "calm" });
    await openMemory(page, running.url, running.key, "#user=ada");
    await factOf(page, "FAMILY.wife").waitFor();
    const fill = async (label: string) => {
      await press(page, "Add a fact");
      await labelField(page).fill(label);
      // It is chosen by leaving the field, too.
      await page.keyboard.press("Tab");
      await page.getByLabel(`Value of ${label}`).fill("Ada");
      await page.keyboard.press("Enter");
      await says(/Did you mean/);
    };
    await fill("USER.nane");
    await press(page, "Use USER.name");
    assert.equal(await page.getByLabel("Value of USER.name").inputValue(), "Ada");
    await press(page, "Remember it");
    await factOf(page, "USER.name").getByText("Ada").waitFor();
    await fill("FAMILY.wief");
    await press(page, "Make FAMILY.wief");
    await factOf(page, "FAMILY.wief").getByText("Ada").waitFor();
    // The same where a fact gets another label.
    await page.getByRole("button", { name: "Rename PREF.tone" }).click();
    await page.getByRole("combobox", { name: "New label of PREF.tone" }).fill("PREF.editr");
    await page.keyboard.press("Tab");
    await page
      .getByRole("form", { name: "Rename PREF.tone" })
      .getByRole("button", { name: "Rename" })
      .click();
    await says(/There is no label PREF.editr. Did you mean PREF.editor/);
    await press(page, "Make PREF.editr");
    await factOf(page, "PREF.editr").getByText("calm").waitFor();
    const labels = (await running.call("GET", "/facts?user_id=ada")).json.facts.map(
      ({ label }: { label: string }) => label,
    );
    assert.deepEqual(labels.sort(), ["FAMILY.wief", "FAMILY.wife", "PREF.editr", "USER.name"]);
  },
);

visit(
  "in a strict account no label is made, and the page says so; what was made before can be renamed",
  async ({ page, running, says }) => {
    await remember(running, WIFE);
    assert.equal((await running.call("PATCH", "/channels", { body: { strict: true } })).status, 200);
    await openMemory(page, running.url, running.key, "#user=ada");
    await factOf(page, "FAMILY.wife").waitFor();
    const before = await memoryOf(running);
    await press(page, "Add a fact");
    await labelField(page).fill("PET.dog");
    await says(/No label fits, and this account is strict/);
    assert.deepEqual(await offered(page), []);
    assert.ok(await page.getByRole("button", { name: "Remember it" }).isDisabled());
    await page.keyboard.press("Escape");
    // Brought back, although nobody could make its label now.
    await page.getByRole("button", { name: "Forget FAMILY.wife" }).click();
    await says(/FAMILY.wife is forgotten/);
    await undo(page);
    await says("FAMILY.wife is back.");
    assert.deepEqual(await memoryOf(running), before);
    await page.getByRole("button", { name: "Rename FAMILY.wife" }).click();
    await page.getByRole("combobox", { name: "New label of FAMILY.wife" }).fill("USER.affil");
    assert.deepEqual(await offered(page), ["USER.affiliation Company, university or team"]);
    await page.keyboard.press("Enter");
    await page
      .getByRole("form", { name: "Rename FAMILY.wife" })
      .getByRole("button", { name: "Rename" })
      .click();
    await factOf(page, "USER.affiliation").getByText("Grace").waitFor();
  },
);

visit("a fact gets another label, or becomes a list with another fact; each is undone", async (visit) => {
  const { page, running, says } = visit;
  await remember(running, WIFE);
  await remember(running, { label: "PREF.tools", value: "rg" });
  await remember(running, { label: "PREF.editor", value: "vim", ttl_s: 86_400 });
  await openMemory(page, running.url, running.key, "#user=ada");
  await factOf(page, "FAMILY.wife").waitFor();
  const before = await memoryOf(running);
  const rename = async (label: string, to: string) => {
    await page.getByRole("button", { name: `Rename ${label}` }).click();
    await page.getByRole("combobox", { name: `New label of ${label}` }).fill(to);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
  };
  await rename("FAMILY.wife", "PEOPLE.grace");
  await says("FAMILY.wife is PEOPLE.grace now.");
  await factOf(page, "PEOPLE.grace").getByText("What the wife is called").waitFor();
  await undo(page);
  await says("FAMILY.wife has its label again.");
  assert.deepEqual(await memoryOf(running), before);

  await rename("PREF.editor", "PREF.tools");
  await says(/PREF.tools has a fact: “rg”. Both can become a list/);
  assert.deepEqual(await memoryOf(running), before, "it asks first");
  await press(page, "Make a list of both");
  await factOf(page, "PREF.tools").getByText("rg; vim").waitFor();
  await factOf(page, "PREF.editor").waitFor({ state: "detached" });
  await undo(page);
  await says("PREF.editor and PREF.tools are two facts again.");
  assert.deepEqual(await memoryOf(running), before);

  await page.getByRole("button", { name: "Rename PREF.tools" }).click();
  await page.keyboard.press("Escape");
  const button = page.getByRole("button", { name: "Rename PREF.tools" });
  assert.ok(await button.evaluate((element) => element === document.activeElement));
});

for (const history of ["10", "0"]) {
  visit(
    `what is added, changed or forgotten is undone, with its end, where ${history} earlier values are kept`,
    async ({ page, running, says }) => {
      await remember(running, WIFE);
      await remember(running, { label: "PREF.tone", value: "calm", ttl_s: 86_400 });
      await openMemory(page, running.url, running.key, "#user=ada");
      await factOf(page, "FAMILY.wife").waitFor();
      const before = await memoryOf(running);
      const isUndone = async (said: string) => {
        await undo(page);
        await says(said);
        assert.deepEqual(await memoryOf(running), before, said);
      };
      await press(page, "Add a fact");
      await chooseLabel(page, "USER.os");
      await page.getByLabel("Value of USER.os").fill("Plan 9");
      await press(page, "Remember it");
      await says("USER.os is remembered.");
      await isUndone("USER.os is not remembered any more.");

      await page.getByRole("button", { name: "Edit PREF.tone" }).click();
      await page.getByLabel("Value of PREF.tone").fill("loud");
      await page.getByLabel("Ends").selectOption({ label: "never" });
      await press(page, "Save");
      await says("PREF.tone is changed.");
      await isUndone("PREF.tone is as it was.");

      await page.getByRole("button", { name: "Forget FAMILY.wife" }).click();
      await says(/FAMILY.wife is forgotten/);
      await isUndone("FAMILY.wife is back.");

      // What somebody has changed meanwhile is not overwritten.
      await page.getByRole("button", { name: "Edit PREF.tone" }).click();
      await page.getByLabel("Value of PREF.tone").fill("loud");
      await press(page, "Save");
      await says("PREF.tone is changed.");
      await remember(running, { label: "PREF.tone", value: "an agent's" });
      await factOf(page, "PREF.tone").getByText("an agent's").waitFor();
      await undo(page);
      await page.locator(".toast [role=alert]").waitFor();
      assert.match((await memoryOf(running)).join("\n"), /PREF.tone\|an agent's/);
    },
    { settings: { SIDEBAND_HISTORY: history } },
  );
}
