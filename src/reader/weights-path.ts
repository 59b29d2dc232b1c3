/** Where the package keeps the weights of its reader model. */

import { PACKAGE_ROOT } from "../base/package-root.ts";

export const READER_WEIGHTS = new URL("models/reader-4.bin", PACKAGE_ROOT);
