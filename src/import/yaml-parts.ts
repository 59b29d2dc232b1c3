/**
 * A file of YAML as parts of a text: each value is a line with its key, below the keys that lead to it. Short lists are
 * values, short maps several lines; an item that begins with its name is what its other keys are about.
 */

import { HEADING, type TextPart } from "./text-parts.ts";

const KEY = /^(?:"([^"]{1,60})"|'([^']{1,60})'|([^\s"'[{#&*!|>-][^:#]{0,60}?)):(?:\s+(.*))?$/;
const BLOCK = /^[|>][+-]?\d?$/;
const PAIR = /([^\s:,{}"'][^:,{}]{0,60}):\s*("[^"]*"|'[^']*'|[^,{}]*)/g;
const NAME = /^(?:name|title|id|who|what)$/i;

interface Parent {
  readonly indent: number;
  /** What the lines below are about; an item of a list may have no name. */
  readonly key: string;
  readonly isItem: boolean;
  readonly isBlock: boolean;
}

export function yamlParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let above: Parent[] = [];
  const add = (line: number, said: string, more: readonly string[] = []) => {
    const path = [...above.map(({ key }) => key), ...more];
    parts.push({ kind: "line", line, text: said, indent: 0, isListed: true, path });
  };
  for (const [i, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const [line, indent, said] = [i + 1, raw.search(/\S|$/), raw.trim()];
    const isInBlock = above.some((one) => one.isBlock && one.indent < indent);
    const nothing = (why: string) => parts.push({ kind: "nothing", line, text: said, why });
    if (said === "" || /^(?:---|\.\.\.)$/.test(said)) continue;
    if (said.startsWith("#") && !isInBlock) {
      nothing("a comment");
      continue;
    }
    const [, dash, rest] = isInBlock ? ["", "", said] : /^((?:-\s+)?)(.*)$/.exec(said)!;
    const isItem = dash !== "";
    above = above.filter((one) => one.indent < indent || (isItem && !one.isItem && one.indent === indent));
    const [, double, single, bare, value = ""] = (isInBlock ? null : KEY.exec(rest)) ?? [];
    const key = double ?? single ?? bare;
    const last = parts.at(-1);
    const isMore = key === undefined && !isItem && !isInBlock && last?.kind === "line";
    if (isMore) parts[parts.length - 1] = { ...last, text: `${last.text} ${rest}` };
    else if (key === undefined) add(line, plainValue(rest));
    else if (value === "" || BLOCK.test(value)) {
      nothing(HEADING);
      above.push({ indent: indent + dash.length, key, isItem: false, isBlock: value !== "" });
    } else if (value.startsWith("{"))
      for (const [, name, one] of value.matchAll(PAIR)) add(line, `${name}: ${plainValue(one)}`, [key]);
    else {
      add(line, `${key}: ${plainValue(value)}`);
      if (isItem && NAME.test(key)) above.push({ indent, key: plainValue(value), isItem, isBlock: false });
    }
  }
  return parts;
}

/** Without quotes and brackets. */
function plainValue(value: string): string {
  const [, double, single, list] = /^"(.*)"$|^'(.*)'$|^\[(.*)\]$/.exec(value.trim()) ?? [];
  if (list !== undefined) return list.replace(/"([^"]*)"|'([^']*)'/g, (_, a = "", b = "") => a || b).trim();
  return double?.replace(/\\(["\\])/g, "$1") ?? single?.replaceAll("''", "'") ?? value.trim();
}
