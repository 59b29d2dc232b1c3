/**
 * The site's typeface, Geist, cut down to what the pages use: Latin letters, a few signs, and the weights from regular
 * to semibold. What a value holds beyond that is drawn with the reader's own fonts. The style sheets name these files,
 * and the pages preload them (src/web/shell.ts).
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import subsetFont from "subset-font";

/** ASCII and Latin-1, and what our texts and samples have beyond them. */
const CHARACTERS = [...range(0x20, 0x7e), ...range(0xa0, 0xff)].join("");
const SIGNS = "–—‘’“”…→←·×€ŒœŠšŽžẞ";

interface SiteFont {
  /** How the style sheets name it: url("/fonts/NAME"). */
  readonly name: string;
  readonly file: string;
  readonly characters: string;
  readonly weights: { readonly min: number; readonly max: number };
}

const FONTS: readonly SiteFont[] = [
  {
    name: "sans.woff2",
    file: "geist/files/geist-latin-wght-normal.woff2",
    characters: CHARACTERS + SIGNS,
    weights: { min: 400, max: 650 },
  },
  {
    name: "mono.woff2",
    file: "geist-mono/files/geist-mono-latin-wght-normal.woff2",
    characters: [...range(0x20, 0x7e)].join("") + SIGNS,
    weights: { min: 400, max: 600 },
  },
];

/** Each font as WOFF2, by the name that the style sheets use. */
export async function siteFonts(): Promise<Map<string, Buffer>> {
  const made = FONTS.map(async ({ name, file, characters, weights }) => {
    const whole = readFileSync(
      fileURLToPath(new URL(`../node_modules/@fontsource-variable/${file}`, import.meta.url)),
    );
    const options = { targetFormat: "woff2", variationAxes: { wght: weights } } as const;
    return [name, await subsetFont(whole, characters, options)] as const;
  });
  return new Map(await Promise.all(made));
}

function range(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
}
