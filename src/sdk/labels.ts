/**
 * Labels as types. A label that is written into a program is one of the 40, or one of the account's own that the client
 * was told of: `new Sideband<"FAMILY.wife">()`. A typing error in it does not compile. A label that is known only when the
 * program runs goes through `label`, and the service judges it.
 */

import type { Label } from "../contract/channel-labels.ts";

declare const knownAtRunTime: unique symbol;

/** A label that is known only at run time. */
export type RunTimeLabel = string & { readonly [knownAtRunTime]: true };

/** The labels that a client takes. @typeParam Own the account's own labels */
export type LabelOf<Own extends string> = Label | Own | RunTimeLabel;

/** A label to add: one of those that the client was told of, or any if it was told of none. */
export type NewLabelOf<Own extends string> = [Own] extends [never] ? string : Own | RunTimeLabel;

/** Takes a text for a label: from a user, a model, a file or an answer. */
export function label(text: string): RunTimeLabel {
  return text as RunTimeLabel;
}
