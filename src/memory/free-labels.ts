/**
 * Free labels: those that a person has made by writing them. Which there are, the law knows (law/user-memory.ts); here are
 * the labels that a call of a person names, and what is said where there is none. Before a label is made, one that is
 * there and a slip away is offered instead. Whatever a person has, a bounded number of labels is compared: those that
 * begin alike.
 */

import { groupOf, LABEL_FORM, NOTHING_REMEMBERED } from "../base/channel-labels.ts";
import { CHANNELS } from "../base/channels.ts";
import { isOtherNumber, isSlip, slipEdits, slipEditsMax } from "../base/edit-distance.ts";
import { Failure, invalidRequest } from "../base/errors.ts";
import { CHANNEL_COUNT } from "../base/limits.ts";
import { isIdentifier } from "./identifiers.ts";
import { checkLabelText } from "./label-terms.ts";
import { isFree, type LabelTerms, nearLabel, oneOf, plain, unknownLabel } from "./labels.ts";
import type { FreeTerms, Store, View } from "./ports.ts";
import { requireGroup } from "./rights.ts";
import type { MemoryServices } from "./services.ts";
import { readViewLabels } from "./shared-reads.ts";

/** Labels with one beginning that are read to find a near one: reading them is most of what a hint costs. */
const ALIKE_MAX = 64;

const STANDARD_GROUPS: ReadonlySet<string> = new Set(CHANNELS.map(({ label }) => groupOf(label)));

/** Whether an unknown label is made; "certain": also one that is a slip away from another. */
export type MakeLabel = boolean | "certain";

type Asked = Pick<MemoryServices, "labels" | "store" | "groups">;
type Who = Pick<View, "account" | "userId" | "places">;

/** A label that a call names, and what the law is told of a free one. */
interface NamedLabel {
  readonly terms: LabelTerms;
  readonly free: FreeTerms | undefined;
}

/** A label that must be there: whether a free one is, the law says. */
export async function namedLabel(services: Asked, who: Who, label: string): Promise<NamedLabel> {
  requireGroup(services.groups, label);
  const terms = await services.labels.lookUp(who.account, label);
  if (terms === undefined) throw await unknownTo(services, who, label);
  return { terms, free: isFree(terms) ? { make: false } : undefined };
}

/** A label that is written, and may be made. */
export async function writtenLabel(
  services: Asked,
  who: Who,
  wanted: {
    readonly label: string;
    readonly newLabel?: MakeLabel | undefined;
    readonly description?: string | undefined;
  },
): Promise<NamedLabel> {
  const { label, newLabel = false, description } = wanted;
  if (description !== undefined) checkLabelText("description", description);
  const { terms, free } = await namedLabel(services, who, label);
  if (free === undefined && description !== undefined) throw describedElsewhere(terms);
  if (free === undefined) return { terms, free };
  if ((await services.labels.of(who.account)).isStrict) throw await unknownTo(services, who, label);
  if (newLabel === true) await refuseSlip(services, who, label);
  return { terms, free: { make: newLabel !== false, description } };
}

/** A description that comes with a write is that of a label of the person's own. */
function describedElsewhere({ label, channel }: LabelTerms): Failure {
  const advice =
    channel < CHANNEL_COUNT
      ? "is a standard label, whose description stays as it is: leave description out"
      : "is a label of the account: PATCH /channels/{label} changes its description";
  return invalidRequest("description", `${label} ${advice}. Nothing was written.`);
}

/** What is wrong where there is no fact on a label: neither the account nor the person has it, or it has no fact. */
export async function missingFact(services: Asked, who: Who, label: string): Promise<Failure> {
  const terms = await services.labels.lookUp(who.account, label);
  const isKnown = terms !== undefined && (!isFree(terms) || (await hasLabel(services.store, who, label)));
  return isKnown ? factNotFound(label) : nothingRemembered(services, who, label);
}

/** What a call is told that reads, changes or takes away what nobody has written. */
export async function nothingRemembered(services: Asked, who: Who, label: string): Promise<Failure> {
  const { code, message, extra } = await unknownTo(services, who, label);
  if (!LABEL_FORM.test(label)) return new Failure(code, message, extra);
  const question = extra.hint === undefined ? "" : `Did you mean ${extra.hint}? `;
  return new Failure(code, `${NOTHING_REMEMBERED} ${label}. ${question}GET /facts lists what is.`, extra);
}

