/** The front page: a live block that is built, cut and read in the browser, also by keyboard alone. */

import assert from "node:assert/strict";
import { visit } from "./visit.ts";

visit("the front page builds a block in the browser and reads it back", async ({ page, open, says }) => {
  await open("/");
  await says("Read back exactly: Ada Okafor · RTX 5090 · Group commit for the store · No fact lost");
  await page.getByLabel("USER.gpu").fill("Zwei RTX 5090 für Öle 🐝");
  await says("Zwei RTX 5090 für Öle 🐝 ·");
  const carriers = await page.locator(".legend small").allTextContents();
  assert.equal(
    carriers.reduce((sum, text) => sum + Number(text), 0),
    512,
  );
});

visit(
  "a fact may be as long as in the demo; a longer one is named, not cut",
  async ({ page, open, says }) => {
    await open("/");
    const longest = "Öle und ".repeat(20).slice(0, 114);
    assert.equal(Buffer.byteLength(longest), 128 + 1);
    await page.getByLabel("USER.gpu").fill(longest);
    await says(
      "USER.gpu has 129 bytes, and the demo takes at most 128. It is not in the block. Nothing was cut.",
    );
    await says("Read back exactly: Ada Okafor · Group commit for the store · No fact lost");
    await page.getByLabel("USER.gpu").fill(longest.slice(0, -1));
    await says(`Read back exactly: Ada Okafor · ${longest.slice(0, -1)} · Group commit`);
  },
);

visit("with 70 % cut away the block still reads, with 98 % it is refused", async ({ page, open, says }) => {
  await open("/");
  const slider = page.getByRole("slider");
  await slider.fill("70");
  await says("Cut away the first 358 of 512 words");
  await says("Read back exactly: Ada Okafor");
  await slider.fill("98");
  await says("Refused: too few words are left to be sure");
});

visit("the slider and the links work by keyboard", async ({ page, open, says }) => {
  await open("/");
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(":focus").textContent(), "Skip to content");
  await page.keyboard.press("Enter");
  await page.getByRole("slider").focus();
  await page.keyboard.press("End");
  await says("Refused");
  await page.keyboard.press("Home");
  await says("Read back exactly");
});
