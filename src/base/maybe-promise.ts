/**
 * Values that are there at once, or later. The embedded store answers a read at once, a database later, and the same
 * code serves both. A promise is made only where something is waited for: promises take a twentieth of a decode.
 */

export type MaybePromise<T> = T | Promise<T>;

/** Uses a value now if it is there, else when it comes. */
export function andThen<T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
