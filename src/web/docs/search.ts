/** The search over the docs: every word of the query must occur; words in titles count more. No server takes part. */

export interface SearchEntry {
  /** The page, with the section's anchor. */
  readonly address: string;
  /** The title of the page. */
  readonly page: string;
  /** The title of the section. */
  readonly title: string;
  readonly text: string;
}

export interface Hit {
  readonly entry: SearchEntry;
  /** A piece of the text around the first word found. */
  readonly excerpt: string;
}

const HITS_MAX = 8;
const BEFORE = 40;
const EXCERPT_LENGTH = 140;

export interface Findings {
  /** Sections that hold all words. */
  readonly total: number;
  /** The best of them. */
  readonly hits: readonly Hit[];
}

export function findSections(entries: readonly SearchEntry[], query: string): Findings {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return { total: 0, hits: [] };
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const hits = found
    .slice(0, HITS_MAX)
    .map(({ entry }) => ({ entry, excerpt: excerptOf(entry.text, words) }));
  return { total: found.length, hits };
}

/** 0 where a word is missing. */
function scoreOf({ page, title, text }: SearchEntry, words: readonly string[]): number {
  const [inPage, inTitle, inText] = [page, title, text].map((part) => part.toLowerCase());
  let score = 0;
  for (const word of words) {
    const points =
      (inTitle.includes(word) ? 8 : 0) + (inPage.includes(word) ? 4 : 0) + (inText.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    score += points + (inTitle.split(/[^\p{L}\p{N}]+/u).includes(word) ? 4 : 0);
  }
  return score;
}

function excerptOf(text: string, words: readonly string[]): string {
  const found = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const near = Math.max(0, Math.min(...found, text.length) - BEFORE);
  const start = near === 0 ? 0 : text.indexOf(" ", near) + 1; // not in the middle of a word
  const piece = text.slice(start, start + EXCERPT_LENGTH);
  return `${start > 0 ? "… " : ""}${piece}${start + EXCERPT_LENGTH < text.length ? " …" : ""}`;
}
