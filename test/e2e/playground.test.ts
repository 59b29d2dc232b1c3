/** The playground on a sandbox of the demo: facts, block, spectrum, calls, damage bench, and what can go wrong. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PHONE, type Visit, visit } from "./visit.ts";

/** In the page's address a sandbox is opened as it is, without the example. */
const SANDBOX = "abc";
const FACTS = [
  ["USER.name", "Ada Okafor"],
  ["PREF.tone", "trocken, freundlich"],
  ["PROJ.goal", "No fact lost when a context is compacted"],
] as const;

visit(
  "a fact that is written appears on the board, in the index and in a block of 512 words",
  async (visit) => {
    const { page, running, open, says } = visit;
    await open(`/playground#sandbox=${SANDBOX}`);
    await says("No facts yet");
    await page.getByRole("combobox", { name: "Channel" }).selectOption("USER.gpu");
    await page.getByPlaceholder("RTX 5090").fill("RTX 6000 = schnell");
    await page.keyboard.press("Enter");
    await says("USER.gpu=RTX 6000 = schnell");
    await page.getByRole("button", { name: "gpu RTX 6000 = schnell" }).waitFor();
    const words = await page.getByLabel("The block's 512 words").textContent();
    const { json } = await running.call("GET", `/demo/context?sandbox=${SANDBOX}`, { key: null });
    assert.equal(words?.trim(), json.fdm_block);
    assert.equal(words?.trim().split(" ").length, 514);
    assert.match((await page.locator(".figures").textContent()) ?? "", /1 fact.*512 tokens/);
    await page.getByRole("button", { name: /^Seal 10/ }).waitFor();
    const carriers = await page.locator(".legend small").allTextContents();
    assert.equal(
      carriers.reduce((sum, text) => sum + Number(text), 0),
      512,
    );
    assert.ok(await hasInk(visit), "the spectrum is drawn");
  },
);

visit(
  "a sandbox is shared by its address: what others write appears, and the next reset is shown",
  async ({ page, running, open, says }) => {
    await page.clock.install();
    await open(`/playground#sandbox=${SANDBOX}`);
    await says(/its facts are deleted in \d+ (h|min|s)/);
    await running.call("POST", `/demo/encode?sandbox=${SANDBOX}`, {
      key: null,
      body: { label: "TASK.owner", value: "Somebody else" },
    });
    await page.clock.runFor(16_000);
    await says("TASK.owner=Somebody else");
    await page.getByRole("button", { name: "Delete all now" }).click();
    await says("No facts yet");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await says("TASK.deadline=2026-12-01");
  },
  { browser: {} },
);

