/**
 * The customer's page of examples/support-chat in a real browser, with a service of its own: live by a short-lived token,
 * which is renewed; what the customer may change; and the erasure.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { builtSideband, packageFolder } from "../agents/built.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { closedPort } from "../unit/sdk/scripted-server.ts";
import { sharedBrowser } from "./chromium.ts";

const CUSTOMERS = ["ada", "grace"];

async function startChat(url: string, { url: SIDEBAND_API_URL, key: SIDEBAND_API_KEY, folder }: Running) {
  builtSideband();
  const data = join(folder, "support-data");
  const env = { SIDEBAND_API_URL, SIDEBAND_API_KEY, PORT: new URL(url).port, SUPPORT_DATA: data };
  const script = join(packageFolder, "examples", "support-chat", "server.mjs");
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  assert.equal(child.exitCode, null, "the example has started");
  const end = async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { data, end };
}

async function openPage(url: string, name: string, faults: string[]): Promise<Page> {
  const context = await (await sharedBrowser())!.newContext();
  context.setDefaultTimeout(60_000);
  context.on("weberror", (error) => void faults.push(String(error.error())));
  const page = await context.newPage();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.goto(url);
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  return page;
}

/** Waits until the field of a fact has a value. */
const shows = (page: Page, label: string, value: string) =>
  page.waitForFunction(
    ([id, wanted]) => (document.getElementById(id) as HTMLInputElement | null)?.value === wanted,
    [label, value] as const,
  );

test("a customer's page is live by its token, changes what the customer may, and erases", async (t) => {
  const browser = await sharedBrowser();
  if (browser === undefined) {
    t.skip("no Chromium on this machine");
    return;
  }
  const url = await closedPort();
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
  const running = await startRunning({ SIDEBAND_ALLOWED_ORIGINS: url }, undefined, { warm: false, clock });
  const write = (user_id: string, label: string, value: string) =>
    running.call("POST", "/encode", { body: { user_id, label, value } });
  const factsOf = async (user: string) =>
    (await running.call("GET", `/facts?user_id=${user}`)).json.facts.map(
      ({ label, value, written_by }: Record<string, string>) => [label, value, written_by],
    );
  const chat = await startChat(url, running);
  const faults: string[] = [];
  const [ada, grace] = await Promise.all(CUSTOMERS.map((name) => openPage(url, name, faults)));
  try {
    await shows(ada, "PLAN.tier", "trial");
    assert.equal(await ada.getByLabel("PLAN.tier").isEditable(), false);
    assert.equal(
      await ada.getByLabel("TICKET.open").count(),
      0,
      "what is not theirs to write, and not there",
    );

    await ada.getByLabel("CUSTOMER.language").fill("Dutch");
    await ada.getByLabel("CUSTOMER.language").press("Enter");
    await ada.getByText("CUSTOMER.language is saved.").waitFor();
    await ada.getByLabel("Message").fill("My name is Ada.");
    await ada.getByRole("button", { name: "Send" }).click();
    await ada.getByText("Support: I have made a note of it.").waitFor();
    await shows(ada, "CUSTOMER.name", "Ada");
    assert.deepEqual(await factsOf("ada"), [
      ["CUSTOMER.name", "Ada", "assistant"],
      ["CUSTOMER.language", "Dutch", "customer"],
      ["PLAN.tier", "trial", "shop"],
    ]);

    await write("ada", "PLAN.tier", "gold");
    await shows(ada, "PLAN.tier", "gold");
    // What another has written meanwhile is not written over: here the page cannot have heard of it.
    await ada.getByLabel("CUSTOMER.name").fill("Countess");
    await ada.context().setOffline(true);
    await write("ada", "CUSTOMER.name", "Ada King");
    await ada.context().setOffline(false);
    await ada.getByLabel("CUSTOMER.name").press("Enter");
    await ada.getByText("Not saved: CUSTOMER.name is “Ada King” by now.").waitFor();

    // The token has ended: the page gets another.
    clock.aheadMs = 16 * 60_000;
    await ada.context().setOffline(true);
    await ada.getByText("not connected").waitFor();
    await ada.context().setOffline(false);
    await ada.getByText("live", { exact: true }).waitFor();
    await write("ada", "ORDER.last", "A-17");
    await shows(ada, "ORDER.last", "A-17");

    await ada.getByRole("button", { name: "Erase everything about me" }).click();
    await ada.getByText(/^Erased: 4 facts, 20/).waitFor();
    assert.deepEqual(await factsOf("ada"), []);
    assert.equal(readdirSync(join(chat.data, "receipts")).length, 1);
    await ada.reload();
    await ada.getByLabel("Your name").waitFor({ state: "visible" });

    await shows(grace, "PLAN.tier", "trial");
    assert.equal(await grace.getByText("Ada").count(), 0);
    assert.deepEqual(faults, []);
  } finally {
    await Promise.all([ada, grace].map((page) => page.context().close()));
    await chat.end();
    await running.end();
  }
});
