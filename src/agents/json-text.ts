/**
 * Changes one place of a user's JSON file in its text: comments, order, indentation and line endings of everything else
 * stay as they are. Reads JSON with comments and commas at the end, as editors have it, and a byte order mark.
 *
 * A place is a path of keys. The key "-" is an item of a list, which is found by what it is.
 *
 * The library jsonc-parser (3.3.1) was tried: it formats the member before a new one anew, and moves its comment to the
 * new one.
 */

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonFields = Readonly<Record<string, JsonValue>>;

/** A value in a text, from `start` to before `end`. */
interface Value {
  readonly start: number;
  readonly end: number;
  readonly kind: "object" | "array" | "plain";
  readonly value: JsonValue;
  readonly parts: readonly Part[];
}

/** A member of an object, or an item of a list. */
interface Part {
  readonly key: string;
  readonly start: number;
  readonly value: Value;
  /** Where the comma after it stands. */
  readonly comma: number | undefined;
}

export const ITEM = "-";
const BYTE_ORDER_MARK = "\ufeff";
const DEPTH_MAX = 200;
const BLANK = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
const PLAIN = /"(?:[^"\\\r\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

/** The text with fields at a place: put in where there is nothing, merged into an entry that `isOurs`. */
export function withFields(
  text: string,
  keys: readonly string[],
  fields: JsonFields,
  isOurs: (value: JsonValue) => boolean,
): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  if (text.slice(mark.length).trim() === "")
    return `${mark}${JSON.stringify(nested(keys, fields), null, 2)}\n`;
  const found = find(text, keys, isOurs);
  if (found.part !== undefined) {
    const { value } = found.part.value;
    if (!isFields(value) || !isOurs(value)) return text;
    return replaced(text, found.part.value, { ...value, ...fields });
  }
  const rest = keys.slice(found.depth);
  if (found.holder.value === null && found.holder.kind === "plain")
    return replaced(text, found.holder, nested(rest, fields));
  if (found.holder.kind !== (rest[0] === ITEM ? "array" : "object"))
    throw new SyntaxError(`${found.depth === 0 ? "it" : keys[found.depth - 1]} is not what it should be`);
  return inserted(text, found.holder, rest[0], nested(rest.slice(1), fields));
}

/** The text without the entry at a place; undefined if there is none that `isOurs`. */
export function withoutFields(
  text: string,
  keys: readonly string[],
  isOurs: (value: JsonValue) => boolean,
): string | undefined {
  if (text.trim() === "") return undefined;
  const { holder, part } = find(text, keys, isOurs);
  if (part === undefined || !isOurs(part.value.value)) return undefined;
  const index = holder.parts.indexOf(part);
  const kept = text.slice((part.comma ?? part.value.end - 1) + 1);
  const line = text.slice(0, part.start).trimEnd();
  // What follows in the line of the entry must not get behind a comment of the line before.
  const isFollowed = !isOneLine(`.${text.slice(line.length, part.start)}.`) && !/^[ \t]*[\r\n]/.test(kept);
  const cut = (isFollowed ? text.slice(0, part.start) : line) + kept;
  // The comma before the last one would be left over.
  const before = holder.parts[index - 1]?.comma;
  return part.comma !== undefined || before === undefined
    ? cut
    : cut.slice(0, before) + cut.slice(before + 1);
}

/** Whether there is anything at a place; of a list, never. */
export function hasEntry(text: string, keys: readonly string[]): boolean {
  return text.trim() !== "" && find(text, keys, () => false).part !== undefined;
}

/** Whether an entry has these fields; it may have others, which a user or the host has added. */
export function hasFields(entry: JsonValue, fields: JsonFields): boolean {
  if (!isFields(entry)) return false;
  return Object.entries(fields).every(([key, value]) => JSON.stringify(entry[key]) === JSON.stringify(value));
}

/** How deep a path leads, the value there, and the part at its end if there is one. */
function find(text: string, keys: readonly string[], isOurs: (value: JsonValue) => boolean) {
  let holder = parse(text);
  for (let depth = 0; depth < keys.length; depth++) {
    const part = holder.parts.findLast(({ key, value }) =>
      keys[depth] === ITEM ? isOurs(value.value) : key === keys[depth],
    );
    const isWrong = holder.kind !== (keys[depth] === ITEM ? "array" : "object");
    if (part === undefined || isWrong || depth === keys.length - 1)
      return { holder, depth, part: isWrong ? undefined : part };
    holder = part.value;
  }
  throw new TypeError("a place needs a key");
}

