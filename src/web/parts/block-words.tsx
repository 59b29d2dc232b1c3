/** A block's words as text that can be scrolled and selected; with fates, the lost ones are struck out. */

import { useMemo } from "preact/hooks";
import { FATE } from "../codec/messages.ts";

interface BlockWordsProps {
  readonly text: string;
  readonly fates?: Uint8Array | undefined;
  readonly label: string;
}

const CSS_CLASSES = { [FATE.intact]: "", [FATE.missing]: "lost", [FATE.wrong]: "changed" };

export function BlockWords({ text, fates, label }: BlockWordsProps) {
  const runs = useMemo(() => runsOf(text, fates), [text, fates]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
    <section class="words" tabIndex={0} aria-label={label}>
      {runs.map(({ fate, words }, i) => (
        <span key={i} class={CSS_CLASSES[fate as keyof typeof CSS_CLASSES]}>
          {words}{" "}
        </span>
      ))}
    </section>
  );
}

/** Neighbouring words with the same fate become one element: 512 elements would make every redraw slow. */
function runsOf(text: string, fates: Uint8Array | undefined): { fate: number; words: string }[] {
  if (fates === undefined) return [{ fate: FATE.intact, words: text }];
  const runs: { fate: number; words: string }[] = [];
  text
    .split(" ")
    .slice(1, -1)
    .forEach((word, t) => {
      const last = runs.at(-1);
      if (last?.fate === fates[t]) last.words += ` ${word}`;
      else runs.push({ fate: fates[t], words: word });
    });
  return runs;
}
