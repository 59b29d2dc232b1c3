/** A block's words: as text that can be scrolled and selected, with lost words struck out, and as a map of their places. */

import { useMemo } from "preact/hooks";
import { WORD_STATE } from "../codec/messages.ts";

interface BlockWordsProps {
  readonly text: string;
  readonly wordStates?: Uint8Array | undefined;
  readonly label: string;
}

const CSS_CLASSES = { [WORD_STATE.intact]: "", [WORD_STATE.missing]: "lost", [WORD_STATE.wrong]: "changed" };

export function BlockWords({ text, wordStates, label }: BlockWordsProps) {
  const runs = useMemo(() => runsOf(text, wordStates), [text, wordStates]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class="words" tabIndex={0} aria-label={label}>
      {runs.map(({ wordState, words }, i) => (
        <span key={i} class={CSS_CLASSES[wordState as keyof typeof CSS_CLASSES]}>
          {words}{" "}
        </span>
      ))}
    </section>
  );
}

/** Neighbouring words with the same state become one element: 512 elements would make every redraw slow. */
function runsOf(text: string, wordStates: Uint8Array | undefined): { wordState: number; words: string }[] {
  if (wordStates === undefined) return [{ wordState: WORD_STATE.intact, words: text }];
  const runs: { wordState: number; words: string }[] = [];
  text
    .split(" ")
    .slice(1, -1)
    .forEach((word, t) => {
      const last = runs.at(-1);
      if (last?.wordState === wordStates[t]) last.words += ` ${word}`;
      else runs.push({ wordState: wordStates[t], words: word });
    });
  return runs;
}

const COLUMNS = { wide: 64, narrow: 32 };
const NARROW_BELOW = 560;
const GAP = 0.16;

/** The 512 places of a block in reading order, each with the state of its word: intact, missing or wrong. */
export function WordMap({ wordStates }: { readonly wordStates: Uint8Array }) {
  const columns = innerWidth < NARROW_BELOW ? COLUMNS.narrow : COLUMNS.wide;
  const countOf = (wordState: number) =>
    wordStates.reduce((count, other) => count + (other === wordState ? 1 : 0), 0);
  const missing = countOf(WORD_STATE.missing);
  const wrong = countOf(WORD_STATE.wrong);
  const intact = wordStates.length - missing - wrong;
  const pathOf = (wordState: number) =>
    Array.from(wordStates, (other, t) =>
      other === wordState
        ? `M${(t % columns) + GAP / 2} ${Math.floor(t / columns) + GAP / 2}h${1 - GAP}v${1 - GAP}h${GAP - 1}z`
        : "",
    ).join("");
  return (
    <figure class="word-map">
      <svg
        viewBox={`0 0 ${columns} ${wordStates.length / columns}`}
        role="img"
        aria-label={`Of 512 places ${intact} are intact, ${missing} missing and ${wrong} wrong`}
      >
        <path class="intact" d={pathOf(WORD_STATE.intact)} />
        <path class="missing" d={pathOf(WORD_STATE.missing)} />
        <path class="wrong" d={pathOf(WORD_STATE.wrong)} />
      </svg>
      <figcaption>
        <span class="swatch intact" aria-hidden="true" /> {intact} in place
        <span class="swatch missing" aria-hidden="true" /> {missing} missing
        <span class="swatch wrong" aria-hidden="true" /> {wrong} wrong
      </figcaption>
    </figure>
  );
}
