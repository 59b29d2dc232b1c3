/**
 * What changed between two texts, word by word: the longest common subsequence of words, spaces and signs, by the usual
 * table. A value has at most 1,024 bytes, so that the table stays small.
 */

import { useMemo } from "preact/hooks";

interface DiffProps {
  /** null: there was, or is, no fact. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Words that are gone are struck out, new ones are underlined. */
export function Diff({ before, after }: DiffProps) {
  const parts = useMemo(() => diffWords(before ?? "", after ?? ""), [before, after]);
  return (
    <span class="diff">
      {parts.map(({ kind, text }, i) => {
        if (kind === "gone") return <del key={i}>{text}</del>;
        return kind === "new" ? <ins key={i}>{text}</ins> : <span key={i}>{text}</span>;
      })}
    </span>
  );
}

interface DiffPart {
  readonly kind: "same" | "gone" | "new";
  readonly text: string;
}

export function diffWords(before: string, after: string): DiffPart[] {
  const [old, young] = [wordsOf(before), wordsOf(after)];
  const width = young.length + 1;
  // common[i * width + j]: words that old from i on and young from j on have in common.
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      common[i * width + j] =
        old[i] === young[j]
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const parts: DiffPart[] = [];
  const add = (kind: DiffPart["kind"], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
    else parts.push({ kind, text });
  };
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      add("same", old[i]);
      i += 1;
      j += 1;
    } else if (
      j === young.length ||
      (i < old.length && common[(i + 1) * width + j] >= common[i * width + j + 1])
    ) {
      add("gone", old[i]);
      i += 1;
    } else {
      add("new", young[j]);
      j += 1;
    }
  }
  return parts;
}

function wordsOf(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{M}\p{N}_]+|./gsu) ?? [];
}
