/** Which carriers belong to what, with the colours that every picture of a spectrum uses. */

import type { Layout } from "../../codec/block.ts";

export interface Band {
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
