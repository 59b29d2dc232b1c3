/** 20 writers with 50 labels each, in one process and in 20, and 20 who add to one label at once: acknowledged, kept. */

import type { Measure, Subject } from "../measure.ts";
import type { Memory } from "../memory.ts";

const WRITERS = 20;
const LABELS = 50;
/** One of theirs: a memory of Sideband has 1,000 facts at most. */
const LIST = "FACT.w0n0";

export const writers: Measure = {
  limitS: 300,
  async run(subject) {
    const one = await subject.start(subject.place());
    const inOne = await writeAll(
      Array.from({ length: WRITERS }, () => one),
      one,
    );
    const addedInOne = await addAll(
      Array.from({ length: WRITERS }, () => one),
      one,
    );
    const many = await manyClients(subject);
    const inMany = await writeAll(many, many[0]);
    const addedInMany = await addAll(many, many[0]);
    return { inOne, inMany, addedInOne, addedInMany, adds: subject.peer.adds };
  },
};

async function manyClients(subject: Subject): Promise<Memory[]> {
  const place = subject.place();
  const first = await subject.start(place);
  await first.write(LIST, "made before the others came");
  const others: Memory[] = [];
  for (let i = 1; i < WRITERS; i++) others.push(await subject.open(place));
  return [first, ...others];
}

async function writeAll(clients: readonly Memory[], reader: Memory) {
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
  for (const [label, value] of acknowledged) {
    const found = await reader.read(label).catch(() => undefined);
    if (found === value) kept += 1;
  }
  return { sent: clients.length * LABELS, acknowledged: acknowledged.size, kept };
}

async function addAll(clients: readonly Memory[], reader: Memory) {
  const label = LIST;
  await reader.write(label, "item0");
  const acknowledged: string[] = [];
  await Promise.all(
    clients.map(async (client, i) => {
      const item = `item${i + 1}`;
      const done = await client.add(label, item).then(
        () => true,
        () => false,
      );
      if (done) acknowledged.push(item);
    }),
  );
  const found = new Set(((await reader.read(label).catch(() => "")) ?? "").split(/;\s*/));
  return {
    sent: clients.length,
    acknowledged: acknowledged.length,
    kept: acknowledged.filter((item) => found.has(item)).length,
  };
}
