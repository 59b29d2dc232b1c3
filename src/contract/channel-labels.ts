/** The 40 labels in channel order, as a value for pickers and as a type for editors. They are fixed for ever. */

import { LABELS, type Label } from "../base/channels.ts";

export { LABELS, type Label };

/** A label where it is known, any text where it comes from outside: the service judges it. */
export type LabelText = Label | (string & {});
