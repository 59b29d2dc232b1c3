/**
 * From the words of a file to a label. `PREF.tone` is one wherever it stands. `Tone` alone is a standard label or one that
 * the person has where a single label has that name, and where what stands above is about that kind of thing:
 * `Name: Loom` below "Project" is not what the user is called. All else makes a new label: the heading is its group, the
 * key or the first words its name. Nothing is guessed from the meaning of a sentence.
 *
 * A value loses nothing: words that do not go wholly into the label stay in the value.
 */

import { groupOf, LABEL_FORM } from "../base/channel-labels.ts";
import {
  GROUP_LENGTH_MAX,
  isWhole,
  joinedWords,
  NAME_LENGTH_MAX,
  sentenceName,
  slugWords,
  withoutStopWords,
} from "./words.ts";

/** What stands above a line. */
export interface Topic {
  /** The group that a heading names; undefined where none does. */
  readonly group: string | undefined;
  /** What is not in the group: it begins the names below it, and the values that are sentences. */
  readonly above: readonly { readonly words: string; readonly text: string }[];
}

export interface NameableLabel {
  readonly label: string;
  readonly hidden?: boolean | undefined;
}

interface LabelledText {
  readonly label: string;
  readonly value: string;
}

export const NO_TOPIC: Topic = { group: undefined, above: [] };
export const USER_TOPIC: Topic = { group: "USER", above: [] };
/** Where neither a heading nor a word says what it is about. */
const OTHER_GROUP = "NOTE";

/** What is about a person, and what is about the work. */
const KINDS: readonly (readonly string[])[] = [
  ["USER", "PREF"],
  ["PROJ", "TASK"],
];

/** Headings about a standard group. */
const STANDARD_HEADINGS: Readonly<Record<string, string>> = {
  ...groupNames(
    "USER",
    "user",
    "about user",
    "me",
    "about me",
    "myself",
    "about myself",
    "who i am",
    "human",
  ),
  ...groupNames("USER", "personal", "personal info", "personal information", "personal details", "bio"),
  ...groupNames("USER", "profile", "user profile", "basics", "basic info", "user info", "default user"),
  ...groupNames(
    "PREF",
    "pref",
    "prefs",
    "preference",
    "preferences",
    "user preferences",
    "general preferences",
  ),
  ...groupNames(
    "PROJ",
    "proj",
    "project",
    "project overview",
    "about project",
    "about this project",
    "this project",
  ),
  ...groupNames("PROJ", "project info", "project details", "current project"),
  ...groupNames("TASK", "task", "tasks", "current task", "current tasks", "my tasks"),
};
/** Headings that say nothing about what is below. */
const GENERAL_HEADINGS = new Set(
  (
    "notes note misc miscellaneous other others memory memories general facts fact remember important random info " +
    "information details context overview summary readme untitled list stuff everything_else things_to_remember " +
    "good_to_know other_notes random_notes other_stuff saved_memories chatgpt_memory chatgpt_memories model_set_context " +
    "my_notes quick_notes personal_notes claude_md agents_md gemini_md claude agents gemini instructions " +
    "custom_instructions notes_to_self note_to_self key_facts misc_notes other_facts other_things all_memories"
  ).split(" "),
);

/** Of a file for agents: "Agents, read this first". */
const ADDRESS = /^(?:dear )?(?:agents?|claude|codex|gemini|assistant|robots?)(?:[,:]|\s+[-–—])/i;
const GENERAL_TITLE =
  /\b(?:(?:to|not|never) (?:remember|forget)|everything(?! about)|odds and ends|bits and bobs|important info(?:rmation)?|notizen(?! (?:zu|über|für))|merken|sonstiges|allerlei|notas)\b/i;

