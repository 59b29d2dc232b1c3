/** Faults in the rules of the service. */

import type { Mutant } from "./mutant.ts";

export const MEMORY_MUTANTS: readonly Mutant[] = [
  {
    name: "expired-key-cached",
    fault: "A key that was looked up once keeps working after its expiry.",
    file: "src/memory/authentication.ts",
    find: "if (cached !== undefined) return this.#use(cached);",
    replace: "if (cached !== undefined) return cached;",
    tests: ["test/unit/memory/authentication.test.ts"],
    quick: true,
  },
];
