/**
 * The last step of reading: values that are longer than a fact can be are split at the ends of sentences and numbered,
 * line breaks become spaces, and two different things never get one label. Lines that the file has labelled itself stay
 * as they are.
 */

import { VALUE_BYTES_MAX, withThousands } from "../base/limits.ts";
import type { FoundFact, FoundMemory, LeftOutLine } from "./findings.ts";
import { NAME_LENGTH_MAX } from "./words.ts";

const UTF8 = new TextEncoder();
const SENTENCE_END = /(?<=[.!?。！？;]["”’)]?)\s+(?=\S)|(?<=[。！？])/u;

export function bytesOf(text: string): number {
  return UTF8.encode(text).length;
}

export function tidyFacts(found: FoundMemory): FoundMemory {
  const facts: FoundFact[] = [];
  const leftOut: LeftOutLine[] = [...found.leftOut];
  /** By label: the values that have it, or a number added to it, and their lines. */
  const taken = new Map<string, Map<string, number>>();
  const used = new Set<string>();
  for (const fact of found.facts) {
    if (fact.isExact === true) {
      facts.push(fact);
      continue;
    }
    const { line, part, label } = fact;
    const value = oneLine(fact.value);
    const pieces = piecesOf(value);
    const others = taken.get(label) ?? new Map<string, number>();
    taken.set(label, others);
    const earlier = others.get(value);
    if (pieces === undefined) leftOut.push({ line, part, text: value, why: tooLong(value) });
    else if (earlier !== undefined)
      leftOut.push({ line, part, text: value, why: `a duplicate of line ${earlier}` });
    else {
      let number = others.size + 1;
      const nameOf = (piece: number) => {
        const name = number === 1 ? label : numbered(label, number);
        return pieces.length === 1 ? name : numbered(name, piece + 1);
      };
      while (pieces.some((_, i) => used.has(nameOf(i)))) number++;
      for (const [i, piece] of pieces.entries()) {
        used.add(nameOf(i));
        facts.push({ ...fact, label: nameOf(i), value: piece });
      }
      others.set(value, line);
    }
  }
  return { ...found, facts, leftOut };
}

function numbered(label: string, number: number): string {
  const end = `_${number}`;
  const dot = label.indexOf(".") + 1;
  return label.slice(0, dot) + label.slice(dot, dot + NAME_LENGTH_MAX - end.length) + end;
}

function oneLine(value: string): string {
  const lines = value.split(/[\r\n\u2028\u2029]/).map((line) => line.trim());
  return lines
    .filter((line) => line !== "")
    .join(" ")
    .replaceAll("\t", " ");
}

/** A value in pieces that fit; undefined where a sentence alone is too long. */
function piecesOf(value: string): string[] | undefined {
  // A character has three bytes at most, or four and counts twice.
  if (value.length * 3 <= VALUE_BYTES_MAX || bytesOf(value) <= VALUE_BYTES_MAX) return [value];
  const pieces: string[] = [];
  for (const sentence of value.split(SENTENCE_END)) {
    const longer = `${pieces.at(-1)} ${sentence}`;
    if (bytesOf(sentence) > VALUE_BYTES_MAX) return undefined;
    if (pieces.length > 0 && bytesOf(longer) <= VALUE_BYTES_MAX) pieces[pieces.length - 1] = longer;
    else pieces.push(sentence);
  }
  return pieces;
}

function tooLong(value: string): string {
  const bytes = withThousands(bytesOf(value));
  return `it has ${bytes} bytes, and a fact has ${withThousands(VALUE_BYTES_MAX)} at most: shorten it, or end its sentences with full stops`;
}