export function factNotFound(label: string): Failure {
  return new Failure("fact_not_found", `There is no fact on ${label}.`, { param: "label" });
}

/** @param param what stands before the name of the field */
export async function unknownTo(
  { labels, store }: Asked,
  who: Who,
  label: string,
  param = "",
): Promise<Failure> {
  const known = await labels.of(who.account);
  const hint = nearLabel(label, known) ?? oneOf(await nearFreeLabels(store, who, label));
  const { code, message, extra } = unknownLabel(hint, known.isStrict);
  return new Failure(code, message, { ...extra, param: `${param}label` });
}

async function hasLabel(store: Store, who: Who, label: string): Promise<boolean> {
  const [first] = await readViewLabels(store, who, { prefix: label, limit: 1 });
  return first?.label === label;
}

/** Refuses to make a label that is another one with a slip. */
async function refuseSlip({ labels, store }: Asked, who: Who, label: string): Promise<void> {
  if (await hasLabel(store, who, label)) return;
  const ofAccount = nearLabel(label, await labels.of(who.account));
  const hint =
    ofAccount !== undefined && isMeant(label, ofAccount)
      ? ofAccount
      : (await nearFreeLabels(store, who, label))[0];
  if (hint === undefined) return;
  throw new Failure(
    "unknown_label",
    `There is no label ${label}. Did you mean ${hint}? If not, new_label: "certain" makes ${label}.`,
    { param: "label", hint },
  );
}

/**
 * Whether a new label stands for another one. The same name in another group does so among the standard groups, which
 * share their names out; in a group of one's own it is something else (`PET.name`).
 */
function isMeant(label: string, known: string): boolean {
  const areStandard = STANDARD_GROUPS.has(groupOf(label)) && STANDARD_GROUPS.has(groupOf(known));
  return areStandard || isNear(label, known);
}

/** The labels that a person has made and that are a slip away, the nearest first. */
async function nearFreeLabels(store: Store, who: Who, label: string): Promise<string[]> {
  // Nothing is near it, and a store may not be asked for it.
  if (!isIdentifier(label)) return [];
  const all = (await labelsAlike(store, who, label)).filter((known) => known !== label);
  const numbers = all.filter((known) => isOtherNumber(label, known));
  const alike = all
    .filter((known) => !numbers.includes(known) && hasSameBeginning(label, known))
    .filter((known) => digitsOf(label) === digitsOf(known));
  const edits = slipEdits(plain(label), [""], alike.map(plain)) ?? [];
  const slips = alike
    .map((known, i) => ({ known, edits: edits[i]! }))
    .filter((one) => one.edits <= slipEditsMax(plain(nameIn(one.known)).length));
  // Another ending is as near as another letter.
  return [...numbers.map((known) => ({ known, edits: 1 })), ...slips]
    .sort((a, b) => a.edits - b.edits)
    .map(({ known }) => known);
}

/** Those with the same first letter; where they are too many, those of the same group, in singular and plural, and those that begin alike there. */
async function labelsAlike(store: Store, who: Who, label: string): Promise<string[]> {
  const group = `${groupOf(label).toUpperCase()}.`;
  const letter = label.slice(0, 1).toUpperCase();
  const stem = group.replace(/(?:Y|IES|ES|S)?\.$/, "");
  for (const prefix of [letter, stem, group + nameIn(label).slice(0, 1).toLowerCase()]) {
    const found = await readViewLabels(store, who, { prefix, limit: ALIKE_MAX });
    if (found.length < ALIKE_MAX || prefix.length > group.length) return found.map((known) => known.label);
  }
  return [];
}

/** By length, and by the first letters of the name. */
function hasSameBeginning(a: string, b: string): boolean {
  const [first, second] = [nameIn(a).toLowerCase(), nameIn(b)];
  const isSwapped = first[0] === second[1] && first[1] === second[0];
  return (
    Math.abs(a.length - b.length) <= 3 && (isSwapped || first[0] === second[0] || first[1] === second[1])
  );
}

function isNear(label: string, known: string): boolean {
  if (isOtherNumber(label, known)) return true;
  if (digitsOf(label) !== digitsOf(known)) return false;
  return isSlip(plain(label), plain(known), plain(nameIn(known)).length);
}

/** Numbers are not mistyped, they count: `NOTE.item_1` and `NOTE.item_2` are two. */
function digitsOf(label: string): string {
  return label.replace(/\D/g, "");
}

function nameIn(label: string): string {
  return label.slice(label.indexOf(".") + 1);
}