function nested(keys: readonly string[], fields: JsonFields): JsonValue {
  return keys.reduceRight<JsonValue>((value, key) => (key === ITEM ? [value] : { [key]: value }), fields);
}

export function isFields(value: JsonValue): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function replaced(text: string, { start, end, value: old }: Value, value: JsonValue): string {
  if (JSON.stringify(old) === JSON.stringify(value)) return text;
  const written = isOneLine(text) ? JSON.stringify(value) : writtenAt(text, lineIndent(text, start), value);
  return text.slice(0, start) + written + text.slice(end);
}

/** A new last part of an object or a list, in the style of the text around it. */
function inserted(text: string, { start, end, parts }: Value, key: string, value: JsonValue): string {
  const name = key === ITEM ? "" : `${JSON.stringify(key)}: `;
  const last = parts.at(-1);
  const close = end - 1;
  if (isOneLine(text.slice(start, end)) && (last !== undefined || isOneLine(text))) {
    const at = last === undefined ? start + 1 : last.value.end;
    return `${text.slice(0, at)}${last === undefined ? "" : ", "}${name}${JSON.stringify(value)}${text.slice(at)}`;
  }
  const outer = lineIndent(text, start);
  const indent = last === undefined ? outer + indentUnit(text) : lineIndent(text, last.start);
  const newline = newlineOf(text);
  const member = `${newline}${indent}${name}${writtenAt(text, indent, value)}`;
  // Comments after the last part stay beside it.
  const at = text.slice(0, close).trimEnd().length;
  if (last === undefined) return `${text.slice(0, at)}${member}${newline}${outer}${text.slice(close)}`;
  const head =
    last.comma === undefined
      ? `${text.slice(0, last.value.end)},${text.slice(last.value.end, at)}`
      : text.slice(0, at);
  return `${head}${member}${last.comma === undefined ? "" : ","}${text.slice(at)}`;
}

function writtenAt(text: string, indent: string, value: JsonValue): string {
  return JSON.stringify(value, null, indentUnit(text)).replaceAll("\n", `${newlineOf(text)}${indent}`);
}

function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text.trim());
}

function newlineOf(text: string): string {
  return /\r\n|\r|\n/.exec(text)?.[0] ?? "\n";
}

function indentUnit(text: string): string {
  return /[\r\n]([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

/** The blanks at the start of the line in which an offset is. */
function lineIndent(text: string, offset: number): string {
  return /[ \t]*/.exec(text.slice(text.slice(0, offset).search(/[^\r\n]*$/)))?.[0] ?? "";
}

function parse(text: string): Value {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    at += found?.length ?? 0;
    return found;
  };
  const fail = (): never => {
    const line = text.slice(0, at).split(/\r\n|\r|\n/).length;
    throw new SyntaxError(`it is not JSON, in line ${line}`);
  };
  const plain = (): Value => {
    const start = at;
    const found = take(PLAIN) ?? fail();
    try {
      return { start, end: at, kind: "plain", value: JSON.parse(found) as JsonValue, parts: [] };
    } catch {
      return fail();
    }
  };
  const list = (kind: "object" | "array", depth: number): Value => {
    const start = at;
    const close = kind === "object" ? "}" : "]";
    const parts: Part[] = [];
    at += 1;
    for (take(BLANK); text[at] !== close; take(BLANK)) {
      if (parts.length > 0 && parts.at(-1)?.comma === undefined) fail();
      const partStart = at;
      let key = ITEM;
      if (kind === "object") {
        const name = plain().value;
        key = typeof name === "string" ? name : fail();
        take(BLANK);
        if (text[at] !== ":") fail();
        at += 1;
        take(BLANK);
      }
      const value = any(depth + 1);
      take(BLANK);
      const comma = text[at] === "," ? at++ : undefined;
      parts.push({ key, start: partStart, value, comma });
    }
    at += 1;
    const value =
      kind === "array"
        ? parts.map((part) => part.value.value)
        : Object.fromEntries(parts.map((part) => [part.key, part.value.value]));
    return { start, end: at, kind, value, parts };
  };
  const any = (depth: number): Value => {
    if (depth > DEPTH_MAX) fail();
    if (text[at] === "{") return list("object", depth);
    return text[at] === "[" ? list("array", depth) : plain();
  };
  take(BLANK);
  const root = any(0);
  take(BLANK);
  if (at !== text.length || root.kind !== "object") {
    if (at === text.length) throw new SyntaxError("it is not a JSON object");
    fail();
  }
  return root;
}
