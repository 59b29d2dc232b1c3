/**
 * Killed at every named step, and stopped and resumed at some: all that was acknowledged is there, and nothing else.
 * `npm run test:crash` stops for 40 seconds at each of them, and then makes a long random run.
 */

import { after, before, suite, test } from "node:test";
import { makeTemplate, SERVED_STEPS, type Template, trySteps } from "./crash-steps.ts";

suite("crash", () => {
  let template: Template | undefined;
  before(async () => {
    template = await makeTemplate();
  });
  after(() => template?.remove());

  test("killed at each step in turn, under load", () =>
    trySteps(template!, { steps: SERVED_STEPS, atOnce: 3 }));

  test("stopped for a second while another tries to take the folder, and resumed", () =>
    trySteps(template!, {
      steps: ["start: locked", "group: sent", "compaction: caught up", "restore: copied"],
      atOnce: 4,
      stopMs: 1_000,
    }));
});
