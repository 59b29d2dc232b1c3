/** What changed between two values: words that are gone are struck out, new ones are underlined. */

import { useMemo } from "preact/hooks";
import { wordDifference } from "./word-difference.ts";

interface DifferenceProps {
  /** null: there was, or is, no fact. */
  readonly before: string | null;
  readonly after: string | null;
}

export function Difference({ before, after }: DifferenceProps) {
  const pieces = useMemo(() => wordDifference(before ?? "", after ?? ""), [before, after]);
  return (
    <span class="difference">
      {pieces.map(({ kind, text }, i) => {
        if (kind === "gone") return <del key={i}>{text}</del>;
        return kind === "new" ? <ins key={i}>{text}</ins> : <span key={i}>{text}</span>;
      })}
    </span>
  );
}
