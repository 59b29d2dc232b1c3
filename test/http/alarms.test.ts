/** The dashboard and the alert rules use names that /metrics has, and each rule says what OPERATIONS.md says. */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { newDatabase } from "../postgres/server.ts";
import { databaseSettings, startPortless } from "./running-service.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const alerts = read("deploy/alerts.yaml");
const dashboard = read("deploy/grafana-dashboard.json");
/** What a histogram's samples are called, behind its name. */
const SAMPLE = /_(?:bucket|sum|count)$/;
const LAST_BACKUP = "sideband_backup_last_seconds";
let known: Set<string>;
/** Of a service that makes no backups. */
let withoutBackups: string;
/** Names of labels. */
let labels: Set<string>;

/** The metrics of a service of each kind, after a block was made. */
before(async () => {
  known = new Set();
  labels = new Set(["instance", "job"]);
  const backups = mkdtempSync(join(tmpdir(), "sideband-alarms-"));
  for (const settings of [{ SIDEBAND_BACKUP_DIR: backups }, databaseSettings(await newDatabase())]) {
    const running = await startPortless(settings);
    try {
      await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.name", value: "Ada" } });
      await running.call("GET", "/context?user_id=ada");
      const { text } = await running.call("GET", "/metrics", { key: null });
      for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm)) known.add(name);
      for (const [, name] of text.matchAll(/[{,](\w+)="/g)) labels.add(name);
      if (settings.SIDEBAND_BACKUP_DIR === undefined) withoutBackups = text;
    } finally {
      await running.end();
    }
  }
  rmSync(backups, { recursive: true, force: true });
});

for (const [what, text] of [
  ["alert rules", alerts],
  ["dashboard", dashboard],
]) {
  test(`every metric that the ${what} name is one of /metrics`, () => {
    const names = new Set([...text.matchAll(/\bsideband_\w+/g)].map(([name]) => name));
    assert.ok(names.size > 10, `${names.size} names`);
    for (const name of names) assert.ok(known.has(name) || known.has(name.replace(SAMPLE, "")), name);
  });
}

test("every label that a query names is one of /metrics", () => {
  const named = `${alerts}${dashboard.replaceAll('\\"', '"')}`;
  const grouped = [...named.matchAll(/\bby \(([\w, ]+)\)/g)].flatMap(([, list]) => list.split(", "));
  const matched = [...named.matchAll(/\{(\w+)!?[=~]+"/g)].map(([, name]) => name);
  const shown = [...named.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name);
  assert.ok(grouped.length > 5 && matched.length > 2 && shown.length > 5);
  for (const name of [...grouped, ...matched, ...shown]) assert.ok(labels.has(name), name);
});

test("the age of a backup is asked only where there is one, and no backup is late for a service that makes none", () => {
  const uses = [...`${alerts}${dashboard}`.matchAll(new RegExp(`\\b${LAST_BACKUP}( \\S+ \\d+\\b)?`, "g"))];
  assert.deepEqual(
    uses.map(([, condition]) => condition),
    [" > 0", " == 0", " > 0"],
  );
  assert.ok(!withoutBackups.includes(LAST_BACKUP));
});

test("the operator's page names the label of block tasks that the metric has", () => {
  const row = /`sideband_block_tasks_total` \| tasks by `(\w+)`: ([^|]*)/.exec(read("docs/OPERATIONS.md"));
  assert.ok(row !== null);
  const [, label, values] = row;
  const samples = withoutBackups.matchAll(/^sideband_block_tasks_total\{(.*)\}/gm);
  const results = [...samples].map(([, sample]) => new RegExp(`\\b${label}="(\\w+)"`).exec(sample)?.[1]);
  assert.ok(results.length > 0);
  for (const result of results) assert.ok(values.includes(`\`${result}\``), `${label} ${result}`);
});

test("each alert rule has the sentence of the operator's page that says what to do", () => {
  const rules = [...alerts.matchAll(/- alert: (\w+)\n.*?description: "([^\n]*)"\n/gs)];
  assert.equal(rules.length, alerts.match(/- alert:/g)?.length);
  const operations = read("docs/OPERATIONS.md");
  for (const [, name, sentence] of rules)
    assert.ok(operations.includes(`| \`${name}\` | ${sentence} |`), `${name} is not in the table of alarms`);
});
