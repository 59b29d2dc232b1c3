/**
 * How every page looks and whom it shuts out: axe-core finds nothing, nothing is wider than a phone, light and dark.
 * With TEST_PICTURES=1 every page is looked at in all four looks, and the screenshots are put into test/output.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { packageFolder } from "../agents/built.ts";
import { MEMORY_LOOKS, openMemory } from "./memory-looks.ts";
import { PHONE_WIDTHS, sidewaysScrollers } from "./sideways.ts";
import { ADMIN_TOKEN, DESK, OUTPUT, PHONE, type Visit, visit } from "./visit.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const STYLE = join(packageFolder, "src", "web", "style");

/** Half of the processor time of a look, so that it is done for those who want to see it. */
const TAKES_PICTURES = process.env.TEST_PICTURES === "1";

const LAPTOP = { width: 1024, height: 700 };

const SIZES = { desk: DESK, phone: PHONE } as const;
/** Each page in both sizes and both schemes. Every other page has the other pairs, so that what pages share has all four. */
const LOOKS = [
  [["desk", "light"] as const, ["phone", "dark"] as const],
  [["desk", "dark"] as const, ["phone", "light"] as const],
];

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
    const post = (path: string, body: object) => running.call("POST", path, { key, body });
    await post("/channels", {
      label: "SHIP.size",
      description: "How large the ship is",
      one_of: ["S", "M", "L"],
    });
    await post("/channels", {
      label: "SHIP.port",
      description: "Where it lies",
      scope: "project",
      hidden: true,
    });
    await post("/encode", { user_id: "grace", label: "USER.name", value: "Grace" });
    for (const project of ["loom", "loom/gate", "harbour"])
      await post("/encode", { user_id: "ada", label: "TASK.next", value: "x", project });
    const share = (project: string, terms: object) =>
      running.call("PUT", `/projects/${project}`, { key, body: { shared: true, ...terms } });
    await share("harbour", { access: "read" });
    await share("loom", { members: ["ada", "grace"] });
    const ofAda = { user_id: "ada", project: "loom" };
    await post("/encode", { ...ofAda, label: "PROJ.stack", value: "Rust" });
    await post("/encode", { ...ofAda, label: "PROJ.goal", value: "A loom for everyone", scope: "own" });
    await open("/account");
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await says("6 of 50,000");
    await says("2 users of navy");
    await page.getByText("The 40 standard labels").click();
    await page.getByRole("button", { name: "Hide USER.os" }).click();
    await says("The 40 standard labels, 1 hidden");
    await page.getByRole("button", { name: "Change loom" }).click();
    await page.getByLabel(/^Take along/).fill("ada");
    await page.getByRole("button", { name: "Show what would be shared" }).click();
    await says(/These facts of ada become the team's/);
  },
  ...MEMORY_LOOKS,
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
    // No request of a client makes the service fail, so that an error is put into its answer.
    await page.route("**/admin/status", async (route) => {
      const response = await route.fetch();
      const status = await response.json();
      const { account, key_id, ...failed } = status.recent_requests[0];
      status.recent_errors = [{ ...failed, status: 503, code: "store_unavailable" }];
      await route.fulfill({ response, json: status });
    });
    await running.call("PUT", "/projects/loom", { key, body: { shared: true, members: ["grace", "ada"] } });
    await open("/console");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByLabel("Account", { exact: true }).last().fill("kernel");
    await page.getByRole("button", { name: "Approve" }).last().click();
    await says(/The account kernel exists/);
    await page.getByRole("button", { name: "Approve" }).first().click();
    await says(/shown only once/);
    await page.getByText("Decided", { exact: true }).click();
    await page.getByText("The same as a table").click();
    await page.locator("#accounts").getByRole("combobox", { name: "Account" }).selectOption("kernel");
    await says("1 user of kernel");
    await says("1 shared project of kernel");
    await says("store_unavailable");
  },
  benchmarks: ({ open }) => open("/benchmarks"),
  "nothing-here": async ({ open, says }) => {
    await open("/no/such/page");
    await says("There is nothing at this address");
  },
  docs: ({ open }) => open("/docs"),
  "docs-search": async ({ page, open, says }) => {
    await open("/docs/format");
    await page.getByRole("searchbox").fill("flush");
    await says(/\d+ sections/);
  },
  guide: ({ open }) => open("/docs/architecture"),
  "guide-format": ({ open }) => open("/docs/format"),
  "guide-agent": ({ open }) => open("/docs/agents/mcp"),
  "guide-errors": ({ open }) => open("/docs/errors"),
  decisions: ({ open }) => open("/docs/decisions"),
  reference: async ({ page, open }) => {
    await open("/docs/api/encode");
    await page.getByRole("button", { name: "Try it" }).click();
  },
  calls: ({ open }) => open("/docs/api"),
};

