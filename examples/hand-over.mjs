/**
 * A hand-over between two agents that share no store, only a key: node examples/hand-over.mjs
 *
 * The first agent writes an e-mail to the second. A mail program quotes it, wraps its lines, and the person in between
 * deletes a line by mistake.
 */

import { newKey, open, seal } from "sideband/block";

const key = newKey();
const user = "case 2026-0417";

const facts = {
  "USER.name": "Ada Okafor",
  "TASK.next": "call back on Friday after 14:00",
  "CASE.claim": "water damage, kitchen, 2026-11-02",
  "CASE.promised": "EUR 1,250.00 within ten days",
};
const mail = `Dear colleague,\n\nplease take over. The state of the case:\n\n${await seal({ key, user, facts })}\n\nThanks!`;

const wrapped = mail.replaceAll(/(.{1,70})(?: |$)/gm, "$1\n").split("\n");
wrapped.splice(20, 1);
const received = wrapped.map((line) => `> ${line}`).join("\n");

const state = await open({ key, user, text: `See below.\n\n${received}` });
if (!state.ok) throw new Error(state.reason);
console.log(`${state.repaired} words were missing or wrong; the second agent knows:`);
for (const [label, value] of Object.entries(state.facts)) console.log(`  ${label}=${value}`);
