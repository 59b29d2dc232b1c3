/**
 * How every page looks and whom it shuts out: axe-core finds nothing, nothing is wider than a phone, light and dark.
 * The screenshots stay in test/output to be looked at.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ADMIN_TOKEN, DESK, OUTPUT, PHONE, type Visit, visit } from "./visit.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const LOOKS = [
  { size: "desk", viewport: DESK, colorScheme: "light" },
  { size: "desk", viewport: DESK, colorScheme: "dark" },
  { size: "phone", viewport: PHONE, colorScheme: "light" },
  { size: "phone", viewport: PHONE, colorScheme: "dark" },
] as const;

/** Each page as a visitor has it after a moment: with something in it. */
const SCENES: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  home: async ({ page, open, says }) => {
    await open("/");
    await says("Read back exactly");
    await page.getByRole("slider").fill("40");
    await page.locator(".words .lost").first().waitFor();
  },
  playground: async (visit) => {
    await showPlayground(visit);
    await visit.says(/facts read, exactly/);
    await visit.page.getByRole("button", { name: "Ask the server" }).click();
    await visit.says("The server agrees");
  },
  "playground-refused": async (visit) => {
    await showPlayground(visit);
    await visit.page.getByLabel("Replace random words").check();
    await visit.page.getByRole("slider").fill("80");
    await visit.says("Sideband never guesses.");
  },
  keys: async ({ open, page }) => {
    await open("/keys");
    await page.getByLabel("Your name").waitFor();
  },
  account: async ({ page, running, open, says }) => {
    const key = await running.newKey("navy", "pro");
    const facts = [
      { label: "USER.name", value: "Grace Hopper" },
      {
        label: "PREF.response_style",
        value: "A nanosecond is this long: first the wire, then the words about it",
      },
    ];
    await running.call("POST", "/encode/batch", { key, body: { user_id: "grace", facts } });
    await open("/account");
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByLabel("User id").fill("grace");
    await page.keyboard.press("Enter");
    await says("2 facts of grace");
  },
  "console-sign-in": async ({ page, open }) => {
    await open("/console");
    await page.getByLabel("Admin token").waitFor();
  },
  console: async ({ page, running, open, says }) => {
    for (const name of ["Grace", "Ada"]) {
      const body = {
        name,
        email: `${name.toLowerCase()}@navy.example`,
        purpose: "To remember things.",
        tier: "pro",
      };
      await running.call("POST", "/key-requests", { key: null, body });
    }
    const key = await running.newKey("kernel", "builder");
    for (let i = 0; i < 12; i++) {
      await running.call("POST", "/encode", {
        key,
        body: { user_id: "u", label: "USER.name", value: `v${i}` },
      });
    }
    await open("/console");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByLabel("Account", { exact: true }).last().fill("kernel");
    await page.getByRole("button", { name: "Approve" }).last().click();
    await says(/The account kernel exists/);
    await page.getByRole("button", { name: "Approve" }).first().click();
    await says(/shown only once/);
  },
  "nothing-here": async ({ open, says }) => {
    await open("/no/such/page");
    await says("There is nothing at this address");
  },
  docs: ({ open }) => open("/docs"),
  "docs-search": async ({ page, open, says }) => {
    await open("/docs/format");
    await page.getByRole("searchbox").fill("flush");
    await says(/sections found/);
  },
  guide: ({ open }) => open("/docs/architecture"),
  "guide-format": ({ open }) => open("/docs/format"),
  "guide-agent": ({ open }) => open("/docs/agents/mcp"),
  "guide-errors": ({ open }) => open("/docs/errors"),
  decisions: ({ open }) => open("/docs/decisions"),
  reference: async ({ page, open }) => {
    await open("/docs/api");
    await page.locator("#encode").getByText("Fields and errors").click();
    await page.locator("#demoEncode").getByRole("button", { name: "Try it" }).click();
  },
};

for (const [name, show] of Object.entries(SCENES)) {
  visit(
    `${name}, on desk and phone, light and dark: axe finds nothing, and nothing is wider than the screen`,
    async (visit) => {
      const { page } = visit;
      await show(visit);
      for (const { size, viewport, colorScheme } of LOOKS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const look = `${name}-${size}-${colorScheme}`;
        await page.screenshot({ path: join(OUTPUT, `${look}.png`), fullPage: true });
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(excess <= 0, `${look}: ${excess} pixels too wide`);
        assert.deepEqual(await violations(page), [], look);
      }
    },
  );
}

async function showPlayground({ open, says }: Visit): Promise<void> {
  await open("/playground");
  await says("TASK.deadline=2026-12-01");
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    const found = await axe.run();
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
    );
  });
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