for (const [index, [name, show]] of Object.entries(SCENES).entries()) {
  visit(
    `${name}, on desk and phone, light and dark: axe finds nothing, and nothing is wider than the screen`,
    async (visit) => {
      const { page } = visit;
      await show(visit);
      if (TAKES_PICTURES) {
        for (const [size, colorScheme] of LOOKS.flat()) {
          await page.setViewportSize(SIZES[size]);
          await page.emulateMedia({ colorScheme });
          await takePicture(page, `${name}-${size}-${colorScheme}`);
        }
      }
      await page.evaluate(AXE);
      const looks = TAKES_PICTURES ? LOOKS.flat() : LOOKS[index % 2];
      for (const [turn, [size, colorScheme]] of looks.entries()) {
        await page.emulateMedia({ colorScheme });
        const look = `${name}-${size}-${colorScheme}`;
        for (const width of size === "phone" ? PHONE_WIDTHS : [DESK.width]) {
          await page.setViewportSize({ ...SIZES[size], width });
          assert.deepEqual(await sidewaysScrollers(page, size === "phone"), [], `${look}, ${width}`);
        }
        assert.deepEqual(await faintTexts(page), [], look);
        // Colours apart, a page is much the same in all looks: it has one of them, and all pages together have all four.
        if (TAKES_PICTURES || turn === (index >> 1) % 2) assert.deepEqual(await violations(page), [], look);
      }
    },
  );
}

