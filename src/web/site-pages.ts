/** The pages that are not docs: title, description, introduction, the element that each page's script fills, and Markdown. */

import { TIERS } from "../base/accounts.ts";
import { frontPage } from "./front-page.ts";
import { tierLimit, tierName } from "./parts/format.ts";
import type { Page } from "./shell.ts";

const APP = `<div id="app"><p class="waiting tall">Loading …</p><noscript><p class="notice plain">This page needs JavaScript.</p></noscript></div>`;

/** A row for each tier, with its monthly limit. */
const TIER_ROWS = TIERS.map(
  (tier) =>
    `<tr><th scope="row">${tierName(tier)}</th><td class="number">${tierLimit(tier) ?? "no limit"}</td></tr>`,
);

export const TIERS_TABLE = `<table>
<thead><tr><th scope="col">Tier</th><th scope="col" class="number">Facts written a month</th></tr></thead>
<tbody>${TIER_ROWS.join("\n")}</tbody></table>
<p class="hint">Only writes count. Reading, decoding and flushing are free in every tier.</p>`;

export const SITE_PAGES: readonly Page[] = [
  {
    path: "/",
    title: "Sideband: tell your agents once",
    description:
      "A memory for AI agents that you run yourself: short facts, kept exactly, in every agent and every session, yours to see and steer.",
    script: "home",
    styles: ["front"],
    markdown: `# Sideband

A memory for AI agents that you run yourself. It keeps short labelled facts about a person and their work, exactly as they were
written, and hands them to every agent in every session. A person sees them, changes them and takes them back. The facts come one by
its label, all as plain text, or as many as fit as one sealed block of 512 tokens that can be read even after damage.

Begin with the [Quickstart](/docs.md). [llms.txt](/llms.txt) lists all pages.
`,
    main: frontPage(
      `<section class="card live-card" aria-label="A live block">
<p class="eyebrow">A live block, built in this browser. Change a fact, or cut words out.</p>
${APP}
</section>`,
    ),
  },
  {
    path: "/playground",
    title: "Playground",
    description: "Write facts on the 40 channels, see the block and its spectrum, and damage it.",
    script: "playground",
    markdown: `# Playground

A page for people: write facts on the 40 channels of the demo, see the block and its spectrum, damage the block and see
what can still be read. Programs use the same calls without a key: [the demo](/docs/api.md#demo). It works where the operator has
switched the demo on (\`SIDEBAND_DEMO=1\`).
`,
    main: `<div class="intro"><h1>Playground</h1>
<p>Write facts, see them become 512 words, then damage the block and see what can still be read. The facts are in a
sandbox of your own. Please write nothing secret: everyone who has its address can read it.</p></div>
${APP}`,
  },
  {
    path: "/keys",
    title: "Get a key",
    description: "Ask the operator for an API key.",
    script: "keys",
    markdown: `# Get a key

A form that asks the operator of this service for an API key. Programs: \`POST /key-requests\`
([reference](/docs/api.md#requestkey)).
`,
    main: `<div class="intro"><h1>Get a key</h1>
<p id="keys-text">The operator of this service decides on every request. Say who you are and what you are building. If it
is approved, the operator gets in touch with you.</p>
<p>Is the service your own? <code>sideband keys create --account NAME</code> makes a key at once.</p></div>
<div class="ask"><section class="card" aria-label="The request">${APP}</section>
<section class="card" id="tiers" aria-labelledby="tiers-title"><h2 id="tiers-title">Tiers</h2>${TIERS_TABLE}</section></div>`,
  },
  {
    path: "/memory",
    title: "Memory",
    description: "See what is remembered about a person, and change it.",
    script: "memory",
    styles: ["memory"],
    markdown: `# Memory

A page for a person: the facts of a user with who wrote them and when, live; change, add, forget and undo; earlier values;
going back to a moment; export and erasure. Programs: \`GET /facts\`, \`POST /encode\`, \`GET /facts/history\`,
\`POST /users/rollback\`, \`GET /users/events\` ([reference](/docs/api.md#memory)).
`,
    main: `<div class="intro"><h1>Memory</h1>
<p>What agents remember about a person: see it, change it, take it back.</p></div>
${APP}`,
  },
  {
    path: "/account",
    title: "Account",
    description: "See the usage of a key, and the users, shared projects and labels of its account.",
    script: "account",
    styles: ["charts"],
    markdown: `# Account

A page for the holder of a key: its usage by day, and the users, shared projects and labels of its account. Programs: \`GET /usage\`,
\`GET /usage/days\`, \`GET /users\`, \`GET /channels\` and \`PATCH /channels/{label}\` ([reference](/docs/api.md#memory)).
`,
    main: `<div class="intro"><h1>Account</h1>
<p>What was written with a key, day by day, and the users, shared projects and labels of its account. The key stays in this page's memory and is gone when you leave.</p></div>
${APP}`,
  },
  {
    path: "/console",
    title: "Console",
    description: "The operator's console.",
    script: "console",
    styles: ["charts"],
    markdown: `# Console

The operator's page: requests for keys, keys, users, shared projects and labels of accounts, usage and the state of the service. Programs: the calls under
\`/admin\` ([reference](/docs/api.md#admin)).
`,
    main: `<div class="intro"><h1>Console</h1></div>
${APP}`,
  },
];

/** It stands at every address where there is nothing else. */
export const NOT_FOUND_PAGE: Page = {
  path: "/not-found",
  title: "Nothing here",
  description: "There is nothing at this address.",
  markdown: "",
  main: `<div class="intro"><h1>There is nothing at this address</h1>
<p>It may be mistyped, or the page may have moved.</p></div>
<p class="buttons"><a class="button primary" href="/">Go to the home page</a> <a class="button" href="/docs">Read the docs</a></p>`,
};
