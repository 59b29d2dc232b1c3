/**
 * Draws the spectrum of a real block for the README: npm run pictures. Each bar is one of the 512 carriers, as high
 * as its digit; the colour says whose it is. Facts, key and user are fixed, so that the picture changes only when
 * the format does.
 */

import { writeFileSync } from "node:fs";
import { CHANNELS } from "../src/base/channels.ts";
import { type BlockFact, buildBlock } from "../src/codec/block.ts";
import { PLAIN_CODEBOOK } from "../src/codec/codebook.ts";
import { P } from "../src/codec/field.ts";
import { findPassages } from "../src/codec/framing.ts";
import { deriveBlockKey } from "../src/codec/seal.ts";
import { toSpectrum } from "../src/codec/transform.ts";

const SHOWN = ["USER.name", "USER.gpu", "PREF.response_style", "TASK.current", "TASK.deadline", "PROJ.goal"];
const COLOURS = ["#2f7ed8", "#0b8457", "#8e5bd0", "#c77700", "#d1495b", "#1f8a9c"];
const SIZE = { left: 20, top: 30, width: 1024, height: 120 };

const facts = SHOWN.map((label, order): BlockFact => {
  const channel = CHANNELS.find((row) => row.label === label)!;
  return { channel: channel.channel, value: channel.example, order };
});
const key = deriveBlockKey(new Uint8Array(32), 0, "docs");
const block = buildBlock(facts, { key, userId: "docs", codebook: PLAIN_CODEBOOK });
const [passage] = findPassages(block.text);
const spectrum = toSpectrum(Uint16Array.from(passage.words, (word) => word % P));

interface Part {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly colour: string;
}
const { directory, channels, end } = block.layout;
const parts: Part[] = [
  { name: "header and seal", start: 0, end: directory.start, colour: "#555" },
  { name: "directory", start: directory.start, end: directory.start + directory.count, colour: "#999" },
  ...channels.map(({ channel, start, count }, i) => ({
    name: `${CHANNELS[channel].label} = ${CHANNELS[channel].example}`,
    start,
    end: start + count,
    colour: COLOURS[i % COLOURS.length],
  })),
];

const scale = SIZE.width / spectrum.length;
const base = SIZE.top + SIZE.height;
const bars = parts.map(({ start, end: stop, colour }) => {
  const path = Array.from({ length: stop - start }, (_, i) => {
    const height = Math.max(2, (spectrum[start + i] / P) * SIZE.height);
    return `M${(SIZE.left + (start + i + 0.5) * scale).toFixed(1)} ${base}v-${height.toFixed(1)}`;
  }).join("");
  return `<path d="${path}" stroke="${colour}" stroke-width="1.5" fill="none"/>`;
});
const legend = parts.map(
  ({ name, start, end: stop, colour }, i) =>
    `<rect x="${SIZE.left + (i % 2) * 500}" y="${base + 38 + Math.floor(i / 2) * 20}" width="12" height="12" rx="2" fill="${colour}"/>
<text x="${SIZE.left + 18 + (i % 2) * 500}" y="${base + 48 + Math.floor(i / 2) * 20}">${name} <tspan fill="#777">${stop - start} carriers</tspan></text>`,
);
const silentX = SIZE.left + end * scale;
const height = base + 50 + Math.ceil(parts.length / 2) * 20;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width + 2 * SIZE.left} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<title>The spectrum of a block with ${facts.length} facts: ${end} carriers in use, ${spectrum.length - end} silent</title>
<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg) } }</style>
<rect width="100%" height="100%" fill="#fff"/>
<rect x="${silentX}" y="${SIZE.top}" width="${SIZE.left + SIZE.width - silentX}" height="${SIZE.height}" fill="#f1f4f6"/>
<text x="${(silentX + SIZE.left + SIZE.width) / 2}" y="${SIZE.top + SIZE.height / 2}" text-anchor="middle" fill="#567">guard band: ${spectrum.length - end} silent carriers</text>
<text x="${(silentX + SIZE.left + SIZE.width) / 2}" y="${SIZE.top + SIZE.height / 2 + 18}" text-anchor="middle" fill="#789">any ${spectrum.length - end} of the 512 words may be lost</text>
${bars.join("\n")}
<path d="M${SIZE.left} ${base}h${SIZE.width}" stroke="#bbb"/>
<text x="${SIZE.left}" y="${base + 18}" fill="#777">carrier 0</text>
<text x="${SIZE.left + SIZE.width}" y="${base + 18}" text-anchor="end" fill="#777">511</text>
<text x="${SIZE.left}" y="18" font-weight="600">One block, six facts: each on its own carriers, sealed</text>
${legend.join("\n")}
</svg>
`;
writeFileSync(new URL("../docs/pictures/spectrum.svg", import.meta.url), svg);
console.log(`docs/pictures/spectrum.svg: ${end} carriers in use`);