test("dark changes colours alone: whatever has room in light has room in dark", () => {
  const sheets = readdirSync(STYLE).map((name) => readFileSync(join(STYLE, name), "utf8"));
  const dark = sheets.flatMap((css) => css.split(/@media[^{]*color-scheme[^{]*/).slice(1));
  assert.equal(dark.length, 1);
  assert.match(dark[0], /^\{\s*:root \{(\s*--[a-z0-9-]+: #[0-9a-f]{6};)+\s*\}\s*\}/);
});

const LONG = "w".repeat(140);
/** The pages whose values come from outside, each with values that have no space where a line could break. */
const LONG_VALUES: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  memory: async (visit) => {
    const { page, running, says } = visit;
    const user_id = LONG.slice(0, 128);
    const project = `${LONG.slice(0, 100)}/${LONG.slice(0, 100)}`;
    const label = `${"W".repeat(16)}.${LONG.slice(0, 48)}`;
    await running.call("POST", "/channels", { body: { label, description: LONG } });
    for (const value of [LONG, `${LONG} ${LONG}`]) {
      const facts = [label, "USER.name", "PREF.response_style", "PROJ.constraint"].map((name) => ({
        label: name,
        value,
      }));
      const body = { user_id, project, facts, written_by: LONG.slice(0, 64) };
      assert.equal((await running.call("POST", "/encode/batch", { body })).status, 200);
    }
    const hash = `#${new URLSearchParams({ user: user_id, project })}`;
    await openMemory(visit, hash);
    await page.getByText("The sealed block").click();
    await says(/% full/);
    await page.locator("#prompts summary").first().click();
    await page.getByRole("button", { name: `History of ${label}` }).click();
    await says("Write it again");
    await page.getByRole("button", { name: "Edit USER.name" }).click();
    await page.getByRole("button", { name: "Forget PREF.response_style" }).click();
    await says(/is forgotten/);
    const text = `${label}=${LONG} x\nPREF.tone=${LONG}\n${LONG}${LONG}`;
    const file = { name: `${LONG}.md`, mimeType: "text/markdown", buffer: Buffer.from(text) };
    await page.locator("input[type=file]").setInputFiles(file);
    await says(/^It is text: /);
  },
  account: async ({ page, running, open, says }) => {
    const account = LONG.slice(0, 64);
    const key = await running.newKey(account, "pro");
    const post = (path: string, body: object) => running.call("POST", path, { key, body });
    const label = `${"W".repeat(16)}.${LONG.slice(0, 48)}`;
    await post("/channels", { label, description: LONG, one_of: [LONG.slice(0, 64), "x"] });
    const project = `${LONG.slice(0, 100)}/${LONG.slice(0, 100)}`;
    await post("/encode", { user_id: LONG.slice(0, 128), label: "TASK.next", value: "x", project });
    await open("/account");
    await page.getByLabel("Your key").fill(key);
    await page.keyboard.press("Enter");
    await says(/1 user of/);
    await page.getByRole("button", { name: `Hide ${label}` }).waitFor();
  },
  playground: async (visit) => {
    await showPlayground(visit);
    await visit.page.getByLabel("What the user is called").fill(LONG.slice(0, 120));
    await visit.page.getByRole("button", { name: "Write" }).click();
    await visit.page.locator(".facts").getByText(LONG.slice(0, 120)).waitFor();
    const heights = await visit.page
      .locator(".board .name")
      .evaluateAll((names) => new Set(names.map((name) => name.getBoundingClientRect().height)).size);
    assert.equal(heights, 1, "every name of the board stands in one line");
  },
  console: async ({ page, running, open, says }) => {
    const account = LONG.slice(0, 64);
    const key = await running.newKey(account, "pro");
    await running.service.core.keys.create({ account, tier: "free", note: LONG });
    const headers = { "x-request-id": LONG.slice(0, 64) };
    await running.call("GET", "/facts?user_id=ada", { key, headers });
    const body = { name: LONG.slice(0, 100), email: `${LONG}@navy.example`, purpose: LONG };
    for (const status of [202, 202])
      assert.equal((await running.call("POST", "/key-requests", { key: null, body })).status, status);
    await page.route("**/admin/status", async (route) => {
      const response = await route.fetch();
      const status = await response.json();
      const { account: _, key_id, ...failed } = status.recent_requests[0];
      status.recent_errors = [{ ...failed, status: 503, code: "store_unavailable" }];
      await route.fulfill({ response, json: status });
    });
    // The service writes down the last use of a key only now and then.
    await page.route("**/admin/keys", async (route) => {
      const response = await route.fetch();
      const { keys } = await response.json();
      const used = keys.map((view: object) => ({ ...view, last_used_at: "2026-11-16T08:16:00.378Z" }));
      await route.fulfill({ response, json: { keys: used } });
    });
    await open("/console");
    await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Approve" }).first().click();
    await says(/shown only once/);
    await page.getByText("Decided", { exact: true }).click();
    await says("store_unavailable");
  },
};

for (const [name, show] of Object.entries(LONG_VALUES)) {
  visit(`${name}: a long value without a space pushes nothing off the screen`, async (visit) => {
    const { page } = visit;
    await show(visit);
    for (const viewport of [DESK, LAPTOP, PHONE]) {
      await page.setViewportSize(viewport);
      const look = `${name}-long-${viewport.width}`;
      await takePicture(page, look);
      assert.deepEqual(await sidewaysScrollers(page, true), [], look);
      assert.deepEqual(await outsideTheirCard(page), [], look);
    }
  });
}

/** As PNG it takes twice the time. */
async function takePicture(page: Page, look: string): Promise<void> {
  if (TAKES_PICTURES) await page.screenshot({ path: join(OUTPUT, `${look}.jpg`), fullPage: true });
}

/** What ends further right than the card that it stands in, but for what scrolls within it. */
function outsideTheirCard(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll(".card *")]
      .filter((element) => element.checkVisibility() && element.closest("pre, svg, .chart") === null)
      .filter(
        (element) =>
          element.getBoundingClientRect().right > element.closest(".card")!.getBoundingClientRect().right ||
          // Text that flows out of its box has no rectangle of its own.
          (element.scrollWidth > element.clientWidth &&
            getComputedStyle(element).display === "block" &&
            getComputedStyle(element).overflowX === "visible"),
      )
      .map(
        ({ localName, className, textContent }) => `${localName}.${className} ${textContent?.slice(0, 30)}`,
      ),
  );
}

async function showPlayground({ open, says }: Visit): Promise<void> {
  await open("/playground");
  await says("TASK.deadline=2026-12-01");
}

/** What axe, which the page has loaded, finds by all of its rules but for the contrast of texts. */
function violations(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = window as unknown as AxeWindow;
    const rules = { "color-contrast": { enabled: false } };
    const found = await axe.run(document, { resultTypes: ["violations"], selectors: false, rules });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`),
    );
  });
}

/**
 * The texts that axe finds too faint. Of those that are alike it is asked for the first: it looks at every layer behind
 * a text, which takes most of its time.
 */
function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const { axe } = window as unknown as AxeWindow;
    const kinds = new Map<Element | null, string>();
    const first = new Map<string, Element>();
    for (const element of document.querySelectorAll("body, body *")) {
      const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight } =
        getComputedStyle(element);
      // A kind is all of what is behind a text as well.
      const kind = `${kinds.get(element.parentElement)} ${backgroundColor} ${backgroundImage} ${opacity}`;
      const tag = `${element.localName} ${element.className} ${element.matches(":disabled")}`;
      kinds.set(element, kind);
      const key = `${tag} ${color} ${fontSize} ${fontWeight} ${kind}`;
      // Whoever is asked for is looked at with all that is inside.
      const hasText = [...element.childNodes].some(
        ({ nodeType, nodeValue }) => nodeType === 3 && nodeValue?.trim(),
      );
      const isAsked = (hasText || element.matches("input, textarea, select")) && element.checkVisibility();
      if (isAsked && !first.has(key)) first.set(key, element);
    }
    const found = await axe.run([...first.values()], { runOnly: ["color-contrast"], selectors: false });
    return found.violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 200)));
  });
}

interface AxeWindow {
  readonly axe: {
    run(where: unknown, options: object): Promise<{ violations: readonly AxeViolation[] }>;
  };
}

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}
