/**
 * Values that are there at once or come later. A memory-mapped read has nothing to wait for; making a promise
 * of it all the same would cost more than the read.
 */

export type Eventual<T> = T | Promise<T>;

/** `next` of the value: at once where it is there, else when it comes. */
export function chain<T, U>(value: Eventual<T>, next: (value: T) => Eventual<U>): Eventual<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
