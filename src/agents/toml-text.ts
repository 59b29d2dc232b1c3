/**
 * Puts a table into a user's TOML file and takes it out, in its text: everything else stays as it is. A table may be there
 * in another spelling, `["a" . b]`, `b = { … }`, `b.c = 1`, and a second one would make the host refuse the file. Values are
 * not read, only passed over.
 */

/** A table, or a key with its value: its whole path, and where it begins. */
interface Defined {
  readonly keys: readonly string[];
  readonly start: number;
  readonly isTable: boolean;
}

const BLANK = /(?:[ \t\r\n\ufeff]+|#[^\r\n]*)*/y;
const LINE_END = /[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|$)/y;
const HEADER = /\[\[?[ \t]*/y;
const HEADER_END = /[ \t]*\]\]?/y;
const KEY = /"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|[^\s.=[\]{}#,"']+/y;
const DOT = /[ \t]*\.[ \t]*/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const LONG_TEXT = /"""(?:[^\\]|\\[\s\S])*?"""(?!")|'''[\s\S]*?'''(?!')/y;
const PLAIN = /"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|[^\s,[\]{}#"'=]+(?: \d[\d:.Z+-]+)?/y;

/** The text with a table at its end, or in the place of an old one; as it is where one of that name is the user's own. */
export function withTable(text: string, table: string, old = table): string {
  const name = definedIn(table)[0].keys;
  const defined = definedIn(text);
  const at = tableAt(text, defined, old);
  if (at !== undefined) return text.slice(0, at) + table + text.slice(at + old.length);
  if (defined.some(({ keys }) => isBelow(keys, name))) return text;
  const whole = defined.find(({ keys, isTable }) => !isTable && isBelow(name, keys));
  if (whole !== undefined)
    throw new SyntaxError(`no table can be added to ${whole.keys.join(".")}, which is one value`);
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}\n${table}`;
}

/**
 * The text without a table; undefined if it is not in it as we put it in. The text as it is where the user has added to the
 * table: without it those keys would become another table's, or a server without a command.
 */
export function withoutTable(text: string, table: string): string | undefined {
  const defined = definedIn(text);
  const at = tableAt(text, defined, table);
  if (at === undefined) return undefined;
  const end = at + table.length;
  const name = definedIn(table)[0].keys;
  if (defined.some(({ keys, start }) => (start < at || start >= end) && isBelow(keys, name))) return text;
  return `${text.slice(0, at).replace(/\n\n$/, "\n")}${text.slice(end)}`;
}

function tableAt(text: string, defined: readonly Defined[], table: string): number | undefined {
  return defined.find(({ start, isTable }) => isTable && text.startsWith(table, start))?.start;
}

function isBelow(keys: readonly string[], above: readonly string[]): boolean {
  return above.every((key, i) => keys[i] === key);
}

function definedIn(text: string): Defined[] {
  const found: Defined[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const taken = pattern.exec(text)?.[0];
    at += taken?.length ?? 0;
    return taken;
  };
  const fail = (): never => {
    const line = text.slice(0, at).split(/\r\n|\r|\n/).length;
    throw new SyntaxError(`it is not TOML, in line ${line}`);
  };
  const path = () => {
    const keys: string[] = [];
    do keys.push(plainKey(take(KEY) ?? fail()));
    while (take(DOT) !== undefined);
    return keys;
  };
  const list = (close: string, item: () => void) => {
    at += 1;
    for (take(BLANK); text[at] !== close; take(BLANK)) {
      item();
      take(BLANK);
      if (text[at] === ",") at += 1;
      else if (text[at] !== close) fail();
    }
    at += 1;
  };
  const value = (keys: readonly string[]): void => {
    if (text[at] === "{") list("}", () => pair(keys));
    else if (text[at] === "[") list("]", () => value([...keys, ""]));
    else take(LONG_TEXT) ?? take(PLAIN) ?? fail();
  };
  const pair = (table: readonly string[]) => {
    const start = at;
    const keys = [...table, ...path()];
    found.push({ keys, start, isTable: false });
    take(EQUALS) ?? fail();
    value(keys);
  };
  let table: string[] = [];
  for (take(BLANK); at < text.length; take(BLANK)) {
    const start = at;
    const header = take(HEADER);
    if (header === undefined) pair(table);
    else {
      table = path();
      take(HEADER_END) ?? fail();
      found.push({ keys: table, start, isTable: !header.startsWith("[[") });
    }
    take(LINE_END) ?? fail();
  }
  return found;
}

function plainKey(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  try {
    return key.startsWith('"') ? (JSON.parse(key) as string) : key;
  } catch {
    // An escape that JSON does not have: none of our names has one.
    return key;
  }
}
