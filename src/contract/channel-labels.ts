/** The 40 labels in channel order, as a value for pickers and as a type for editors. */

import { LABELS, type Label } from "../base/channel-labels.ts";

export { LABELS, type Label };
