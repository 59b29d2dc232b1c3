/**
 * The 40 labelled channels, numbered 0 to 39 for ever. A label is exact and case-sensitive; the number is where
 * its fact rides in a block.
 */

import { assert } from "./assert.ts";
import { LABELS, type Label } from "./channel-labels.ts";
import { CHANNEL_COUNT } from "./limits.ts";

export interface Channel {
  readonly channel: number;
  readonly label: Label;
  readonly description: string;
  readonly example: string;
}

const ABOUT: Readonly<Record<Label, readonly [description: string, example: string]>> = {
  "USER.name": ["What the user is called", "Ada Okafor"],
  "USER.project": ["The project the user works on", "Sideband"],
  "USER.affiliation": ["Company, university or team", "Delft University of Technology"],
  "USER.gpu": ["The graphics card the user runs on", "RTX 5090"],
  "USER.working_dir": ["The folder the user works in", "/home/ada/code/sideband"],
  "USER.os": ["The operating system", "Debian 12, arm64"],
  "USER.role": ["What the user does", "Staff engineer, storage"],
  "USER.location": ["Where the user is", "Rotterdam, the Netherlands"],
  "USER.timezone": ["The user's time zone", "Europe/Amsterdam"],
  "USER.language": ["Languages, the preferred one first", "English, Igbo"],
  "PREF.response_style": ["How answers should be written", "Terse; the answer first, reasons after"],
  "PREF.code_style": ["How code should be written", "TypeScript strict, no default exports"],
  "PREF.verbosity": ["How much to say", "Short"],
  "PREF.format": ["The form answers should have", "Markdown with fenced code"],
  "PREF.tone": ["The tone to strike", "Dry, friendly"],
  "PREF.editor": ["Editor or IDE", "Neovim"],
  "PREF.tools": ["Tools to use", "ripgrep, jq, npm"],
  "PREF.units": ["Units of measurement", "Metric, 24-hour clock"],
  "PREF.schedule": ["When the user works or wants to be asked", "Weekdays 9 to 17; reviews on Friday"],
  "PREF.avoid": ["What to leave out or never do", "No emoji; never force-push"],
  "TASK.current": ["What is being worked on now", "Group commit for the embedded store"],
  "TASK.next": ["What comes after it", "Measure it against one write per request"],
  "TASK.blocked_on": ["What the work waits for", "Review of pull request 412"],
  "TASK.deadline": ["When it is due", "2026-12-01"],
  "TASK.priority": ["How urgent it is", "High"],
  "TASK.owner": ["Who is responsible", "Ada"],
  "TASK.last_done": ["What was finished last", "Moved key hashing off the hot path"],
  "TASK.decision": ["What was decided, and why", "lmdb, because its commits do not block reads"],
  "TASK.question": ["An open question", "Do replayed requests count against the quota?"],
  "TASK.reminder": ["What must not be forgotten", "Rotate the staging key before the demo"],
  "PROJ.status": ["How the project stands", "Beta; 14 of 16 milestones done"],
  "PROJ.last_result": ["The latest result", "p99 of 3.1 ms at 64 connections"],
  "PROJ.model_target": ["The model that the project is for", "Llama 4 Scout"],
  "PROJ.token_budget": ["Tokens the project may spend", "512 per prompt"],
  "PROJ.accuracy": ["The accuracy reached or wanted", "99.2 % exact match"],
  "PROJ.repo": ["Where the code is", "github.com/acme/sideband"],
  "PROJ.stack": ["What it is built with", "TypeScript, Node 20, lmdb"],
  "PROJ.branch": ["The branch being worked on", "feature/group-commit"],
  "PROJ.goal": ["What the project is to achieve", "No fact lost when a context is compacted"],
  "PROJ.constraint": ["What the project must keep to", "Node 20, no native compiler on install"],
};

export const CHANNELS: readonly Channel[] = LABELS.map((label, channel) => {
  const [description, example] = ABOUT[label];
  return { channel, label, description, example };
});
assert(CHANNELS.length === CHANNEL_COUNT, "there are 40 channels");

const BY_LABEL = new Map<string, Channel>(CHANNELS.map((channel) => [channel.label, channel]));

export function findChannel(label: string): Channel | undefined {
  return BY_LABEL.get(label);
}
