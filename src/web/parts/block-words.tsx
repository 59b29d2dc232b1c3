/** A block's words as text that can be scrolled and selected. If their states are known, lost words are struck out. */

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
