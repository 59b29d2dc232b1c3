/** A step of the build: the answers in the declarations, written out (answer-types.ts). */

import { readFileSync, writeFileSync } from "node:fs";
import { writtenOut } from "./answer-types.ts";

const file = new URL("../dist/src/contract/answers.d.ts", import.meta.url);
writeFileSync(file, writtenOut(readFileSync(file, "utf8")));
