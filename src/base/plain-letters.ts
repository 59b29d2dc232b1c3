/** Small letters without accents, for comparing words and for making labels of them. */

/** Letters that have no accent to take away. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  ø: "o",
  œ: "oe",
  ł: "l",
  đ: "d",
  ı: "i",
};

/** Each accent is a character behind its letter. */
export function withAccentsApart(text: string): string {
  return text
    .toLowerCase()
    .replace(/[ßæøœłđı]/g, (letter) => PLAIN[letter] ?? letter)
    .normalize("NFKD");
}

export function plainLetters(text: string): string {
  return withAccentsApart(text).replace(/\p{M}+/gu, "");
}
