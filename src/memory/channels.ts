/**
 * The 40 labelled channels: numbers, labels, what each is for, and an example. The numbers are fixed for ever:
 * existing clients know them, and every block ever handed out is written in them.
 */

import { assert } from "../base/assert.ts";
import { Failure } from "../base/errors.ts";
import { CHANNEL_COUNT } from "../base/limits.ts";

export interface Channel {
  readonly channel: number;
  readonly label: string;
  readonly description: string;
  readonly example: string;
}

const TABLE: readonly (readonly [label: string, description: string, example: string])[] = [
  ["USER.name", "What the user is called.", "Ada Lovelace"],
  ["USER.project", "The project the user is working on.", "Analytical Engine notes"],
  ["USER.affiliation", "Company, school or group.", "Royal Astronomical Society"],
  ["USER.gpu", "The graphics processor at hand.", "RTX 5090"],
  ["USER.working_dir", "The folder the user works in.", "/home/ada/engine"],
  ["USER.os", "Operating system.", "Debian 13"],
  ["USER.role", "Occupation or part in the team.", "staff engineer"],
  ["USER.location", "Where the user lives or works.", "London"],
  ["USER.timezone", "The user's time zone.", "Europe/London"],
  ["USER.language", "The language to answer in.", "English"],
  ["PREF.response_style", "How answers should read.", "short, with the reason first"],
  ["PREF.code_style", "How code should be written.", "TypeScript strict, named exports"],
  ["PREF.verbosity", "How much to say.", "low"],
  ["PREF.format", "The form answers should have.", "Markdown with tables"],
  ["PREF.tone", "The tone to write in.", "plain and friendly"],
  ["PREF.editor", "Editor or IDE.", "Neovim"],
  ["PREF.tools", "Tools the user prefers.", "ripgrep, just, Biome"],
  ["PREF.units", "Units and notations.", "metric, 24-hour clock"],
  ["PREF.schedule", "When the user works or wants to be asked.", "weekdays 9 to 17"],
  ["PREF.avoid", "What to leave alone.", "no force pushes"],
  ["TASK.current", "What is being done now.", "porting the parser to ESM"],
  ["TASK.next", "What comes after it.", "write the migration guide"],
  ["TASK.blocked_on", "What the task waits for.", "review of PR 482"],
  ["TASK.deadline", "When it must be finished.", "2026-12-01"],
  ["TASK.priority", "How urgent it is.", "high"],
  ["TASK.owner", "Who is responsible.", "Grace"],
  ["TASK.last_done", "What was finished last.", "lexer tests pass"],
  ["TASK.decision", "A decision that stands.", "keep the old wire format until v3"],
  ["TASK.question", "A question that is open.", "do we drop Node 18?"],
  ["TASK.reminder", "Something not to forget.", "rotate the staging key"],
  ["PROJ.status", "Where the project stands.", "beta"],
  ["PROJ.last_result", "The latest result.", "p95 down to 41 ms"],
  ["PROJ.model_target", "The model that is built or used.", "LFM2-1.2B"],
  ["PROJ.token_budget", "Tokens the project may spend.", "200k per run"],
  ["PROJ.accuracy", "The accuracy reached.", "98.7 % on the dev set"],
  ["PROJ.repo", "Where the code lives.", "github.com/ada/engine"],
  ["PROJ.stack", "Languages and main libraries.", "TypeScript, Fastify, LMDB"],
  ["PROJ.branch", "The branch in use.", "feature/parser"],
  ["PROJ.goal", "What the project is for.", "compute Bernoulli numbers"],
  ["PROJ.constraint", "A limit that must hold.", "no outside network"],
];
assert(TABLE.length === CHANNEL_COUNT, "one row for each channel");

export const CHANNELS: readonly Channel[] = TABLE.map(([label, description, example], channel) => ({
  channel,
  label,
  description,
  example,
}));

const BY_LABEL = new Map(CHANNELS.map((channel) => [channel.label, channel]));

/** The channel of a label. An unknown label is refused with the nearest one as a hint. */
export function channelOf(label: string): number {
  const found = BY_LABEL.get(label);
  if (found !== undefined) return found.channel;
  const hint = nearestLabel(label);
  throw new Failure("unknown_label", `There is no channel with this label. Did you mean ${hint}?`, {
    param: "label",
    hint,
  });
}

export function labelOf(channel: number): string {
  return CHANNELS[channel].label;
}

/** The label with the fewest edits; the name alone counts too, so that "name" finds USER.name. */
export function nearestLabel(text: string): string {
  const wanted = text.slice(0, 64).toLowerCase();
  let best = CHANNELS[0].label;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const { label } of CHANNELS) {
    const whole = label.toLowerCase();
    const name = whole.slice(whole.indexOf(".") + 1);
    const distance = Math.min(editDistance(wanted, whole), editDistance(wanted, name) + 0.5);
    if (distance < bestDistance) {
      best = label;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein's distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
