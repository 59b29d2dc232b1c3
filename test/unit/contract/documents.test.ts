/** docs/ERRORS.md, API.md and CONFIG.md say what the code does: every entry of every table, no other. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ERRORS } from "../../../src/base/error-codes.ts";
import { TIER_LIMITS, TIERS } from "../../../src/base/tiers.ts";
import { ConfigError, readConfig, SETTINGS } from "../../../src/config.ts";
import type { Operation } from "../../../src/contract/operation.ts";
import { OPERATIONS } from "../../../src/contract/operations.ts";

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const rows = (text: string, pattern: RegExp) => text.split("\n").filter((line) => pattern.test(line));

test("docs/ERRORS.md has the table of errors, word for word", () => {
  const expected = Object.entries(ERRORS).map(
    ([code, { status, title, meaning }]) => `| ${status} | \`${code}\` | ${title} | ${meaning} |`,
  );
  assert.deepEqual(rows(read("ERRORS.md"), /^\| \d{3} \|/), expected);
});

test("docs/CONFIG.md has every setting with its default and meaning, and no other", () => {
  const expected = Object.entries(SETTINGS).map(
    ([name, { fallback, meaning }]) =>
      `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${meaning} |`,
  );
  assert.deepEqual(rows(read("CONFIG.md"), /^\| `SIDEBAND_/), expected);
});

test("docs/API.md lists every operation, and no other", () => {
  const expected = (Object.values(OPERATIONS) as Operation[]).map(({ method, path }) => `${method} ${path}`);
  const listed = rows(read("API.md"), /^\| `(GET|POST|DELETE) /).map((line) => /`([^`]+)`/.exec(line)?.[1]);
  assert.deepEqual(listed.sort(), expected.sort());
});

test("docs/API.md and docs/OPERATIONS.md name every tier, with its limit where they give limits", () => {
  const limits = TIERS.map((tier) => `${tier} ${TIER_LIMITS[tier]?.toLocaleString("en-US") ?? "none"}`);
  assert.ok(read("API.md").includes(`for each key: ${limits.join(", ")}.`));
  assert.ok(read("OPERATIONS.md").includes(`by tier of the account: ${TIERS.join(", ")}, demo, owner`));
});

test("a setting that is unknown or out of range stops the start and is named", () => {
  const config = readConfig(
    {},
    { PATH: "/bin", SIDEBAND_PORT: "0", SIDEBAND_TRUST_PROXY: "10.0.0.0/8, ::1" },
  );
  assert.equal(config.port, 0);
  assert.deepEqual(config.trustProxy, ["10.0.0.0/8", "::1"]);
  assert.ok(Object.isFrozen(config));
  assert.throws(() => readConfig({}, { SIDEBAND_PROT: "1" }), /unknown setting SIDEBAND_PROT/);
  const wrong = {
    SIDEBAND_PORT: ["", "-1", "65536", "80a", "1e3"],
    SIDEBAND_WORKERS: ["0", "129"],
    SIDEBAND_DEMO: ["yes"],
    SIDEBAND_TRUST_PROXY: ["anyone"],
    SIDEBAND_LOG_LEVEL: ["loud"],
    SIDEBAND_PUBLIC_URL: ["example.org", "ftp://x"],
    SIDEBAND_ADMIN_TOKEN: ["short"],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const started = () => readConfig({}, { [name]: value });
      assert.throws(
        started,
        (error: Error) => error instanceof ConfigError && error.message.startsWith(name),
      );
    }
  }
});