/** Other words for a standard label. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["fullname", "myname"].map((name) => [name, "USER.name"])),
  ...Object.fromEntries(["job", "jobtitle", "occupation", "profession"].map((name) => [name, "USER.role"])),
  ...Object.fromEntries(["company", "employer", "worksat"].map((name) => [name, "USER.affiliation"])),
  ...Object.fromEntries(["city", "livesin", "basedin"].map((name) => [name, "USER.location"])),
  ...Object.fromEntries(["languages", "spokenlanguages"].map((name) => [name, "USER.language"])),
  operatingsystem: "USER.os",
  ide: "PREF.editor",
  codingstyle: "PREF.code_style",
  workinghours: "PREF.schedule",
  techstack: "PROJ.stack",
  repository: "PROJ.repo",
};
/** Their names mean too many things where no heading says what they are about. */
const NEEDS_HEADING = new Set([
  "USER.language",
  "USER.project",
  "USER.working_dir",
  "PREF.format",
  "PREF.tools",
]);
for (const label of ["PREF.schedule", "PREF.avoid"]) NEEDS_HEADING.add(label);
const SPOKEN =
  /english|german|deutsch|french|français|spanish|español|italian|dutch|portuguese|polish|russian|ukrainian|turkish|arabic|hebrew|hindi|urdu|bengali|tamil|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|swedish|norwegian|danish|finnish|greek|czech|hungarian|romanian|igbo|yoruba|swahili|welsh|irish|catalan|tagalog|persian|farsi/i;
const FAMILY =
  /^(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|son|daughter|kids?|child|children|mother|father|mom|mum|mam|dad|brother|sister|siblings?|parents?|grand(?:mother|father|ma|pa|parents|son|daughter)|gran|granny|aunt|uncle|cousin|niece|nephew|inlaws)s?$/;
const FILE_NAME = /\.(?:md|mdc|txt|json|js|ts|py|toml|yaml|yml)$/i;

export class LabelNames {
  readonly #whole = new Map<string, string>();
  readonly #byName = new Map<string, string[]>();
  readonly #groups = new Set<string>();

  /** @param labels the standard ones, those of the account and those of the person */
  constructor(labels: readonly NameableLabel[]) {
    for (const { label, hidden } of labels) {
      if (this.#whole.has(label.toLowerCase())) continue;
      this.#whole.set(label.toLowerCase(), label);
      this.#groups.add(groupOf(label));
      if (hidden !== true) this.#add(bare(label.slice(label.indexOf(".") + 1)), label);
    }
    for (const [name, label] of Object.entries(OTHER_NAMES))
      if (this.#whole.has(label.toLowerCase()) && !this.#byName.has(name)) this.#add(name, label);
  }

  #add(name: string, label: string): void {
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), label]);
  }

  /** The label that is spelled with its group; a file such as README.md is none. @param isKnown only one that is there */
  whole(key: string, isKnown = false): string | undefined {
    const known = this.#whole.get(key.toLowerCase());
    if (known !== undefined || isKnown) return known;
    const isLabel = LABEL_FORM.test(key) && (this.#groups.has(groupOf(key)) || !FILE_NAME.test(key));
    return isLabel ? key : undefined;
  }

  /** "Wife: Grace" below "Family": FAMILY.wife and "Grace". */
  keyed(key: string, value: string, topic: Topic): LabelledText {
    const whole = this.whole(key);
    if (whole !== undefined) return { label: whole, value };
    const known = topic.above.length === 0 ? this.#known(key, value, topic.group) : undefined;
    if (known !== undefined) return { label: known, value };
    const words = slugWords(key).filter((word, i) => i > 0 || !/^(?:my|our)$/.test(word));
    const isFamily = topic.above.length === 0 && FAMILY.test(words[0] ?? "") && isAboutPerson(topic.group);
    const name = [...topic.above.flatMap(({ words }) => slugWords(words)), ...words].join("_");
    const isNamed = isWhole(key) && topic.above.every(({ words }) => isWhole(words));
    if (name === "" || words.length === 0 || name.length > NAME_LENGTH_MAX || !isNamed)
      return this.sentence(`${key}: ${value}`, topic);
    return { label: `${isFamily ? "FAMILY" : (topic.group ?? OTHER_GROUP)}.${name}`, value };
  }

  /** "I like tea." below nothing: NOTE.like_tea and the sentence. */
  sentence(text: string, { group, above }: Topic): LabelledText {
    const context = above.map((one) => `${one.text}: `).join("");
    const name = sentenceName(
      above.map(({ words }) => words),
      text,
    );
    return { label: `${group ?? OTHER_GROUP}.${name}`, value: context + text };
  }

  /** A label that is there and has this name. */
  #known(key: string, value: string, group: string | undefined): string | undefined {
    const kind = group === undefined ? undefined : (KINDS.find((one) => one.includes(group)) ?? [group]);
    const named = (this.#byName.get(bare(key)) ?? []).filter((label) => {
      const own = groupOf(label);
      if (kind !== undefined) return kind.includes(own);
      return !KINDS[1].includes(own) && !NEEDS_HEADING.has(label);
    });
    if (named.length !== 1) return undefined;
    return named[0] === "USER.language" && !SPOKEN.test(value) ? undefined : named[0];
  }
}

