/** The legend of a spectrum: a button for each band that highlights it, with its number of carriers. */

import { N } from "../../codec/field.ts";
import type { Band } from "./bands.ts";

interface LegendProps {
  readonly bands: readonly Band[];
  readonly highlight: number | undefined;
  readonly onHighlight: (start: number | undefined) => void;
}

export function Legend({ bands, highlight, onHighlight }: LegendProps) {
  const inUse = bands.length === 0 ? 0 : bands[bands.length - 1].end;
  return (
    <ul class="legend" aria-label="What the carriers belong to">
      {bands.map((band) => (
        <li key={band.start}>
          <button
            type="button"
            aria-pressed={highlight === band.start}
            onClick={() => onHighlight(highlight === band.start ? undefined : band.start)}
            onPointerEnter={() => onHighlight(band.start)}
            onPointerLeave={() => onHighlight(undefined)}
          >
            <span class={`swatch ${band.paint.slice(2)}`} aria-hidden="true" />
            {band.name} <small>{band.end - band.start}</small>
          </button>
        </li>
      ))}
      <li class="silent">
        <span class="swatch guard" aria-hidden="true" />
        Guard band, silent <small>{N - inUse}</small>
      </li>
    </ul>
  );
}
