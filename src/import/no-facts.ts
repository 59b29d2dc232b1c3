/**
 * Lines that say nothing about anybody, by their form: links, pictures, words about the file, small talk, gaps to fill in,
 * and sentences that break off. Each has its reason, which the plan names.
 */

/** A gap to fill in. */
export const GAP =
  /^(?:\[[^\]x]*\]|<[^>]*>|\{\{.*\}\}|unknown|~|n\/a|tb[dac]|todo|null|\?+|-+|…|\.{3}|_+|#(?:REF|N\/A|VALUE|NAME\?|DIV\/0)!?)$/i;

const PICTURE = "a picture";
const ABOUT_FILE = "it is about the file";
const SMALL_TALK = "small talk";
const OF_PAGE = "words of the page that it was copied from";
const OF_MOMENT = "it is about the moment of a talk";

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/^@\S+$/, "it names another file: import that one, too"],
  [/^\[[^\]]*\]\(#[^)]*\)$/, "a link within the file"],
  [/^(?=!\[|\[!\[)(?:!?\[!?\[?[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?\s*)+$/, PICTURE],
  [/^!\[\[[^\]]*\]\]$/, PICTURE],
  [/^(?:\[\[[^\]]*\]\][\s|·•,–-]*)+$/, "links to other notes"],
  [/^see also\b/i, "it points elsewhere"],
  [
    /\((?:done|erledigt|hecho|fait|fatto|feito|gedaan)\)$|^(?:done|erledigt|hecho|fait|fatto|feito|gedaan)\s?:/i,
    "it is done",
  ],
  [/^\/\/\s/, "a comment"],
  [/^~~.*~~$/, "it is struck out"],
  [/^`[^`]*`$/, "it is code and nothing else"],
  [
    /^(?:instructions|guidance|guidelines|notes) for (?:(?:coding |AI )?agents|claude|codex|gemini|copilot)\b/i,
    ABOUT_FILE,
  ],
  [
    /^This file (?:provides|gives|contains|tells) .*(?:guidance|instructions|Claude|agents?|Gemini|Codex)/,
    ABOUT_FILE,
  ],
  [
    /^(?:last|zuletzt) (?:updated|edited|changed|modified|cleaned|tidied|aktualisiert|aufgeräumt)\b/i,
    ABOUT_FILE,
  ],
  [
    /^(?:todo|fixme)\b.*\b(?:this|these|diese[rsn]?) (?:file|section|list|notes?|page|datei|liste|seite)\b/i,
    ABOUT_FILE,
  ],
  [
    /^(?:(?:here(?:'|’| i)s (?:what|everything|a (?:list|summary))|this is what i know)|let me know|would you like me|is there anything|sure[,!]|of course[,!]|certainly[,!]|if you(?:'|’)d like)/i,
    "an assistant's words around its list",
  ],
  [
    /^(?:(?:delete|delete all(?: memories)?|manage|manage memories|search memories|learn more|show more)(?:\s?[·•|]\s?|$))+$/i,
    OF_PAGE,
  ],
  [/^memory (?:full|updated)\b.{0,12}$|^ChatGPT (?:tries to remember|remembers useful)\b/i, OF_PAGE],
  [
    /^(?:ok(?:ay)?|test(?:ing)?|hi|hello|hey|thanks?|thank you|thx|danke|bye|hm+|lol|haha)(?:[\s,!.]{1,4}(?:there|love you|\d+|ok(?:ay)?|test(?:ing)?|hi|hello|hey|thanks?|thank you|thx|danke|bye|hm+|lol|haha))*[\s!.…?]*$/i,
    SMALL_TALK,
  ],
  [/^(?:hi|hello|hey)[!,.] (?!.*\b(?:i|my)\b)|^(?:hi|hello|hey)[!,.] .*\byour assistant\b/i, SMALL_TALK],
  [/^(?:thanks|thank you|have fun|good luck|happy (?:hacking|coding))\b[^.?:]{0,24}!/i, SMALL_TALK],
  [/^(?:ok(?:ay)?,? )?that['’]?s (?:all|it|the lot)\b/i, SMALL_TALK],
  [/^lorem ipsum\b/i, "a text to fill a gap"],
  [
    /^(?:(?:the )?user (?:greeted|thanked)|(?:the )?user is typing|assistant (?:offered|said|asked|answered|replied|explained))\b/i,
    OF_MOMENT,
  ],
  [
    /^(?:(?:the )?user )?(?:said|wrote) "?(?:hi|hello|thanks|thank you|good ?(?:night|bye|morning))\b/i,
    OF_MOMENT,
  ],
  [
    /^(?:(?:the )?user )?(?:(?:has )?asked|is asking) (?:what|how|why|when|where|who|which|for help|for a recipe)\b/i,
    OF_MOMENT,
  ],
  [/^(?:please )?(?:summari[sz]e|translate|rewrite) (?:this|the following|the above)\b/i, OF_MOMENT],
  [/^(?:[^\s,;:]+ ){1,3}tb[dac][.?]?$/i, "it is a gap to fill in"],
  [/^(?:\S+ ){1,7}(?:to|the|and|or|also|because|my|und|dem)$/, "it breaks off"],
];

/** Why a line is no fact; undefined where it may be one. */
export function reasonOfNoFacts(text: string): string | undefined {
  return FORMS.find(([form]) => form.test(text))?.[1];
}
