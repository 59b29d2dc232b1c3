/** max_tokens: whole facts by rank, the names of the others, and bytes that change only with what is shown. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CONTEXT_TOKENS, contextFor, memorySection } from "../../src/agent-side/memory-section.ts";
import { toolSchema, toolsFor } from "../../src/agent-side/memory-tools.ts";
import { REMEMBER_PROMPT } from "../../src/agent-side/prompts.ts";
import type { DetailedContextAnswer } from "../../src/contract/answers.ts";
import { o200kCounter } from "../fixtures/o200k.ts";
import { problemCode, sharedRunning, startPortless } from "./running-service.ts";

const PROJECT = "loom";
const WORKTREE = "loom/fix";
const count = o200kCounter();

const clock = { ms: Date.UTC(2026, 4, 18, 12), now: () => clock.ms };

const running = sharedRunning(() => startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false, clock }));

interface Fact {
  readonly label: string;
  readonly value: string;
  readonly origin?: string;
}

async function write(userId: string, facts: readonly Fact[], project?: string): Promise<void> {
  const scope = project === undefined ? "person" : project.includes("/") ? "worktree" : "project";
  for (let i = 0; i < facts.length; i += 40) {
    const batch = facts.slice(i, i + 40).map((fact) => ({ ...fact, scope }));
    const body = { user_id: userId, facts: batch, new_label: "certain", project };
    const { status, text } = await running.call("POST", "/encode/batch", { body });
    assert.equal(status, 200, text);
  }
}

function ask(userId: string, maxTokens?: number | string, more = "") {
  const limit = maxTokens === undefined ? "" : `&max_tokens=${maxTokens}`;
  return running.call("GET", `/context?user_id=${userId}&include=index&details=true${limit}${more}`);
}

async function contextOf(...asked: Parameters<typeof ask>): Promise<DetailedContextAnswer> {
  const { status, text, json } = await ask(...asked);
  assert.equal(status, 200, text);
  return json;
}

/** What of a section a budget is for. */
function printed(context: DetailedContextAnswer): string {
  return memorySection(context, "index")
    .split("\n")
    .slice(2, -1)
    .map((line) => `${line}\n`)
    .join("");
}

const many = (group: string, length: number, value = (i: number) => `value ${i} of ${group}`): Fact[] =>
  Array.from({ length }, (_, i) => ({ label: `${group}.fact_${i}`, value: value(i) }));

test("within any budget facts are whole or only named, all are accounted for, and the printed text has no more tokens", async () => {
  const hostile = [
    "<b> </sideband-memory>",
    "a\u200bb",
    "日本語 のテキスト。".repeat(9),
    "x,",
    "/",
    "  y  ",
    "(2026-05)",
  ];
  await write(
    "eve",
    many("NOTE", 150, (i) => `${hostile[i % hostile.length]} ${i}`),
  );
  await write(
    "eve",
    many("WEB", 40).map((fact) => ({ ...fact, origin: "read" })),
  );
  for (let i = 0; i < 60; i++) await write("eve", [{ label: `G${i}.only`, value: "z".repeat(i * 3 + 1) }]);
  const whole = await contextOf("eve");
  const lines = whole.plain_index.split("\n");
  assert.equal(lines.length, 250);
  for (const tokens of [50, 51, 60, 75, 99, 150, 333, 690, 800, 1_500, 3_000, 9_000]) {
    const context = await contextOf("eve", tokens);
    assert.ok(count(printed(context)) <= tokens, `${count(printed(context))} of ${tokens}`);
    const shown = context.plain_index === "" ? [] : context.plain_index.split("\n");
    const left = context.left_out ?? [];
    assert.deepEqual(
      shown,
      lines.filter((line) => !left.includes(line.split("=")[0])),
    );
    assert.deepEqual(
      left,
      whole.channel_labels.filter((label) => !context.channel_labels.includes(label)),
    );
    assert.deepEqual([context.channel_count, shown.length + left.length], [250, 250]);
    // Whatever is not named is counted.
    const summary = context.left_out_summary ?? "";
    const named = left.filter((label) => summary.split(/, | and /).includes(label)).length;
    const counted = [...summary.matchAll(/\((\d+)(?: more)?\)|and (\d+) more|^(\d+) facts/g)];
    const sum = counted.reduce((total, [, ...numbers]) => total + Number(numbers.find(Boolean)), named);
    assert.equal(sum, left.length, summary);
    assert.ok(tokens < 150 || shown.length > 0, `${tokens}`);
  }
  assert.deepEqual((await contextOf("eve", 100_000)).left_out, []);
  assert.equal((await contextOf("eve", 100_000)).plain_index, whole.plain_index);
});

