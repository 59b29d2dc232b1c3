/**
 * What a text for a label offers: labels that begin with it or have its words, also in their descriptions, those that are a
 * slip away, and the label that would be made of it. That one comes first where nothing fits, else last.
 */

import { groupOf, LABEL_FORM } from "../../base/channel-labels.ts";
import { isOtherNumber, isSlip } from "../../base/edit-distance.ts";
import { plainLetters } from "../../base/letters.ts";
import type { LabelAnswer } from "../../contract/answers.ts";
import { GROUP_LENGTH_MAX, joinedWords, NAME_LENGTH_MAX, slugWords } from "../../import/words.ts";

export interface LabelOption {
  readonly label: string;
  readonly description: string;
  /** There is no such label yet. */
  readonly isNew: boolean;
}

type KnownLabel = Pick<LabelAnswer, "label" | "description">;

/** Where a text says nothing about the group. */
const NO_GROUP = "NOTE";
/** Nobody reads more of them; another letter finds the rest. */
const OPTIONS_MAX = 60;
const NO_MATCH = 9;

/** @param mayMake whether the account lets a person make labels */
export function labelOptions(text: string, labels: readonly KnownLabel[], mayMake: boolean): LabelOption[] {
  const ranked = labels
    .map(({ label, description }) => ({
      label,
      description,
      isNew: false,
      rank: rankOf(text, label, description),
    }))
    .filter(({ rank }) => rank < NO_MATCH)
    .sort((a, b) => a.rank - b.rank || Number(a.label > b.label) - Number(a.label < b.label))
    .slice(0, OPTIONS_MAX);
  const known = ranked.map(({ rank: _, ...option }) => option);
  const label = mayMake ? madeLabel(text, labels) : undefined;
  if (label === undefined || labels.some((other) => other.label === label)) return known;
  return [...known, { label, description: "", isNew: true }];
}

/** The label that a text names, whatever its case; undefined where it is none. */
export function namedLabel(
  text: string,
  labels: readonly KnownLabel[],
  mayMake: boolean,
): LabelOption | undefined {
  const options = labelOptions(text, labels, mayMake);
  const wanted = text.trim().toLowerCase();
  return options.find(({ label }) => label.toLowerCase() === wanted);
}

/** The label that is there and that another is a slip away from. */
export function nearLabel(label: string, labels: readonly KnownLabel[]): string | undefined {
  return labels.find((known) => known.label !== label && isNear(label, known.label))?.label;
}

/** The label that is made of a text: "Family: wife" → FAMILY.wife, "pet food" → NOTE.pet_food, or PET.food where PET is a group. */
export function madeLabel(text: string, labels: readonly KnownLabel[]): string | undefined {
  const wanted = text.trim();
  if (LABEL_FORM.test(wanted)) return wanted;
  const [, before = "", after = ""] = /^([^.:/=]*)[.:/=](.*)$/.exec(wanted) ?? [];
  const [first, ...rest] = slugWords(wanted);
  const isGroup = labels.some(({ label }) => groupOf(label) === first?.toUpperCase());
  const parts =
    before === ""
      ? isGroup && rest.length > 0
        ? [[first], rest]
        : [[NO_GROUP], slugWords(wanted)]
      : [slugWords(before), slugWords(after)];
  const group = joinedWords(parts[0], GROUP_LENGTH_MAX).toUpperCase();
  const label = `${group}.${joinedWords(parts[1], NAME_LENGTH_MAX)}`;
  return LABEL_FORM.test(label) ? label : undefined;
}

/** The smaller the better. */
function rankOf(text: string, label: string, description: string): number {
  const wanted = text.trim().toLowerCase();
  const whole = label.toLowerCase();
  if (wanted === "" || whole.startsWith(wanted)) return 0;
  if (nameOf(whole).startsWith(wanted)) return 1;
  const words = wordsOf(wanted);
  const hasAll = (told: string) => words.every((word) => ` ${told}`.includes(` ${word}`));
  const named = wordsOf(label).join(" ");
  if (words.length > 0 && hasAll(named)) return 2;
  // A dot says that a label is meant, not what it is about.
  if (words.length > 0 && !wanted.includes(".") && hasAll(`${named} ${wordsOf(description).join(" ")}`))
    return 3;
  return isNear(wanted, label) || isSlip(wanted, nameOf(whole)) ? 4 : NO_MATCH;
}

function isNear(label: string, known: string): boolean {
  if (isOtherNumber(label, known)) return true;
  const digits = (name: string) => name.replace(/\D/g, "");
  // Numbers are not mistyped, they count.
  return digits(label) === digits(known) && isSlip(plain(label), plain(known), plain(nameOf(known)).length);
}

function nameOf(label: string): string {
  return label.slice(label.indexOf(".") + 1);
}

/** In any script, without case and accents. */
function wordsOf(text: string): readonly string[] {
  return plainLetters(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Without case and separators. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[\s._:/-]/g, "");
}