function isAboutPerson(group: string | undefined): boolean {
  return group === undefined || KINDS[0].includes(group);
}

function groupNames(group: string, ...headings: string[]): Record<string, string> {
  return Object.fromEntries(headings.map((heading) => [heading.replaceAll(" ", "_"), group]));
}

/** What a heading is about. */
export function topicOf(heading: string): Topic {
  const words = slugWords(heading).filter((word, i) => i > 0 || !/^(?:my|our|the|some)$/.test(word));
  const spelled = words.filter((word) => word !== "the").join("_");
  const standard = STANDARD_HEADINGS[spelled];
  if (standard !== undefined) return { group: standard, above: [] };
  if (isGeneral(heading)) return NO_TOPIC;
  return groupTopic(words, heading);
}

/** Whether a heading says nothing about what is below it. */
export function isGeneral(heading: string): boolean {
  const words = slugWords(heading);
  return (
    GENERAL_HEADINGS.has(words.join("_")) ||
    GENERAL_TITLE.test(heading) ||
    ADDRESS.test(heading) ||
    (words[0] === "my" && GENERAL_HEADINGS.has(words.slice(1).join("_")))
  );
}

function groupTopic(words: readonly string[], heading: string): Topic {
  const telling = withoutStopWords(words);
  // A group begins with a letter, and a date is none.
  const first = telling.findIndex((word) => /^[a-z]/.test(word));
  const isDate =
    /\d/.test(heading) &&
    telling.every((word) => /^\d|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/.test(word));
  if (first < 0 || isDate || !isWhole(heading.replace(/[:!?–—·|→]/g, " ")))
    return { group: undefined, above: [{ words: heading, text: heading }] };
  const whole = (
    first === 0 && words.join("_").length <= GROUP_LENGTH_MAX ? words : telling.slice(first)
  ).join("_");
  // Of a long heading the group has only the words that tell something: sentences below it keep all of them.
  if (first === 0 && whole.length <= GROUP_LENGTH_MAX)
    return { group: whole.toUpperCase(), above: words.length > 3 ? [{ words: "", text: heading }] : [] };
  const group = joinedWords(telling.slice(first), GROUP_LENGTH_MAX);
  const used = group.split("_").length;
  const rest = [...telling.slice(0, first), ...telling.slice(first + used)];
  return { group: group.toUpperCase(), above: [{ words: rest.join(" "), text: heading }] };
}

/** The topic of what stands below a text that is itself below a topic. */
export function topicBelow({ group, above }: Topic, text: string): Topic {
  return { group, above: [...above, { words: text, text }] };
}

/** "Time zone", "time-zone" and "timezone" are the same name. */
function bare(name: string): string {
  return slugWords(name).join("");
}
