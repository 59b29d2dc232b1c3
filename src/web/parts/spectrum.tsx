/**
 * A spectrum on a canvas: 512 bars, one for each carrier, as high as its digit, in the colour of its band. Carriers
 * after the last band are the guard band, which should be empty; what is there is drawn in the colour of noise.
 * Narrow screens get the carriers in two rows. Changes are animated, unless the visitor asked for less motion. The bands
 * say which carriers belong to what, and the legend names them.
 */

import { useEffect, useRef } from "preact/hooks";
import type { Layout } from "../../codec/block.ts";
import { N, P } from "../../codec/field.ts";

interface SpectrumProps {
  /** 512 digits; undefined while there is none. */
  readonly carriers: Uint16Array | undefined;
  /** Empty if it is not known what the carriers belong to. */
  readonly bands: readonly Band[];
  readonly label: string;
  /** The band to highlight, by its first carrier. */
  readonly highlight?: number | undefined;
}

const GLIDE_MS = 260;
const ROW_GAP = 14;
const NARROW_BELOW = 560;

export function Spectrum({ carriers, bands, label, highlight }: SpectrumProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = useRef(new Float64Array(N));

  useEffect(() => {
    const element = canvas.current!;
    const from = shown.current.slice();
    const started = performance.now();
    const glideMs = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : GLIDE_MS;
    let frame = 0;
    const step = () => {
      const progress = glideMs === 0 ? 1 : Math.min(1, (performance.now() - started) / glideMs);
      const eased = 1 - (1 - progress) ** 3;
      for (let k = 0; k < N; k++) {
        const target = carriers === undefined ? 0 : carriers[k] / (P - 1);
        shown.current[k] = from[k] + (target - from[k]) * eased;
      }
      draw(element, shown.current, bands, highlight);
      if (progress < 1) frame = requestAnimationFrame(step);
    };
    step();
    const redraw = () => draw(element, shown.current, bands, highlight);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const observer = new ResizeObserver(redraw);
    observer.observe(element);
    scheme.addEventListener("change", redraw);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      scheme.removeEventListener("change", redraw);
    };
  }, [carriers, bands, highlight]);

  return <canvas ref={canvas} class="spectrum" role="img" aria-label={label} />;
}

function isSilentBand(heights: Float64Array, from: number): boolean {
  return heights.subarray(from).every((height) => height <= 0.001);
}

function draw(
  canvas: HTMLCanvasElement,
  heights: Float64Array,
  bands: readonly Band[],
  highlight: number | undefined,
): void {
  const context = canvas.getContext("2d");
  const { clientWidth: width, clientHeight: height } = canvas;
  if (context === null || width === 0) return;
  const density = devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  context.scale(density, density);
  const style = getComputedStyle(canvas);
  const colourOf = (property: string) => style.getPropertyValue(property).trim();

  const rows = width < NARROW_BELOW ? 2 : 1;
  const perRow = N / rows;
  const pitch = width / perRow;
  const rowHeight = (height - (rows - 1) * ROW_GAP) / rows;
  const at = (k: number) => {
    const row = Math.floor(k / perRow);
    return { x: (k % perRow) * pitch, bottom: row * (rowHeight + ROW_GAP) + rowHeight };
  };
  const inUse = bands.length === 0 ? N : bands[bands.length - 1].end;

  context.fillStyle = colourOf("--guard");
  for (let k = inUse; k < N; k += perRow - (k % perRow)) {
    const { x, bottom } = at(k);
    context.fillRect(x, bottom - rowHeight, width - x, rowHeight);
  }
  if (inUse < N && isSilentBand(heights, inUse)) {
    const last = at(N - 1);
    const left = Math.max(at(inUse).x, 0) * (inUse >= N - perRow ? 1 : 0);
    const middle = (left + width) / 2;
    context.font = `13px ${style.fontFamily}`;
    context.textAlign = "center";
    context.fillStyle = colourOf("--soft");
    const text = `${N - inUse} silent carriers`;
    if (context.measureText(text).width + 16 < width - left) {
      context.fillText(text, middle, last.bottom - rowHeight / 2 + 5);
    }
  }
  const bar = (k: number) => {
    if (heights[k] <= 0.001) return;
    const { x, bottom } = at(k);
    const tall = Math.max(2, heights[k] * (rowHeight - 2));
    context.fillRect(x, bottom - tall, Math.max(pitch * 0.72, 0.7), tall);
  };
  for (const band of bands) {
    context.globalAlpha = highlight === undefined || highlight === band.start ? 1 : 0.2;
    context.fillStyle = colourOf(band.paint);
    for (let k = band.start; k < band.end; k++) bar(k);
  }
  context.globalAlpha = highlight === undefined ? 1 : 0.2;
  context.fillStyle = colourOf("--noise");
  for (let k = inUse; k < N; k++) bar(k);
  if (bands.length === 0) for (let k = 0; k < N; k++) bar(k);

  context.globalAlpha = 1;
  context.fillStyle = colourOf("--line");
  for (let row = 0; row < rows; row++) {
    context.fillRect(0, row * (rowHeight + ROW_GAP) + rowHeight - 1, width, 1);
  }
}

interface LegendProps {
  readonly bands: readonly Band[];
  readonly highlight: number | undefined;
  readonly onHighlight: (start: number | undefined) => void;
}

/** A button for each band that highlights it, with its number of carriers. */
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
            <span class="swatch" style={{ background: `var(${band.paint})` }} aria-hidden="true" />
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

interface Band {
  readonly name: string;
  readonly start: number;
  /** The first carrier after it. */
  readonly end: number;
  /** The custom property that holds its colour. */
  readonly paint: string;
  readonly channel?: number;
}

/** The custom properties of the four groups of labels, in channel order: ten channels each. */
const GROUP_PAINTS = ["--user", "--pref", "--task", "--proj"];
const CHANNELS_IN_GROUP = 10;
/** Of the channels after them, which hold the labels of an account's own. */
const OWN_PAINT = "--own";
const SHADES = 3;

export function bandsOf(layout: Layout, labelOf: (channel: number) => string): Band[] {
  const { directory } = layout;
  return [
    { name: "Header", start: 0, end: 1, paint: "--header" },
    { name: "Seal", start: 1, end: directory.start, paint: "--seal" },
    {
      name: "Directory",
      start: directory.start,
      end: directory.start + directory.count,
      paint: "--directory",
    },
    ...layout.channels.map(({ channel, start, count }, i) => ({
      name: labelOf(channel),
      start,
      end: start + count,
      paint: paintOf(channel, i),
      channel,
    })),
  ];
}

/** Neighbours differ in shade, groups in hue. */
function paintOf(channel: number, index: number): string {
  return `${GROUP_PAINTS[Math.floor(channel / CHANNELS_IN_GROUP)] ?? OWN_PAINT}-${index % SHADES}`;
}
