/**
 * The pictures of the comparison with other memories, as SVG: bars with their numbers beside them, so that no colour and no length
 * has to be read alone. They are narrow, for a phone. The page /benchmarks has all of them; two are files of the documents.
 */

import type { Results } from "../../bench/compare/results.ts";
import { escapeHtml } from "../../src/web/shell.ts";
import { type Column, cellOf, median, resultsOf } from "./columns.ts";
import {
  ALL_TOOLS,
  KEPT_IN_MANY,
  KEPT_IN_ONE,
  LOST_IN_ALL,
  type Lost,
  promptOf,
  type Tokens,
  type Writers,
} from "./counted.ts";
import { dialoguesPicture } from "./dialogues.ts";
import { nameOf } from "./measures.ts";
import type { Picture } from "./svg.ts";

const WIDTH = 360;
const BAR_WIDTH = 226;

interface Bars<R> extends Pick<Picture, "id" | "title" | "table"> {
  /** What each bar of a memory is: its name, its number as a text, and its length. */
  readonly bars: readonly (readonly [
    name: string,
    measure: string,
    column: Column<R>,
    length: (result: R) => number,
  ])[];
  /** A bar of this length is full; the longest one where there is none. */
  readonly full?: number;
}

function barPicture<R>(results: Results, { bars, full, ...picture }: Bars<R>): Picture | undefined {
  const memories = Object.keys(results.peers).flatMap((peer) => {
    const measured = bars.map(([name, measure, column, length]) => {
      const all = resultsOf<R>(results, measure, peer);
      return { name, text: cellOf(results, measure, peer, column).text, length: median(all.map(length)) };
    });
    return measured.every(({ text }) => text === "not measured")
      ? []
      : [{ name: nameOf(results, peer), isOwn: peer.startsWith("sideband"), measured }];
  });
  if (memories.length === 0) return undefined;
  const lengths = memories.flatMap(({ measured }) => measured.flatMap(({ length }) => length || 0));
  const longest = full ?? Math.max(...lengths);
  const body = [legend(bars.map(([name]) => name))];
  let y = 30;
  for (const { name, isOwn, measured } of memories) {
    body.push(`<text${isOwn ? ' class="strong"' : ""} y="${y + 10}">${escapeHtml(name)}</text>`);
    y += 16;
    for (const [i, { text, length }] of measured.entries()) {
      const width = Math.round((BAR_WIDTH * (length || 0)) / longest);
      const kind = `${isOwn ? "own" : "other"}${i === 0 && bars.length > 1 ? " pale" : ""}`;
      body.push(
        `<rect class="track" y="${y}" width="${BAR_WIDTH}" height="9"/><rect class="${kind}" y="${y}" width="${width}" height="9"/>`,
        `<text class="number" x="${BAR_WIDTH + 8}" y="${y + 9}">${escapeHtml(text)}</text>`,
      );
      y += 14;
    }
    y += 8;
  }
  const said = memories.map(
    ({ name, measured }) => `${name} ${measured.map((bar) => `${bar.name} ${bar.text}`).join(", ")}`,
  );
  return {
    ...picture,
    alt: `${picture.title}: ${said.join("; ")}.`,
    width: WIDTH,
    height: y,
    body: body.join("\n"),
  };
}

function legend(names: readonly string[]): string {
  const marks = names.map((name, i) => {
    const x = i * (WIDTH / names.length);
    const kind = `other${i === 0 && names.length > 1 ? " pale" : ""}`;
    return `<rect class="${kind}" x="${x}" y="3" width="12" height="9"/><text class="soft" x="${x + 18}" y="12">${escapeHtml(name)}</text>`;
  });
  return marks.join("");
}

/** @param columns of panels in a picture that has several: a phone has room for one */
export function comparisonPictures(results: Results, columns = 1): Picture[] {
  return [
    dialoguesPicture(results, columns),
    barPicture<Writers>(results, {
      id: "kept-writes",
      title: "Writes of many at once that are kept",
      table: "Many writers at once",
      bars: [
        ["through one process", "writers", KEPT_IN_ONE, ({ inOne }) => inOne.kept / inOne.sent],
        ["each a process of its own", "writers", KEPT_IN_MANY, ({ inMany }) => inMany.kept / inMany.sent],
      ],
      full: 1,
    }),
    barPicture<Lost>(results, {
      id: "lost-writes",
      title: "Writes answered as done that are lost",
      bars: [
        ["killed", "kills", LOST_IN_ALL, ({ lost, acknowledged }) => lost / acknowledged],
        ["power lost", "power", LOST_IN_ALL, ({ lost, acknowledged }) => lost / acknowledged],
      ],
      full: 1,
    }),
    barPicture<Tokens>(results, {
      id: "tokens",
      title: "Tokens that a model reads",
      bars: [
        ["tools and instructions", "tokens", ALL_TOOLS, ({ tools }) => tools ?? 0],
        ["40 facts", "tokens", promptOf("40"), ({ prompt }) => prompt["40"]],
      ],
    }),
  ].filter((picture) => picture !== undefined);
}

/** Those that have a file in docs/pictures. */
export function documentPictures(results: Results): Picture[] {
  return comparisonPictures(results, 2).filter(({ table }) => table !== undefined);
}
