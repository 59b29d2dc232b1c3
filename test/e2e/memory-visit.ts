/** What a test does on the memory page, and what another writer does meanwhile. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import type { Receipt } from "../../src/contract/answers.ts";
import type { Running } from "../http/running-service.ts";

export async function openMemory(page: Page, url: string, key: string, hash = ""): Promise<void> {
  await page.goto(`${url}/memory${hash}`);
  await page.getByLabel("Your key").fill(key);
  await page.keyboard.press("Enter");
}

export const factOf = (page: Page, label: string): Locator => page.locator(`[data-label="${label}"]`);
export const labelField = (page: Page) => page.getByRole("combobox", { name: "Label", exact: true });
/** Types a label and takes the first of what the list offers. */
export async function chooseLabel(page: Page, text: string): Promise<void> {
  await labelField(page).fill(text);
  await page.keyboard.press("Enter");
}

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

export async function remember(running: Running, fact: object, key = running.key): Promise<number> {
  const body = { user_id: "ada", written_by: "claude-code", details: true, ...fact };
  const { status, json, text } = await running.call("POST", "/encode", { key, body });
  assert.equal(status, 200, text);
  return json.revision;
}

/** What is in the file that a page gives out after an erasure. */
export async function savedReceipt(page: Page, user: string): Promise<Receipt> {
  const [saved] = await Promise.all([page.waitForEvent("download"), press(page, "Save the receipt")]);
  assert.match(saved.suggestedFilename(), new RegExp(`^receipt-${user}-20.*\\.json$`));
  return JSON.parse(readFileSync(await saved.path(), "utf8"));
}