visit("it opens with an example, in a sandbox of its own that a reload finds again", async (visit) => {
  const { page, running, says } = visit;
  await running.call("POST", "/demo/encode", { key: null, body: { label: "USER.name", value: "Of all" } });
  await page.goto(`${running.url}/playground`);
  await says("TASK.deadline=2026-12-01");
  assert.match(page.url(), /#sandbox=[0-9a-f]{3}$/);
  await page.getByRole("button", { name: "Delete all now" }).click();
  await says("No facts yet");
  await page.reload();
  await says("No facts yet");
  const { json } = await running.call("GET", "/demo/context", { key: null });
  assert.equal(json.plain_index, "USER.name=Of all");
});

visit("each action shows its call, and the shown command does the same", async ({ page, open, says }) => {
  await open(`/playground#sandbox=${SANDBOX}`);
  const shown = page.locator(".last-call pre");
  await page.getByPlaceholder("Ada Okafor").fill("O'Hara = Ada");
  await page.getByRole("button", { name: "Write" }).click();
  await says("USER.name=O'Hara = Ada");
  const command = (await shown.first().textContent()) ?? "";
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  assert.deepEqual(JSON.parse(stdout), JSON.parse((await shown.last().textContent()) ?? ""));
  await page.getByRole("button", { name: "Decode USER.name" }).click();
  await shown.getByText('"source": "state"').waitFor();
  await page.getByRole("button", { name: "Decode with the model" }).click();
  await shown.getByText('"verified": true').waitFor();
  assert.match((await shown.first().textContent()) ?? "", /use_model=true/);
  await page.getByRole("button", { name: "Flush" }).click();
  await shown.getByText('"lossless": true').waitFor();
  await page.getByRole("button", { name: "Delete USER.name" }).click();
  await says("No facts yet");
  assert.match((await shown.first().textContent()) ?? "", /^curl -s -X DELETE /);
  await page.getByRole("button", { name: "Decode USER.name" }).click();
  await page.getByRole("alert").waitFor();
});

visit(
  "the damage bench: cuts are read as on the server, too much is refused, every kind of damage is read, on a phone in sight",
  async (visit) => {
    await writeFacts(visit);
    await visit.open(`/playground#sandbox=${SANDBOX}`);
    await readsWhatIsCut(visit);
    await refusesWhatIsTooDamaged(visit);
    await readsEveryKindOfDamage(visit);
    await showsVerdictOnPhone(visit);
  },
);

/** With 70 % of its words cut the block reads in the browser as on the server. */
async function readsWhatIsCut({ page, running, says }: Visit): Promise<void> {
  for (const kind of ["Cut the end", "Cut the beginning", "Cut the middle"]) {
    await page.getByLabel(kind).check();
    await page.getByRole("slider").fill("70");
    await page.waitForFunction(
      () => document.querySelector(".bench textarea")?.textContent?.split(" ").length !== 514,
    );
    await page.waitForFunction(
      () =>
        document.querySelectorAll("table.facts tbody tr").length === 3 && document.querySelector(".word-map"),
    );
    const text = await page.locator(".bench textarea").inputValue();
    assert.equal(text.split(" ").length, 512 - Math.round(512 * 0.7) + 2);
    const { status, json } = await running.call("POST", `/demo/read?sandbox=${SANDBOX}`, {
      key: null,
      body: { block: text },
    });
    assert.equal(status, 200);
    const rows = await page
      .locator("table.facts tbody tr")
      .evaluateAll((all) => all.map((row) => [row.children[0].textContent, row.children[1].textContent]));
    assert.deepEqual(
      rows,
      json.facts.map(({ label, value }: { label: string; value: string }) => [label, value]),
    );
    assert.deepEqual(rows, FACTS);
    await says(
      `${json.missing} words were missing and ${json.wrong} wrong; ${json.guard_left} more may go missing.`,
    );
    await page.getByRole("button", { name: "Ask the server" }).click();
    await says("The server agrees: 3 facts");
  }
}

async function refusesWhatIsTooDamaged({ page, says }: Visit): Promise<void> {
  await page.getByLabel("Replace random words").check();
  await page.getByRole("slider").fill("90");
  await says("Sideband never guesses.");
  await page.getByRole("button", { name: "Ask the server" }).click();
  await says("The server agrees: the block cannot be read reliably.");
}

/** At a modest share; and the block can be retyped by hand. */
async function readsEveryKindOfDamage({ page, says }: Visit): Promise<void> {
  await page.getByRole("slider").fill("12");
  for (const kind of [
    "Delete random words",
    "Replace random words",
    "Delete, replace, insert",
    "Retype with typing errors",
  ]) {
    await page.getByLabel(kind).check();
    await page.locator(`.kinds label:has-text("${kind}") input:checked`).waitFor();
    await says("All 3 facts read, exactly.");
  }
  await page.getByRole("button", { name: "Undo the damage" }).click();
  await says("0 words were missing and 0 wrong");
  const copy = page.getByLabel(/The damaged copy/);
  const whole = await copy.inputValue();
  const words = whole.split(" ");
  await copy.fill(`Here is what I found: ${words.slice(100, 480).join("\n- ")} and that is all.`);
  await says(/edited by hand/);
  await says(/13\d words were missing and 0 wrong/);
  await copy.fill("nothing but prose");
  await says("No block in this text");
}

/** The verdict stands right below the slider. */
async function showsVerdictOnPhone({ page, says }: Visit): Promise<void> {
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "Undo the damage" }).click();
  await says(/facts read, exactly/);
  const slider = (await page.getByRole("slider").boundingBox())!;
  const verdict = (await page.locator(".bench-result .notice").first().boundingBox())!;
  assert.ok(verdict.y > slider.y && verdict.y - slider.y < 150, `${verdict.y - slider.y} pixels apart`);
}

visit(
  "too many requests are said to be too many, and the page goes on when it may",
  async ({ page, open, says }) => {
    await open(`/playground#sandbox=${SANDBOX}`);
    await says(/Too many requests/);
    await page.getByRole("button", { name: "Try again" }).waitFor();
  },
  { settings: { SIDEBAND_DEMO_RATE: "1" } },
);

visit(
  "where the demo is switched off, the page says how it is switched on",
  async ({ page, open, says }) => {
    await open("/playground");
    await says(/the demo is switched off here.*SIDEBAND_DEMO=1 npm start/s);
    await page.getByRole("button", { name: "Try again" }).waitFor();
  },
  { settings: { SIDEBAND_DEMO: "0" } },
);

visit("a server that is away is said to be away, and trying again works", async ({ page, open, says }) => {
  await page.route("**/demo/**", (route) => route.abort());
  await open(`/playground#sandbox=${SANDBOX}`);
  await says("The server cannot be reached.");
  await page.unroute("**/demo/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await says("No facts yet");
  await page.route("**/demo/encode?*", (route) => route.abort());
  await page.getByPlaceholder("Ada Okafor").fill("Ada");
  await page.getByRole("button", { name: "Write" }).click();
  await says("may have been done all the same");
});

visit("a value that the demo does not take is refused with its reason", async ({ page, open, says }) => {
  await open(`/playground#sandbox=${SANDBOX}`);
  await page.getByPlaceholder("Ada Okafor").fill("ä".repeat(100));
  await says("200 of at most 128 bytes: too long for the demo. Nothing was cut.");
  await page.getByRole("button", { name: "Write" }).click();
  await page.getByRole("alert").waitFor();
  await says(/128/);
});

async function writeFacts({ running }: Visit): Promise<void> {
  for (const [label, value] of FACTS) {
    const { status } = await running.call("POST", `/demo/encode?sandbox=${SANDBOX}`, {
      key: null,
      body: { label, value },
    });
    assert.equal(status, 200);
  }
}

/** Whether anything but the background was drawn. */
function hasInk({ page }: Visit): Promise<boolean> {
  return page
    .locator("canvas.spectrum")
    .first()
    .evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const { data } = (canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
      const colours = new Set<number>();
      for (let i = 0; i < data.length; i += 4)
        colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return colours.size > 4;
    });
}
