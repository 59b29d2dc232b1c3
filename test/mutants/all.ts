/** All mutants, by the layer that they are in. */

import { AGENT_MUTANTS } from "./agents.ts";
import { CODEC_MUTANTS } from "./codec.ts";
import { HTTP_MUTANTS } from "./http.ts";
import { MAIN_MUTANTS } from "./main.ts";
import { MEMORY_MUTANTS } from "./memory.ts";
import type { Mutant } from "./mutant.ts";
import { STORE_MUTANTS } from "./store.ts";
import { STORE_POSTGRES_MUTANTS } from "./store-postgres.ts";

export const MUTANTS: readonly Mutant[] = [
  ...MEMORY_MUTANTS,
  ...STORE_MUTANTS,
  ...STORE_POSTGRES_MUTANTS,
  ...MAIN_MUTANTS,
  ...HTTP_MUTANTS,
  ...AGENT_MUTANTS,
  ...CODEC_MUTANTS,
];
