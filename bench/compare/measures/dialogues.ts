/**
 * What is left of the facts of 60 dialogues (made ones, see dialogues/dialogue.ts) after compactions. A script writes the gold slots
 * to the memory as they are stated, changed and taken back; then the text that the memory gives for a prompt is looked at, which no
 * compaction touches. With Sideband's service also what needs no memory: the compacted text alone, and the sealed block alone.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PIECES } from "../../../src/memory/token-count.ts";
import { Sideband } from "../../../src/sdk/index.ts";
import { BUDGET, COMPACTIONS, outcomeOf, WAYS } from "../dialogues/compactions.ts";
import { type Dialogue, makeDialogues } from "../dialogues/dialogue.ts";
import { type Fates, fatesInFacts, fatesInText, spreadOf, spreads } from "../dialogues/fates.ts";
import { Sealer } from "../dialogues/sealed.ts";
import { type CountTokens, STRATEGIES } from "../dialogues/strategies.ts";
import type { Measure, Subject } from "../measure.ts";
import type { Memory } from "../memory.ts";
import { load } from "../packages.ts";
import type { Place } from "../place.ts";
import type { Result } from "../results.ts";

const DIALOGUES = 60;
/** Texts up to here come again. */
const SHORT = 2_000;

export const dialogues: Measure = {
  limitS: 3_600,
  async run(subject) {
    const made = makeDialogues(subject.run, subject.small ? 5 : DIALOGUES);
    const count = await tokenCounter();
    const written = await writeAll(subject, made, count);
    if (subject.id !== "sideband-service") return written;
    const facts = made.map((dialogue) => dialogue.facts.length);
    const tokens = made.map(({ turns }) =>
      turns.reduce((sum, { user, assistant }) => sum + count(`user: ${user}\nassistant: ${assistant}\n`), 0),
    );
    const talk = {
      count: made.length,
      turns: spreadOf(made.map(({ turns }) => turns.length)),
      slots: spreadOf(facts),
      tokens: spreadOf(tokens),
      budget: BUDGET,
    };
    return { ...written, talk, compacted: compactAll(made, count) };
  },
};

/** The tokens of o200k: the pieces of the vocabulary's own pattern, each counted once. */
async function tokenCounter(): Promise<CountTokens> {
  const { encode } = await load<{ encode(text: string): number[] }>("gpt-tokenizer/encoding/o200k_base");
  const known = new Map<string, number>();
  const counted = (text: string, tokens: () => number) => {
    let found = known.get(text);
    if (found === undefined) {
      found = tokens();
      if (text.length <= SHORT) known.set(text, found);
    }
    return found;
  };
  const pieces = (text: string) => text.match(PIECES) ?? [];
  return (text) =>
    counted(text, () =>
      pieces(text).reduce((sum, piece) => sum + counted(piece, () => encode(piece).length), 0),
    );
}

interface Held extends Fates {
  readonly tokens: number;
}

async function writeAll(subject: Subject, made: readonly Dialogue[], count: CountTokens): Promise<Result> {
  const at = subject.place();
  const memory = await subject.start(at);
  const held: Held[] = [];
  const blocks: Fates[] = [];
  const refusals = new Map<string, number>();
  for (const dialogue of made) {
    const refused = await writeGold(memory, dialogue);
    for (const reason of refused) refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    const text = await memory.index();
    held.push({ ...fatesInText(dialogue.facts, text), tokens: count(text) });
    if (subject.id === "sideband-service") blocks.push(await fatesInServedBlock(at, dialogue));
    // What was refused is not there.
    for (const { label, takenBack } of dialogue.facts)
      if (takenBack === undefined) await memory.erase(label).catch(() => {});
  }
  const result = { index: spreads(held), refused: Object.fromEntries(refusals) };
  return blocks.length === 0 ? result : { ...result, servedBlock: spreads(blocks) };
}

/** Writes what each turn states, changes and takes back. Returns why something was refused. */
async function writeGold(memory: Memory, dialogue: Dialogue): Promise<string[]> {
  const refused: string[] = [];
  for (const { label, value } of dialogue.turns.flatMap(({ writes }) => writes)) {
    const done = value === undefined ? memory.erase(label) : memory.write(label, value);
    await done.catch((error: Error) => refused.push(`${label}: ${error.message.split(/[\n:]/)[0]}`));
  }
  return refused;
}

/** The block that the service gives, which a hook puts into the prompt again after each compaction. */
async function fatesInServedBlock(at: Place, { facts }: Dialogue): Promise<Fates> {
  const apiKey = readFileSync(join(at.data, "first.key"), "utf8").trim();
  const baseUrl = `http://127.0.0.1:${at.notes.get("port")}`;
  // Times are not measured, and the machine may be busy.
  const memory = new Sideband<string>({ apiKey, baseUrl, timeoutMs: 120_000 });
  const { fdm_block } = await memory.context("ada", { include: "block" });
  const read = await memory.read("ada", fdm_block);
  return fatesInFacts(facts, new Map(read.facts.map(({ label, value }) => [label, value])));
}

/** By way, strategy and number of compactions. */
function compactAll(made: readonly Dialogue[], count: CountTokens) {
  const sealer = new Sealer();
  return Object.fromEntries(
    WAYS.map((way) => [
      way,
      Object.fromEntries(
        Object.entries(STRATEGIES).map(([name, compact]) => [
          name,
          Object.fromEntries(
            COMPACTIONS.map((compactions) => [
              compactions,
              spreads(
                made.map((dialogue) => outcomeOf(dialogue, way, { compact, compactions, count }, sealer)),
              ),
            ]),
          ),
        ]),
      ),
    ]),
  );
}
