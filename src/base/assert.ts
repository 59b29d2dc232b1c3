/**
 * Assertions for the programmer's errors. Expected failures (bad input, a damaged block, a full disk) are never
 * asserted: they are handled where they happen and have errors of their own.
 */

export class AssertionError extends Error {
  override name = "AssertionError";
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The element of a list that must have one there. */
export function elementAt<T>(list: readonly T[], index: number): T {
  const element = list[index];
  assert(element !== undefined, "the list has an element there");
  return element;
}

/** Asserts that `value` is an integer in [min, max]. */
export function assertInteger(value: number, min: number, max: number, name: string): void {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new AssertionError(`${name} must be an integer from ${min} to ${max}, not ${value}`);
  }
}
