/** Where the package keeps the weights of its reader model. */

import { PACKAGE_ROOT } from "../base/package-root.ts";

export const READER_WEIGHTS = new URL("models/reader-5.bin", PACKAGE_ROOT);
