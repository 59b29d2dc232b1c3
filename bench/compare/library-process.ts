/** The process in which a library is opened: answers the calls of library-client.ts. Times of a library are taken in here. */

import type { Answer, Question } from "./library-client.ts";
import type { Peer } from "./memory.ts";
import { Place } from "./place.ts";
import { type Times, timesOf } from "./times.ts";

const [id, folder, notes] = process.argv.slice(2);
const place = new Place(folder);
for (const [name, value] of JSON.parse(notes)) place.notes.set(name, value);
const send = (answer: Answer) => process.send?.(answer);
process.once("disconnect", () => process.exit());
try {
  if (id === "") await new Promise(() => send({ id: 0, calls: [] }));
  const { peer } = (await import(`./peers/${id}.ts`)) as { peer: Peer };
  const startedAt = performance.now();
  const memory = await peer.open(place);
  await memory.read("FACT.none");
  const openedMs = performance.now() - startedAt;
  const calls: Record<string, (...args: never[]) => unknown> = {
    ...(memory as object),
    openedMs: () => openedMs,
    times: (count: number): Promise<Times> => timesOf(memory, count),
  };
  process.on("message", async (message) => {
    const { id: key, call, args } = message as Question;
    try {
      send({ id: key, result: await calls[call](...(args as never[])) });
    } catch (error) {
      send({ id: key, error: error instanceof Error ? error.message : String(error) });
    }
  });
  send({ id: 0, calls: Object.keys(calls) });
} catch (error) {
  send({ id: 0, error: error instanceof Error ? error.message : String(error) });
}
