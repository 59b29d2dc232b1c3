/**
 * Colours code when the site is built: Shiki splits it into tokens by the grammars of VS Code, and each kind of token
 * becomes a class (code.css has the colours, light and dark). Classes, because the policy of the pages forbids inline styles.
 */

import { createHighlighterCoreSync } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import ini from "shiki/langs/ini.mjs";
import json from "shiki/langs/json.mjs";
import python from "shiki/langs/python.mjs";
import sh from "shiki/langs/shellscript.mjs";
import sql from "shiki/langs/sql.mjs";
import ts from "shiki/langs/typescript.mjs";
import { escapeHtml } from "../src/web/shell.ts";

/**
 * The kinds of token that have a colour, each with the scopes of the grammars. A later one wins over an earlier one of
 * the same length.
 */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  keyword: ["keyword", "storage", "keyword.operator.new", "constant.character.escape"],
  text: ["string", "punctuation.definition.string"],
  name: [
    "support.type.property-name",
    "variable.other.property",
    "meta.object-literal.key",
    "entity.other.attribute-name",
  ],
  call: ["entity.name.function", "support.function", "entity.name.command"],
  value: [
    "constant",
    "support.constant",
    "variable.other.normal.shell",
    "punctuation.definition.variable.shell",
  ],
  note: ["comment", "punctuation.definition.comment"],
};
/** Operators and the like: as plain as the rest. */
const PLAIN = ["keyword.operator", "punctuation.separator", "string.unquoted.argument.shell", "source"];

const PLAIN_COLOUR = "#000000";
/** A theme can only name colours: each stands for a kind. */
const KIND_OF = new Map(Object.keys(KINDS).map((kind, i) => [`#00000${i + 1}`, kind]));
const THEME = {
  name: "kinds",
  type: "light" as const,
  colors: { "editor.foreground": PLAIN_COLOUR, "editor.background": "#FFFFFF" },
  tokenColors: [
    { scope: PLAIN, settings: { foreground: PLAIN_COLOUR } },
    ...[...KIND_OF].map(([foreground, kind]) => ({ scope: [...KINDS[kind]], settings: { foreground } })),
  ],
};

const LANGUAGES = new Set(["sh", "ts", "python", "json", "ini", "sql"]);
const highlighter = createHighlighterCoreSync({
  themes: [THEME],
  langs: [sh, ts, python, json, ini, sql],
  engine: createJavaScriptRegexEngine(),
});

/** The same page with its code coloured: every <code class="language-…"> of a language that we know. */
export function highlightPage(html: string): string {
  return html.replace(
    /<code class="language-(\w+)">([^<]*)<\/code>/g,
    (whole, language: string, text: string) =>
      LANGUAGES.has(language) ? `<code>${tokensHtml(unescapeHtml(text), language)}</code>` : whole,
  );
}

function tokensHtml(code: string, language: string): string {
  // Without a limit on time, which would leave a line plain on a slow machine.
  const options = { lang: language, theme: THEME.name, tokenizeTimeLimit: 0 };
  const { tokens } = highlighter.codeToTokens(code, options);
  return tokens
    .map((line) => line.map(({ content, color = PLAIN_COLOUR }) => tokenHtml(content, color)).join(""))
    .join("\n");
}

function tokenHtml(content: string, colour: string): string {
  const kind = KIND_OF.get(colour.toLowerCase());
  const text = escapeHtml(content);
  return kind === undefined || content.trim() === "" ? text : `<span class="code-${kind}">${text}</span>`;
}

/** What escapeHtml has made of a text, as it was. */
function unescapeHtml(html: string): string {
  return html.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
