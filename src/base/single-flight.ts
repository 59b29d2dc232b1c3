/**
 * Work that several callers want at the same time is done once. Each caller may leave. When all have left, the work is
 * told to end, and the next caller begins it anew.
 */

interface Flight<T> {
  readonly result: Promise<T>;
  readonly end: (reason: unknown) => void;
  callers: number;
}

export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** The result of the work under this name, begun now or before. */
  join(
    name: string,
    signal: AbortSignal | undefined,
    begin: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const flight = this.#flights.get(name) ?? this.#begin(name, begin);
    flight.callers++;
    if (signal === undefined) return flight.result;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        flight.callers--;
        if (flight.callers === 0) flight.end(signal.reason);
      };
      flight.result.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });
  }

  #begin(name: string, begin: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const forget = () => {
      if (this.#flights.get(name) === flight) this.#flights.delete(name);
    };
    const flight: Flight<T> = {
      result: begin(controller.signal).finally(forget),
      end: (reason) => {
        forget();
        controller.abort(reason);
      },
      callers: 0,
    };
    this.#flights.set(name, flight);
    return flight;
  }
}
