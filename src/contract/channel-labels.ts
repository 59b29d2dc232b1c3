/** The 40 labels in channel order, as a list and as a type. They never change. */

import { LABELS, type Label } from "../base/channels.ts";

export { LABELS, type Label };

/** Any text, with completion for the 40 labels in editors. The service checks it. */
export type LabelText = Label | (string & {});
