/** Where the package keeps the weights of its reader model, from the sources as well as from dist/. */

/** The folder of this file is src/reader or dist/src/reader. */
const root = import.meta.url.includes("/dist/src/") ? "../../../" : "../../";

export const READER_WEIGHTS = new URL(`${root}models/reader-2.bin`, import.meta.url);