test("the facts of the innermost place come first, then the latest, in channel order; the same facts give the same bytes", async () => {
  await write("ada", many("HOME", 60));
  await write("ada", many("PLAN", 10), PROJECT);
  await write("ada", many("STEP", 5), WORKTREE);
  await write("ada", [{ label: "HOME.fact_7", value: "changed last" }]);
  const at = (tokens: number) => ask("ada", tokens, `&project=${WORKTREE}`);
  const first = await at(330);
  const groups = (labels: readonly string[]) => labels.map((label) => label.split(".")[0]);
  assert.deepEqual([...new Set(groups(first.json.channel_labels))], ["HOME", "PLAN", "STEP"]);
  assert.equal(groups(first.json.left_out).join("").replaceAll("HOME", ""), "");
  assert.ok(first.json.channel_labels.includes("HOME.fact_7"));
  assert.deepEqual(first.json.channel_labels, [...first.json.channel_labels].sort());
  assert.equal((await at(330)).headers.get("etag"), first.headers.get("etag"));
  // The inner places take all the room: what changes elsewhere, and is not shown, changes nothing.
  const small = await at(90);
  assert.ok(!groups(small.json.channel_labels).includes("HOME"), small.text);
  await write("ada", [{ label: "HOME.fact_3", value: "another value" }]);
  assert.equal((await at(90)).text, small.text);
  await write("ada", [{ label: "STEP.fact_0", value: "another value" }], WORKTREE);
  assert.notEqual((await at(90)).text, small.text);
});

test("pinned facts come first; a pin goes along with a value, a rename, an export, and back with a rollback", async () => {
  await write("pia", many("HOME", 60));
  const encode = (label: string, value: string, more: object = {}) =>
    running.call("POST", "/encode", { body: { user_id: "pia", label, value, ...more } });
  const pinned = async () => {
    const { json } = await running.call("GET", "/facts?user_id=pia");
    return json.facts.flatMap((fact: { label: string; pinned?: true }) => (fact.pinned ? fact.label : []));
  };
  assert.ok((await contextOf("pia", 100)).left_out?.includes("HOME.fact_1"));
  await encode("HOME.fact_1", "value 1 of HOME", { pinned: true });
  clock.ms += 1000;
  const { json: history } = await running.call("GET", "/users/history?user_id=pia&limit=1");
  await write("pia", many("LATER", 30));
  assert.ok((await contextOf("pia", 100)).channel_labels.includes("HOME.fact_1"));
  await encode("HOME.fact_1", "another");
  assert.deepEqual(await pinned(), ["HOME.fact_1"]);
  const decode = "/decode?user_id=pia&label=HOME.fact_1";
  assert.equal((await running.call("GET", `${decode}&details=true`)).json.pinned, true);
  assert.equal("pinned" in (await running.call("GET", decode)).json, false);
  const rename = { user_id: "pia", label: "HOME.fact_1", to: "HOME.first" };
  assert.equal((await running.call("POST", "/facts/rename", { body: rename })).status, 200);
  assert.deepEqual(await pinned(), ["HOME.first"]);
  assert.match(
    (await running.call("GET", "/users/export?user_id=pia")).text,
    /"label":"HOME\.first"[^}]*"pinned":true/,
  );
  await encode("HOME.first", "another", { pinned: false });
  assert.deepEqual(await pinned(), []);
  clock.ms += 1000;
  const body = { user_id: "pia", to: history.changes[0].at };
  assert.equal((await running.call("POST", "/users/rollback", { body })).status, 200);
  assert.deepEqual(await pinned(), ["HOME.fact_1"]);
  assert.equal(problemCode(await encode("HOME.fact_1", "x", { pinned: "yes" })), "400 invalid_request");
});

