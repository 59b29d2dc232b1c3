/**
 * Many writers of one fact at once, on each node in turn: of those that name its revision exactly one wins, and no item of
 * a list is lost.
 */

import assert from "node:assert/strict";
import { Failure } from "../../../src/base/errors.ts";
import type { Caller } from "../../../src/memory/authentication.ts";
import { decodeFact } from "../../../src/memory/decode.ts";
import { type EncodeResult, encodeFacts } from "../../../src/memory/encode.ts";
import { changeList } from "../../../src/memory/lists.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";

type ServicesOfNodes = readonly [MemoryServices, ...MemoryServices[]];

const WRITERS = 20;
const label = "PREF.tools";

export async function raceForRevision(nodes: ServicesOfNodes, caller: Caller, rounds: number): Promise<void> {
  const userId = "racer";
  let revision = 0;
  for (let round = 0; round < rounds; round++) {
    const write = (writer: number) =>
      encodeFacts(nodes[writer % nodes.length], caller, {
        userId,
        facts: [{ label, value: `round ${round}, writer ${writer}`, ifRevision: revision }],
        operation: "encode",
      });
    const results = await Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    const won: EncodeResult[] = [];
    for (const result of results) {
      if (result.status === "fulfilled") won.push(result.value);
      else {
        const { reason } = result;
        assert.ok(reason instanceof Failure && reason.code === "revision_mismatch", String(reason));
      }
    }
    assert.equal(won.length, 1, `winners of round ${round}`);
    const [written] = won[0].facts;
    const { fact } = await decodeFact(nodes[round % nodes.length], caller.account, { userId, label });
    assert.deepEqual([fact.value, fact.revision], [written.value, written.revision]);
    revision = fact.revision;
  }
}

export async function appendAtOnce(nodes: ServicesOfNodes, caller: Caller, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const userId = `appender ${round}`;
    const items = Array.from({ length: WRITERS }, (_, writer) => `item ${writer}`);
    await Promise.all(
      items.map((item, i) => changeList(nodes[i % nodes.length], caller, "append", { userId, label, item })),
    );
    const { fact } = await decodeFact(nodes[round % nodes.length], caller.account, { userId, label });
    assert.deepEqual(new Set(fact.value.split("; ")), new Set(items), `items of round ${round}`);
    assert.equal(fact.value.split("; ").length, items.length);
  }
}
