/** What `sideband measure` works with: a measure of blocks as this release writes them. */

import { loadCodebooks } from "../blockwork/codebooks.ts";
import { Measure } from "../measure/measure.ts";

export { findProfileProblem } from "../measure/measure.ts";

export function openMeasure(): Measure {
  return new Measure(loadCodebooks()[0]);
}
