/** A mixture of things by weight. */

import type { Random } from "../../../src/base/random.ts";

export function pickByWeight<T extends { readonly weight: number }>(items: readonly T[], random: Random): T {
  const total = items.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.below(total);
  return items.find(({ weight }) => {
    left -= weight;
    return left < 0;
  })!;
}
