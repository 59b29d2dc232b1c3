/** The 40 labels in channel order, as a value for pickers and as a type for editors. */

import { LABEL_FORM, LABELS, type Label } from "../base/channel-labels.ts";

export { LABEL_FORM, LABELS, type Label };
