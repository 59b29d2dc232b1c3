/** What the pages compute: failures as texts, bands of a spectrum, the reference's rows, the console's words. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openApiDocument } from "../../../src/contract/openapi.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";
import { errorOf, SidebandError } from "../../../src/sdk/errors.ts";
import { keyState } from "../../../src/web/console/keys-section.tsx";
import { keyLetter } from "../../../src/web/console/new-key.tsx";
import { daysOf } from "../../../src/web/console/usage-section.tsx";
import { durationText } from "../../../src/web/parts/format.ts";
import { errorText } from "../../../src/web/parts/layout.tsx";
import { bandsOf } from "../../../src/web/parts/spectrum.tsx";
import { type Document, groupsOf, typeOf } from "../../../src/web/reference/openapi.ts";
import { escapeHtml, renderPage } from "../../../src/web/shell.ts";
import { SITE_PAGES } from "../../../src/web/site-pages.ts";
import { rowsOf } from "../../fixtures/fields.ts";

test("a failure says what happened, what was meant and how long to wait", () => {
  const away = (code: "connection_failed" | "outcome_unknown") =>
    errorText(new SidebandError("x", { code, status: 0 }));
  assert.equal(away("connection_failed"), "The server cannot be reached. Try again in a moment.");
  assert.match(
    away("outcome_unknown"),
    /^The server cannot be reached\. What you asked for may have been done/,
  );
  const answered = (status: number, body: unknown, waitS?: number) =>
    errorText(errorOf(status, new Headers(waitS === undefined ? {} : { "retry-after": `${waitS}` }), body));
  const problem = { detail: "There is no USER.nam.", hint: "USER.name", code: "unknown_label" };
  assert.equal(answered(400, problem), "There is no USER.nam. Did you mean USER.name?");
  const slow = { detail: "Slow down.", code: "rate_limited" };
  assert.equal(answered(429, slow, 75), "Slow down. Try again in 1 min 15 s.");
  assert.equal(answered(429, slow, 3601), "Slow down.");
  assert.equal(answered(502, "<p>a proxy's page</p>"), "The server answered 502.");
  assert.equal(errorText(new Error("The codec could not be loaded.")), "The codec could not be loaded.");
  const durations = [0, 59.6, 60, 3600 + 61].map(durationText);
  assert.deepEqual(durations, ["0 s", "1 min 0 s", "1 min 0 s", "1 h 1 min"]);
});

test("bands cover the carriers in use without a gap", () => {
  const layout = {
    directory: { start: 11, count: 4 },
    channels: [
      { channel: 3, start: 15, count: 6 },
      { channel: 39, start: 21, count: 2 },
      { channel: 40, start: 23, count: 1 },
      { channel: 255, start: 24, count: 1 },
    ],
    end: 25,
  };
  const bands = bandsOf(layout, (channel) => `C${channel}`);
  assert.deepEqual(rowsOf(bands, "name", "start", "end"), [
    ["Header", 0, 1],
    ["Seal", 1, 11],
    ["Directory", 11, 15],
    ["C3", 15, 21],
    ["C39", 21, 23],
    ["C40", 23, 24],
    ["C255", 24, 25],
  ]);
  assert.match(bands[4].paint, /^--proj-/);
  const colours = readFileSync(new URL("../../../src/web/style/theme.css", import.meta.url), "utf8");
  for (const { paint } of bands)
    assert.equal(colours.split(`${paint}:`).length, 3, `${paint} has a colour in light and in dark`);
});

test("the reference has each operation of the OpenAPI document once, with its fields and errors", () => {
  const document = openApiDocument({ version: "1", serverUrl: "http://x" }) as unknown as Document;
  const operations = groupsOf(document).flatMap((group) => group.operations);
  assert.deepEqual(operations.map(({ id }) => id).sort(), Object.keys(OPERATIONS).sort());
  const facts = operations.find(({ id }) => id === "facts")!;
  assert.ok(facts.answer.some(({ name }) => name === "facts[].label"));
  assert.ok(facts.errors.some(({ status, code }) => status === "403" && code === "key_revoked"));
  assert.ok(operations.every(({ errors }) => errors.every(({ code }) => code !== "")));
  assert.equal(typeOf({ anyOf: [{ type: "string" }, { type: "null" }] }), "string or null");
  assert.equal(typeOf({ items: { type: "string" } }), "list of strings");
});

test("the letter to a new holder has the key, a call that works when pasted, and where to read on", () => {
  const created = {
    key: "sb_live_x",
    id: "1",
    account: "navy",
    tier: "pro" as const,
    prefix: "sb_live_x",
    note: "",
    user: null,
    access: "write" as const,
    created_at: "2026-11-15T00:00:00.000Z",
    expires_at: "2027-01-31T23:59:59.000Z",
    revoked_at: null,
    last_used_at: null,
    groups: null,
    write: null,
  };
  const letter = keyLetter(created, "Grace", "https://sideband.example");
  assert.match(letter, /^Hello Grace,\n/);
  assert.match(letter, /It works until 2027-01-31\./);
  assert.match(letter, /curl https:\/\/sideband\.example\/encode -H "Authorization: Bearer sb_live_x"/);
  assert.match(keyLetter({ ...created, expires_at: null }, undefined, "x"), /^Hello,\n/);
  const reading = keyLetter({ ...created, user: "ada", access: "read" }, undefined, "https://x.example");
  assert.match(reading, /for the user ada alone\. It reads, and writes nothing\./);
  assert.match(reading, /curl "https:\/\/x\.example\/facts" -H/);
  assert.match(
    keyLetter({ ...created, user: "O'Brien" }, undefined, "x"),
    /-d '\{"label":"USER.name","value":"Ada"\}'/,
  );
  // A name is for the greeting: in the line for the shell, an apostrophe would end the text.
  assert.equal(keyLetter(created, "Conan O'Brien", "x").split("O'Brien").length, 2);
  assert.equal(keyState({ ...created, expires_at: null }, 0), "active");
  assert.equal(keyState(created, Date.parse("2027-02-01")), "expired");
  assert.equal(keyState({ ...created, revoked_at: "2026-11-16T00:00:00.000Z" }, 0), "revoked");
});

test("use of all keys adds up by day, that of one is its own", () => {
  const row = (key_id: string, count: number) => ({
    key_id,
    account: "a",
    tier: "free" as const,
    limit: 1000,
    used_this_month: count,
    days: [{ day: "2026-11-02", count }],
  });
  const usage = { from: "2026-11-01", to: "2026-11-30", keys: [row("a", 2), row("b", 5)] };
  assert.deepEqual(daysOf(usage, "all"), [{ day: "2026-11-02", count: 7 }]);
  assert.deepEqual(daysOf(usage, "b"), [{ day: "2026-11-02", count: 5 }]);
});

test("a page has its title, its place in the navigation, and nothing inline", () => {
  const page = SITE_PAGES.find(({ path }) => path === "/playground")!;
  const html = renderPage(page, (entry) => ({ url: `/assets/${entry}`, imports: ["/assets/chunk.js"] }));
  assert.match(html, /<title>Playground · Sideband<\/title>/);
  assert.match(html, /<a href="\/playground" aria-current="page">/);
  assert.match(html, /<link rel="modulepreload" href="\/assets\/chunk\.js">/);
  assert.equal(escapeHtml(`<a href="x">'&`), "&#60;a href=&#34;x&#34;&#62;&#39;&#38;");
});
