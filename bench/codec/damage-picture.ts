/** Draws survival against damage as an SVG: a panel for each kind of damage, a curve for each number of carriers. */

import type { DamageKind } from "./damage.ts";

export interface DamageRow {
  readonly carriers: number;
  readonly kind: DamageKind;
  readonly share: number;
  readonly trials: number;
  /** Share of the blocks that were read exactly. */
  readonly survived: number;
  readonly readMs: number;
}

const PANEL = { width: 270, height: 150, left: 46, top: 40, gapX: 40, gapY: 66, columns: 3 };
const COLOURS = ["#0b6e4f", "#2f7ed8", "#c77700", "#b3261e"];

export function drawDamage(rows: readonly DamageRow[]): string {
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const carriers = [...new Set(rows.map((row) => row.carriers))];
  const lines = Math.ceil(kinds.length / PANEL.columns);
  const width = PANEL.left + PANEL.columns * (PANEL.width + PANEL.gapX);
  const height = PANEL.top + lines * (PANEL.height + PANEL.gapY) + 10;
  const panels = kinds.map((kind, i) => {
    const x = PANEL.left + (i % PANEL.columns) * (PANEL.width + PANEL.gapX);
    const y = PANEL.top + Math.floor(i / PANEL.columns) * (PANEL.height + PANEL.gapY) + 24;
    return panel(
      kind,
      rows.filter((row) => row.kind === kind),
      carriers,
      x,
      y,
    );
  });
  const legend = carriers.map((count, i) => {
    const x = PANEL.left + i * 150;
    return `<line x1="${x}" y1="18" x2="${x + 22}" y2="18" stroke="${COLOURS[i]}" stroke-width="2.5"/>
<text x="${x + 28}" y="22">${count} carriers in use</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#333">
<title>Blocks read exactly, by kind and amount of damage</title>
<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.93) hue-rotate(180deg) } }</style>
<rect width="100%" height="100%" fill="#fff"/>
${legend.join("\n")}
${panels.join("\n")}
</svg>
`;
}

function panel(
  kind: string,
  rows: readonly DamageRow[],
  carriers: readonly number[],
  x: number,
  y: number,
): string {
  const shareMax = Math.min(1, Math.ceil(Math.max(...rows.map(({ share }) => share)) * 10) / 10);
  const toX = (share: number) => x + (share / shareMax) * PANEL.width;
  const toY = (survived: number) => y + (1 - survived) * PANEL.height;
  const grid = [0, 0.5, 1].map(
    (level) =>
      `<line x1="${x}" x2="${x + PANEL.width}" y1="${toY(level)}" y2="${toY(level)}" stroke="#ddd"/>
<text x="${x - 6}" y="${toY(level) + 4}" text-anchor="end" fill="#666">${level * 100}</text>`,
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const share = part * shareMax;
    return `<text x="${toX(share).toFixed(1)}" y="${y + PANEL.height + 16}" text-anchor="middle" fill="#666">${Math.round(share * 100)}</text>`;
  });
  const curves = carriers.map((count, i) => {
    const points = rows
      .filter((row) => row.carriers === count)
      .map(({ share, survived }) => `${toX(share).toFixed(1)},${toY(survived).toFixed(1)}`);
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${COLOURS[i]}" stroke-width="2"/>`;
  });
  const axis = kind === "mixed" ? "% dropped, as many replaced, a quarter inserted" : "% of the words";
  return `<text x="${x}" y="${y - 10}" font-weight="600">${kind}</text>
${grid.join("\n")}
${ticks.join("\n")}
<text x="${x + PANEL.width}" y="${y + PANEL.height + 32}" text-anchor="end" fill="#666">${axis}</text>
${curves.join("\n")}`;
}