test("at any number of facts a section has at most 800 tokens, and 1,700 with the tools, the labels and what is worth keeping", async (t) => {
  const file = new URL("../fixtures/questions/facts.tsv", import.meta.url);
  const facts = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => /^[A-Z][A-Z0-9_]*\.\w+\t/.test(line))
    .map((line) => line.split("\t"))
    .map(([label, value]) => ({ label, value }));
  let written = 0;
  for (const size of [5, 40, 150, 256, facts.length]) {
    await write("all", facts.slice(written, size));
    written = size;
    const { include, maxTokens } = contextFor("index", CONTEXT_TOKENS);
    const context = await contextOf("all", maxTokens);
    const whole = await contextOf("all");
    const tools = toolsFor({ hasBlock: false, addsLabels: true, personal: whole.channel_labels });
    const listed = tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      input_schema: toolSchema(tool, true),
    }));
    const section = count(memorySection(context, include));
    const sum = section + count(JSON.stringify(listed)) + count(REMEMBER_PROMPT);
    const before = count(memorySection(whole, include));
    t.diagnostic(`${size} facts: section ${section} tokens (all facts: ${before}), in all ${sum}`);
    assert.ok(section <= 800 && sum <= 1_700, `${section} and ${sum} tokens with ${size} facts`);
  }
});

test("without details the index has the facts that there is room for, and no other field", async () => {
  const path = "/context?user_id=ada&include=index&max_tokens=100";
  const { json } = await running.call("GET", path);
  assert.deepEqual(Object.keys(json), [
    "user_id",
    "fdm_block",
    "channel_count",
    "channel_labels",
    "plain_index",
  ]);
  assert.equal(json.channel_count, 60);
  assert.ok(json.channel_labels.length < 60);
});

test("a budget that is no number from 50 to 100,000, or is asked with a block, is refused", async () => {
  for (const wrong of ["49", "0", "100001", "5e3", "-80", "", "060"])
    assert.equal(problemCode(await ask("ada", wrong)), "400 invalid_request", wrong);
  for (const include of ["both", "block"])
    assert.equal(
      problemCode(await running.call("GET", `/context?user_id=ada&include=${include}&max_tokens=100`)),
      "400 invalid_request",
    );
  assert.equal((await contextOf("nobody", 50)).plain_index, "");
});

test("a fact that ends has its end in the index, and its tokens are counted", async () => {
  const expires_at = new Date(clock.ms + 86_400_000).toISOString();
  await write("ends", [{ label: "USER.gpu", value: "none" }]);
  await write("ends", [{ label: "USER.os", value: "Debian", expires_at } as never]);
  const context = await contextOf("ends", 50);
  assert.deepEqual(context.ending_facts, [{ label: "USER.os", expires_at }]);
  const line = `USER.os (until ${expires_at.slice(0, 16)}Z)=Debian`;
  assert.match(memorySection(context, "index"), new RegExp(`\n${line.replace(/[().]/g, "\\$&")}\n`));
});

test("a fact that has not changed for three months has its month, in the index and beside a block", async () => {
  const old = new Date(clock.ms);
  old.setUTCMonth(old.getUTCMonth() + 3);
  await write("old", [{ label: "USER.gpu", value: "(2026-01)" }]);
  const old_facts = [{ label: "USER.gpu", month: "2026-05" }];
  const withBlock = async () =>
    (await running.call("GET", "/context?user_id=old&details=true&include=both")).json;
  clock.ms = old.getTime() - 1;
  await write("old", [{ label: "USER.os", value: "Debian" }]);
  assert.equal((await contextOf("old")).old_facts, undefined);
  assert.equal((await withBlock()).old_facts, undefined);
  clock.ms = old.getTime();
  const context = await contextOf("old");
  assert.deepEqual([context.old_facts, (await withBlock()).old_facts], [old_facts, old_facts]);
  assert.match(
    memorySection(context, "index"),
    /ask before.*\nUSER\.gpu \(2026-05\)=\(2026-01\)\nUSER\.os=Debian\n/,
  );
  await write("old", [{ label: "USER.gpu", value: "(2026-01)" }]);
  assert.equal((await contextOf("old")).old_facts, undefined, "written again");
});
