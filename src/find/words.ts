/**
 * The words of a text as find compares them: small letters without accents. Scripts without spaces (Han, kana, Hangul,
 * Thai and others) have no words to split at: their texts are taken as pairs of neighbouring characters, which is how
 * search engines index them.
 */

import { withAccentsApart } from "../base/letters.ts";

/** The accents of Latin, Greek and Cyrillic, and the vowel points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u0652]+/g;

/** A run of one script without spaces, or a word of any other. */
const WORD =
  /\p{sc=Han}+|\p{sc=Hira}+|[\p{sc=Kana}ー]+|\p{sc=Hang}+|[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])[\p{L}\p{M}\p{N}])+/gu;
const PAIRED =
  /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}ー\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
/** Characters between the words of Chinese: "my", "is", "what" and the like. They are not part of pairs. */
const HAN_PARTICLES = /[的是我了吗呢吧什么你您哪谁几和与在]/gu;
const HIRAGANA = /^\p{sc=Hira}/u;
const ASCII = /^[\0-\x7f]*$/;

/** Words of questions, in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const STOP_WORDS = new Set(
  `a an the is are was were be been am do does did has have had can could will would should shall to of in on at for and
  or with my our your his her their i im ive me we us you he she it they that this these those its as by from about into
  what whats when where which who whom whose why how much many any some there here if so not no please tell show give find
  know remember say said get got again
  der die das den dem des ein eine einen einem einer eines ist sind bin bist sein hat habe haben hatte wird wie
  was wann wo wer wen wem welche welcher welches warum wieso mein meine meinen meinem meiner meines unser unsere dein deine
  ich du er sie es wir ihr mir mich uns und oder mit von vom zu zum zur im am an auf aus bei fur nach uber gibt es nicht
  nochmal bitte
  le la les un une des du de l d est sont etait suis a ont avons quel quelle quels quelles que quoi qui quand ou comment
  pourquoi combien mon ma mes notre nos votre vos ton ta tes je tu il elle nous vous ils elles me moi et avec pour dans sur
  par ce cette ces c j m s t n y en au aux ne pas
  el los las una unos unas del al es esta estan soy era tengo tiene hay cual cuales cuando donde quien quienes como
  cuanto cuantos cuanta mi mis tu tus su sus nuestro nuestra yo nos se y o con para por en lo que
  il lo gli i uno di del dello della dei delle e sono sei ho ha hanno quale quali qual quando dove chi come quanto quanti
  quanta perche mio mia miei mie nostro nostra suo sua io mi ci si con per su nel nella al alla che cosa cos
  o as um uma do da dos das no na nos nas em e sao sou tenho tem qual quais quando onde quem como quanto quantos meu
  minha meus minhas nosso nossa eu me com para por pelo pela que se
  de het een en is zijn ben heeft heb wat wanneer waar wie welke welk waarom hoe hoeveel mijn ons onze jouw ik jij hij zij
  wij me met van voor op in aan bij uit te dat dit`.split(/\s+/),
);

/** "What is the name of": what is named says more. */
const NAMING_WORDS = new Set(
  "name names named called heisst heissen nom appelle nombre llama nome chiama naam heet".split(" "),
);

/** A text whose words can be compared: small letters without accents, pairs apart, and nothing between words but ASCII. */
function comparable(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const plain = withAccentsApart(text).replace(ACCENTS, "").normalize("NFC");
  const words = plain.replace(HAN_PARTICLES, " ").match(WORD) ?? [];
  return words.map((word) => (isPaired(word) ? pairsOf(word).join(" ") : word)).join(" ");
}

/** The words of a text in their order; of a script without spaces, its pairs. */
export function wordsOf(text: string): readonly string[] {
  return comparable(text).match(/[a-z0-9\x80-\uffff]+/g) ?? [];
}

/** How letters with marks are written where a keyboard does not have them. */
const SPELLINGS: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** A text with these letters spelled out; the same text where it has none. */
export function spelledOut(text: string): string {
  if (ASCII.test(text)) return text;
  const small = text.normalize("NFC").toLowerCase();
  const spelled = small.replace(/[äöüåø]/g, (letter) => SPELLINGS[letter]);
  return spelled === small ? text : spelled;
}

/** Whether a word is a piece of a text without spaces. */
export function isPaired(word: string): boolean {
  return word.charCodeAt(0) > 0x0e00 && PAIRED.test(word);
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, i) => characters[i] + character);
}

const LITTLE_WEIGHT = 0.02;
const NAMING_WEIGHT = 0.3;

/** How much a word of a question says about what is asked for. */
export function weightOf(word: string): number {
  if (isStopWord(word)) return LITTLE_WEIGHT;
  return NAMING_WORDS.has(word) ? NAMING_WEIGHT : 1;
}

/** Whether it only decides between facts that are alike in all else. Hiragana are mostly particles and endings. */
export function isStopWord(word: string): boolean {
  return (
    STOP_WORDS.has(word) ||
    HIRAGANA.test(word) ||
    (word.length === 1 && /^\p{L}$/u.test(word) && !isPaired(word))
  );
}

/** Letters of a stem, at least. */
const STEM_LENGTH_MIN = 5;
/** Letters that an ending has beside its s. */
const ENDING_LENGTH_MAX = 3;
const ENDINGS = "aeiouynаеиоуыэюя";

/**
 * What the forms of a word begin with, in any of the languages: "allergies", "Allergien" and "allergy" have the stem
 * "allerg". No grammar: vowels and n at the end are left out, and the s of a plural.
 */
export function stemOf(word: string): string {
  let end = singularOf(word).length;
  const endMin = Math.max(STEM_LENGTH_MIN, end - ENDING_LENGTH_MAX);
  while (end > endMin && ENDINGS.includes(word[end - 1])) end -= 1;
  return word.slice(0, end);
}

/** A word without the s of a plural. */
export function singularOf(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
