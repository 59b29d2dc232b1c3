/** The 512 places of a block in reading order, each with the state of its word: intact, missing or wrong. */

import { FATE } from "../codec/messages.ts";

const COLUMNS = { wide: 64, narrow: 32 };
const NARROW_BELOW = 560;
const GAP = 0.16;

export function PlaceMap({ fates }: { readonly fates: Uint8Array }) {
  const columns = innerWidth < NARROW_BELOW ? COLUMNS.narrow : COLUMNS.wide;
  const countOf = (fate: number) => fates.reduce((count, other) => count + (other === fate ? 1 : 0), 0);
  const missing = countOf(FATE.missing);
  const wrong = countOf(FATE.wrong);
  const intact = fates.length - missing - wrong;
  const pathOf = (fate: number) =>
    Array.from(fates, (other, t) =>
      other === fate
        ? `M${(t % columns) + GAP / 2} ${Math.floor(t / columns) + GAP / 2}h${1 - GAP}v${1 - GAP}h${GAP - 1}z`
        : "",
    ).join("");
  return (
    <figure class="place-map">
      <svg
        viewBox={`0 0 ${columns} ${fates.length / columns}`}
        role="img"
        aria-label={`Of 512 places ${intact} are intact, ${missing} missing and ${wrong} wrong`}
      >
        <path class="intact" d={pathOf(FATE.intact)} />
        <path class="missing" d={pathOf(FATE.missing)} />
        <path class="wrong" d={pathOf(FATE.wrong)} />
      </svg>
      <figcaption>
        <span class="swatch intact" aria-hidden="true" /> {intact} in place
        <span class="swatch missing" aria-hidden="true" /> {missing} missing
        <span class="swatch wrong" aria-hidden="true" /> {wrong} wrong
      </figcaption>
    </figure>
  );
}
