/** The 512 places of a block in reading order, each with the state of its word: intact, missing or wrong. */

import { WORD_STATE } from "../codec/messages.ts";

const COLUMNS = { wide: 64, narrow: 32 };
const NARROW_BELOW = 560;
const GAP = 0.16;

export function PlaceMap({ wordStates }: { readonly wordStates: Uint8Array }) {
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
    <figure class="place-map">
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
