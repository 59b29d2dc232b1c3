/** Counts the calls of a client of a memory, by whoever makes them: none is counted by hand. */

export interface Counted<T> {
  readonly client: T;
  calls(): number;
}

/** The same client, whose methods count. What a method calls on its own object in turn does not. */
export function counted<T extends object>(target: T): Counted<T> {
  let calls = 0;
  const client = new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name, object);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls += 1;
        return value.apply(object, args);
      };
    },
  });
  return { client, calls: () => calls };
}
