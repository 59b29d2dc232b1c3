/**
 * A line with a key: `Tone: dry`, `**Tone** – dry`, `tone = dry`, and `PREF.tone=dry`, whose value is taken exactly. A key
 * is a few words: what is longer is a sentence with a colon, and what calls attention ("Note: …") is none.
 */

const KEY_LENGTH_MAX = 40;
const KEY_WORDS_MAX = 5;

const EXACT = /^\s*(?:[-*+]\s+)?`?([A-Za-z][A-Za-z0-9_]{0,15}\.[A-Za-z0-9_]{1,48})=(.*)$/;
const MARKED = /^(\*\*|__)([^*_`]{1,64}?)(?::\1|\1\s{0,4}(?:[:=]|\s[-–—]|[–—]))\s+(.*)$/;
const PLAIN = /^([^:=`"“<>[\]{}|]{1,64}?)\s{0,4}(?:[:：](?=\s|$)|=(?![=>]))\s{0,4}(.*)$/;
const CALLS =
  /^(?:note|note to self|nb|n\.b\.|ps|p\.s\.|important|reminder|remember|to ?do|tip|warning|caution|update|edit|fyi|question|also|example|e\.g\.|i\.e\.|hint|attention|idea|fixme|q|a)$/i;

export interface KeyedText {
  readonly key: string;
  readonly value: string;
}

/** `LABEL=value`: the label as it is spelled, and all that stands behind the sign. */
export function exactLine(line: string): KeyedText | undefined {
  const found = EXACT.exec(line);
  if (found === null) return undefined;
  const isQuoted = /^\s*(?:[-*+]\s+)?`/.test(line);
  if (isQuoted && !/`\s*$/.test(found[2])) return undefined;
  return { key: found[1], value: isQuoted ? found[2].replace(/`\s*$/, "") : found[2] };
}

export function keyOf(text: string): KeyedText | undefined {
  const marked = MARKED.exec(text);
  const [key, value] = marked === null ? (PLAIN.exec(text)?.slice(1) ?? []) : marked.slice(2);
  if (key === undefined || CALLS.test(key.trim())) return undefined;
  const words = key.trim().split(/\s+/);
  // A sentence may have a colon, and an address has one.
  if (key.length > KEY_LENGTH_MAX || words.length > KEY_WORDS_MAX || /[.!?;]\s|[,;]$/.test(key))
    return undefined;
  return /[\p{L}\p{N}]/u.test(key) ? { key: key.trim(), value: value.trim() } : undefined;
}
