/** The parts that a text consists of, and their texts without marks. */

export type TextPart =
  /** Levels 1 to 6 are Markdown's, 7 looks like a heading, 8 is a line in a section. Below a short one is one list. */
  | {
      readonly kind: "heading";
      readonly line: number;
      readonly text: string;
      readonly level: number;
      readonly isShort?: boolean;
    }
  | TextLine
  | {
      readonly kind: "row";
      readonly line: number;
      readonly cells: readonly string[];
      readonly header: readonly string[];
    }
  /** Inside a code block or the like, where only whole labels count. */
  | {
      readonly kind: "code";
      readonly line: number;
      readonly text: string;
      readonly why: string;
      /** The info string of its block, and the line on which that begins. */
      readonly fence?: string;
      readonly block?: number;
    }
  | { readonly kind: "nothing"; readonly line: number; readonly text: string; readonly why: string }
  | { readonly kind: "blank"; readonly line: number; readonly isRule?: boolean };

export interface TextLine {
  readonly kind: "line";
  readonly line: number;
  readonly text: string;
  readonly indent: number;
  readonly isListed: boolean;
  /** The keys that lead to it, where the text is one of keys. */
  readonly path?: readonly string[];
}

export const HEADING = "a heading";
export const LOOKS_LIKE_HEADING = 7;
export const COLON_HEADING = 8;

/** Without the marks of Markdown around the whole and around bold words. */
export function plainText(text: string): string {
  const bare = text.replace(/(\*\*|__)(?=\S)([^*_`]+?)(?<=\S)\1/g, "$2");
  const [, inside] =
    /^`([^`]+)`$/.exec(bare) ?? /^\*([^*\s][^*]*)\*$/.exec(bare) ?? /^_([^_\s][^_]*)_$/.exec(bare) ?? [];
  return (inside ?? bare).trim();
}

/** A heading without its number, its colon, the lines around it, and what stands apart from it in the same line. */
export function headingText(text: string): string {
  return plainText(text)
    .replace(/^([^\t]{3,60}?)[.:]?(?:\s{4,40}|\t)\S.*$/, "$1")
    .replace(
      /^(.{3,60}?)\s*[-–—(|,]\s*(?:last )?(?:updated|edited|changed|modified|aktualisiert|stand)\b.*$/i,
      "$1",
    )
    .replace(/^[-=~*]{2,20}\s+(\S.*?)\s+[-=~*]{2,20}$/, "$1")
    .replace(/^\(?\d{1,2}(?:\.\d{1,2})*[.)]\s+/, "")
    .replace(/:$/, "");
}
