/**
 * The search over the docs, with MiniSearch: words of titles count more, the end of a word and one slip do not matter,
 * words that ask ("how do I") are left out, and words that mean the same here find each other. No server takes part.
 */

import MiniSearch from "minisearch";

export interface SearchEntry {
  /** The page, with the section's anchor. */
  readonly address: string;
  /** The title of the page. */
  readonly page: string;
  /** The title of the section. */
  readonly title: string;
  /** What a call does, in a sentence. */
  readonly about?: string;
  /** What people call it. */
  readonly words?: string;
  readonly text: string;
}

interface Hit {
  readonly entry: SearchEntry;
  /** A piece of the text around the first word found. */
  readonly excerpt: string;
}

interface SearchResults {
  /** Sections that were found. */
  readonly total: number;
  /** The best of them. */
  readonly hits: readonly Hit[];
}

const HITS_MAX = 8;
/** Of one page: a long one must not fill the list. */
const HITS_OF_PAGE_MAX = 2;
const BEFORE = 40;
const EXCERPT_LENGTH = 140;

const STOP_WORDS = new Set(
  "a an and are as at be by can could do does for from get how i if in into is it me my of on or our should that the there this to use using want was we what when where which who why will with you your".split(
    " ",
  ),
);

/** Words that people use for words of these docs; whole questions are in scripts/search-words.ts. */
const SYNONYMS: Readonly<Record<string, string>> = {
  delete: "forget",
  remove: "forget",
  erase: "forget",
  edit: "change",
  update: "change",
  linebreak: "newline",
  auth: "authorization",
  apikey: "key",
  repo: "project",
  repository: "project",
  config: "settings",
  configuration: "settings",
  env: "settings",
  quota: "limit",
  retry: "idempotency",
  webhook: "events",
  encryption: "seal",
};

/** "facts" → "fact", "deleting" → "delet": one form for the forms of a word. */
function stemOf(word: string): string {
  const plain = word
    .replace(/(?<=.{3})(ies)$/, "y")
    .replace(/(?<=.{3})(ing|ed)$/, "")
    .replace(/(?<=.{2}[^su])s$/, "");
  return plain.replace(/(?<=.{3})e$/, "");
}

const SYNONYMS_OF = new Map(
  Object.entries(SYNONYMS).map(([word, others]) => [stemOf(word), others.split(" ")]),
);

/** DATABASE_URL → database_url, database, url; encodeBatch → encodebatch, encode, batch */
function searchWordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => {
    const parts = word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u).filter(Boolean);
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

function termOf(word: string): string | null {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? null : stemOf(lower);
}

/** Reasons are for those who ask for them; the operator's calls and those of the demo are not what most people look for. */
const ASIDE = /^\/docs\/(decisions\/|api\/(admin|demo)-)/;
const ASIDE_WEIGHT = 0.4;
/** What a word that means the same counts, against the word itself. */
const SYNONYM_WEIGHT = 0.9;

export class DocsSearch {
  readonly #entries: readonly SearchEntry[];
  readonly #index: MiniSearch;

  constructor(entries: readonly SearchEntry[]) {
    this.#entries = entries;
    this.#index = new MiniSearch({
      fields: ["title", "words", "about", "page", "text"],
      tokenize: searchWordsOf,
      processTerm: termOf,
      searchOptions: {
        boost: { title: 4, words: 4, about: 3, page: 2 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        weights: { prefix: 0.4, fuzzy: 0.15 },
        boostDocument: (id) => (ASIDE.test(entries[id].address) ? ASIDE_WEIGHT : 1),
      },
    });
    this.#index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  }

  find(query: string): SearchResults {
    // Each word with those that mean the same.
    const asked = searchWordsOf(query).flatMap((word) => {
      const term = termOf(word);
      return term === null ? [] : [[term, ...(SYNONYMS_OF.get(term) ?? []).map(stemOf)]];
    });
    if (asked.length === 0) return { total: 0, hits: [] };
    const own = new Set(asked.map(([term]) => term));
    const found = this.#index
      .search(asked.flat().join(" "), { boostTerm: (term) => (own.has(term) ? 1 : SYNONYM_WEIGHT) })
      .map(({ id, score, terms, queryTerms }) => {
        // A section with all that is asked for comes before one that has a rare word of it.
        const share =
          asked.filter((same) => same.some((term) => queryTerms.includes(term))).length / asked.length;
        return { entry: this.#entries[id], terms, score: score * share ** 2 };
      })
      .sort((a, b) => b.score - a.score);
    const ofPage = new Map<string, number>();
    const best = found.filter(({ entry }) => {
      const [page] = entry.address.split("#");
      const count = (ofPage.get(page) ?? 0) + 1;
      ofPage.set(page, count);
      return count <= HITS_OF_PAGE_MAX;
    });
    const hits = best
      .slice(0, HITS_MAX)
      .map(({ entry, terms }) => ({ entry, excerpt: entry.about ?? excerptOf(entry.text, terms) }));
    return { total: found.length, hits };
  }
}

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const near = Math.max(0, Math.min(...found, text.length) - BEFORE);
  const start = near === 0 ? 0 : text.indexOf(" ", near) + 1; // not in the middle of a word
  const piece = text.slice(start, start + EXCERPT_LENGTH);
  return `${start > 0 ? "… " : ""}${piece}${start + EXCERPT_LENGTH < text.length ? " …" : ""}`;
}
