/** 20 writers with 50 labels each, in one process and in 20, and 20 who add to one label at once: acknowledged, kept. */

import type { Measure, Subject } from "../measure.ts";
import { type Memory, valuesOf } from "../memory.ts";

const WRITERS = 20;
const LABELS = 50;
/** One of theirs: a memory of Sideband has 1,000 facts at most. */
const LIST = "FACT.w0n0";

export const writers: Measure = {
  limitS: 1_800,
  async run(subject) {
    // Each on a memory of its own: what breaks one says nothing of the next.
    const inOne = await writeAll(await clientsOf(subject, 1));
    const addedInOne = await addAll(await clientsOf(subject, 1));
    const inMany = await writeAll(await clientsOf(subject, WRITERS));
    const addedInMany = await addAll(await clientsOf(subject, WRITERS));
    return { inOne, inMany, addedInOne, addedInMany, adds: subject.peer.adds };
  },
};

/** As many clients as there are writers, in so many processes. The memory has its first fact. */
async function clientsOf(subject: Subject, processes: number): Promise<Memory[]> {
  const place = subject.place();
  const first = await subject.start(place);
  await first.write(LIST, "item0");
  const clients = [first];
  while (clients.length < processes) clients.push(await subject.open(place));
  return Array.from({ length: WRITERS }, (_, i) => clients[i % processes]);
}

async function writeAll(clients: readonly Memory[]) {
  const acknowledged = new Map<string, string>();
  await Promise.all(
    clients.map(async (client, writer) => {
      for (let i = 0; i < LABELS; i++) {
        const [label, value] = [`FACT.w${writer}n${i}`, `value ${i} of writer ${writer}`];
        const done = await client.write(label, value).then(
          () => true,
          () => false,
        );
        if (done) acknowledged.set(label, value);
      }
    }),
  );
  let kept = 0;
  for (const [label, found] of await valuesOf(clients[0], acknowledged.keys()))
    if (found === acknowledged.get(label)) kept += 1;
  return { sent: clients.length * LABELS, acknowledged: acknowledged.size, kept };
}

async function addAll(clients: readonly Memory[]) {
  const acknowledged: string[] = [];
  await Promise.all(
    clients.map(async (client, i) => {
      const item = `item${i + 1}`;
      const done = await client.add(LIST, item).then(
        () => true,
        () => false,
      );
      if (done) acknowledged.push(item);
    }),
  );
  const found = new Set(((await clients[0].read(LIST).catch(() => "")) ?? "").split(/;\s*/));
  return {
    sent: clients.length,
    acknowledged: acknowledged.length,
    kept: acknowledged.filter((item) => found.has(item)).length,
  };
}
