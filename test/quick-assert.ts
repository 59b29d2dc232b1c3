/**
 * Lets `assert.ok(value)` fail at once. Where it has no message, Node reads and parses the source of the test to
 * quote the expression, which takes up to a minute for a long file that tsx has put on few lines.
 */

import assert from "node:assert/strict";
import { inspect } from "node:util";

export function failAtOnce(): void {
  assert.ok = function ok(value: unknown, message?: string | Error): asserts value {
    if (value) return;
    if (message instanceof Error) throw message;
    throw new assert.AssertionError({
      message: message ?? `The value must be truthy, and is ${inspect(value)}`,
      actual: value,
      expected: true,
      operator: "==",
      stackStartFn: ok,
    });
  };
}
