/** All mutants, by the layer that they are in. */

import { AGENT_MUTANTS } from "./agents.ts";
import { CODEC_MUTANTS } from "./codec.ts";
import { HTTP_MUTANTS } from "./http.ts";
import { MEMORY_MUTANTS } from "./memory.ts";
import type { Mutant } from "./mutant.ts";

export const MUTANTS: readonly Mutant[] = [
  ...MEMORY_MUTANTS,
  ...HTTP_MUTANTS,
  ...AGENT_MUTANTS,
  ...CODEC_MUTANTS,
];
