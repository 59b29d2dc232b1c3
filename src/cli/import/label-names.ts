/**
 * From the words of a file to a label of the account. `PREF.tone` is one wherever it stands. `tone` alone is one where it
 * is the name of a single label, and where what stands around it is about that label's kind of thing: `Name: Loom` in a
 * list about a project is not what the user is called. What is in doubt is not mapped, and the reason says what to write.
 */

import { groupOf, LABEL_FORM } from "../../base/channel-labels.ts";
import { isSlip } from "../../base/edit-distance.ts";
import { addLabelCommand } from "../printed-commands.ts";

/** The groups whose names count without their group; undefined: all of them. */
export type Topic = ReadonlySet<string> | undefined;

export interface NameableLabel {
  readonly label: string;
  readonly hidden?: boolean | undefined;
}

export type LabelFound = { readonly label: string } | { readonly why: string };

/** What is about a person, and what is about the work. */
const KINDS: readonly (readonly string[])[] = [
  ["USER", "PREF"],
  ["PROJ", "TASK"],
];
/** Other words for the user. */
const USER_WORDS: readonly string[] = ["me", "myself", "human"];
/** A shorter group's name begins too many words. */
const PREFIX_LENGTH_MIN = 4;
/** No group's name is longer. */
const GROUP_LENGTH_MAX = 16;

/** Shorter names are near to too many words. */
const NEAR_LENGTH_MIN = 6;

/** How many names without a label are compared with all of them: a long file is read in bounded time. */
const NEAR_SEARCHES_MAX = 200;

const FILE_NAME = /\.(?:md|mdc|txt|json|js|ts|py|toml|yaml|yml)$/;
const NOTHING: Topic = new Set();

export class LabelNames {
  readonly #whole = new Map<string, string>();
  readonly #byName = new Map<string, string[]>();
  readonly #groups = new Set<string>();
  /** By their names in small letters. */
  readonly #groupsByName = new Map<string, string>();
  #nearSearches = 0;

  constructor(labels: readonly NameableLabel[]) {
    for (const { label, hidden } of labels) {
      this.#whole.set(label.toLowerCase(), label);
      this.#groups.add(groupOf(label));
      this.#groupsByName.set(groupOf(label).toLowerCase(), groupOf(label));
      if (hidden === true) continue;
      const name = bare(label.slice(label.indexOf(".") + 1));
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), label]);
    }
  }

  /** The label that a key means, or why none; undefined where the key has nothing of a label. */
  find(key: string, topic: Topic): LabelFound | undefined {
    const spelled = key.toLowerCase();
    const whole = this.#whole.get(spelled);
    if (whole !== undefined) return { label: whole };
    if (this.isLabelLike(key)) return { why: this.#unknown(key) };
    const named = this.#byName.get(bare(spelled)) ?? [];
    if (named.length === 0) return this.#near(bare(spelled));
    const meant = named.filter((label) => topic === undefined || topic.has(groupOf(label)));
    if (meant.length === 1) return { label: meant[0] };
    return { why: ifMeant(meant.length === 0 ? named : meant) };
  }

  /** Whether a key has the form of a label, and is not the name of a file such as README.md. */
  isLabelLike(key: string): boolean {
    return LABEL_FORM.test(key) && (this.#groups.has(groupOf(key)) || !FILE_NAME.test(key));
  }

  /** What a heading, or the name of a thing, is about. One that names no group is about none. */
  topicOf(heading: string): Topic {
    const words = heading.toLowerCase().split(/[^a-z0-9]+/);
    const groups = words.flatMap((word) => this.#groupsIn(word));
    if (groups.length === 0) return NOTHING;
    return new Set(groups.flatMap((group) => KINDS.find((kind) => kind.includes(group)) ?? [group]));
  }

  /** Groups whose name a word is, or begins with. */
  #groupsIn(word: string): string[] {
    const names = [USER_WORDS.includes(word) ? "user" : word];
    for (let length = PREFIX_LENGTH_MIN; length < Math.min(word.length, GROUP_LENGTH_MAX + 1); length++)
      names.push(word.slice(0, length));
    return names.flatMap((name) => this.#groupsByName.get(name) ?? []);
  }

  /** A slip of the keyboard, or a plural, is not mapped, but named. */
  #near(name: string): LabelFound | undefined {
    if (++this.#nearSearches > NEAR_SEARCHES_MAX) return undefined;
    const near = [...this.#byName].find(([known]) => known.length >= NEAR_LENGTH_MIN && isSlip(name, known));
    return near === undefined ? undefined : { why: ifMeant(near[1]) };
  }

  #unknown(label: string): string {
    const isSearched = ++this.#nearSearches <= NEAR_SEARCHES_MAX;
    const near = isSearched
      ? [...this.#whole].find(([spelled]) => isSlip(label.toLowerCase(), spelled))
      : undefined;
    if (near !== undefined) return `there is no label ${label}; did you mean ${near[1]}?`;
    return `there is no label ${label}; to add it: ${addLabelCommand(label)}`;
  }
}

function ifMeant(labels: readonly string[]): string {
  return `write ${labels.join(" or ")} if that is meant`;
}

/** "Time zone", "time-zone" and "timezone" are the same name. */
function bare(name: string): string {
  return name.replace(/[^a-z0-9]+/g, "");
}
