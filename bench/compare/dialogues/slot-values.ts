/**
 * Made values of the kinds that people state: names in several scripts, dates, times, sums, doses, codes, numbers to call, addresses,
 * paths, and long phrases. None has a quotation mark, a line break or "<", which JSON or a prompt would spell otherwise.
 */

import type { Random } from "../../../src/base/random.ts";

const list = (text: string) => text.split(", ");

const FIRST = list(
  "Ada, Björn, Chiara, Émile, Fatoumata, Gökçe, Ingrid, João, Łucja, Mairéad, Nguyễn, Oyelaran, Søren, Tadeáš, Zoë",
);
const LAST = list(
  "Okafor, Lindström, Rossi, Beaumont, Diallo, Yıldız, Haugen, Carvalho, Wiśniewska, O’Shea, Văn Minh, Adébáyò, Kjær, Novák",
);
/** Whole names, of scripts that the two lists above do not have. */
const OTHER_NAMES = [
  ...list(
    "Ольга Кузнецова, Дмитро Шевченко, Ελένη Παπαδοπούλου, Νίκος Γεωργίου, 王小明, 陈静怡, 李伟强, 佐藤花子, 鈴木一郎, たかはしみゆき",
  ),
  ...list(
    "김서연, 박지훈, 이하은, محمد الأحمد, ليلى حداد, نور الدين سالم, דוד כהן, מרים לוי, अनिता शर्मा, राहुल वर्मा, สมชาย ใจดี, Արամ Պետրոսյան",
  ),
];
const TOWNS = list(
  "Tampere, Coimbra, Gdańsk, Plzeň, Utrecht, Ghent, Aarhus, Lecce, Graz, Poznań, Girona, Cork, 松本市, Салоники, Çanakkale, Malmö",
);
const STREETS = list(
  "Kauppakatu, Rua das Flores, ulica Długa, Hauptstraße, Rue du Moulin, Via Garibaldi, Oak Lane, Calle Mayor, Storgatan",
);
const MONTHS = list(
  "January, February, March, April, May, June, July, August, September, October, November, December",
);
const DAYS = list("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday");
const PRODUCTS = list(
  "Halden, Brisa, Kestrel, Morava, Orla, Tindra, Quill, Saffron, Larkspur, Bergamot, Juniper, Cobalt",
);
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ";

const PHRASE_PARTS = [
  list(
    "not the first one, only the narrow kind, the plain version, the one with the blue mark, two of them, the smaller of both, nothing with nuts, the third from the left",
  ),
  list(
    "near the front, behind the side gate, under the stairs, next to the window, by the west wall, in the second row, above the cupboard, across the yard",
  ),
  list(
    "before anything else, unless it rains, if nobody objects, as in the year before, without asking again, once the others are done, until further notice",
  ),
];

export type ValueKind =
  | "person"
  | "town"
  | "language"
  | "zone"
  | "phrase"
  | "phone"
  | "email"
  | "address"
  | "manner"
  | "span"
  | "house"
  | "code"
  | "flight"
  | "date"
  | "money"
  | "time"
  | "amount"
  | "path"
  | "pin"
  | "branch"
  | "product"
  | "region"
  | "version"
  | "dose";

const digits = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.below(10)).join("");
const letters = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.pick([...LETTERS])).join("");
const two = (value: number) => String(value).padStart(2, "0");
const lower = (text: string) =>
  text
    .normalize("NFD")
    .replace(/[^a-z]/gi, "")
    .toLowerCase();

const MAKERS: Readonly<Record<ValueKind, (random: Random) => string>> = {
  person: (random) =>
    random.below(2) === 0 ? `${random.pick(FIRST)} ${random.pick(LAST)}` : random.pick(OTHER_NAMES),
  town: (random) => `${random.pick(list("old, new, upper, lower, western, eastern"))} ${random.pick(TOWNS)}`,
  language: (random) =>
    `${random.pick(list("formal, plain, simple, spoken, written, official"))} ${random.pick(list("Dutch, Portuguese, Greek, Finnish, Polish, Turkish, Japanese, Welsh"))}`,
  zone: (random) =>
    `${random.pick(list("Europe, America, Asia, Africa"))}/${random.pick(list("Lisbon, Athens, Lima, Bogota, Tokyo, Dhaka, Lagos, Tunis, Riga, Oslo"))}`,
  phrase: (random) =>
    PHRASE_PARTS.slice(0, 2 + random.below(2))
      .map((part) => random.pick(part))
      .join(" "),
  phone: (random) =>
    `+${random.pick(["351", "48", "90", "358", "32"])} ${digits(random, 2)} ${digits(random, 3)} ${digits(random, 4)}`,
  email: (random) =>
    `${lower(random.pick(FIRST))}.${lower(random.pick(LAST))}${digits(random, 2)}@${lower(random.pick(PRODUCTS))}.example`,
  address: (random) =>
    `${random.pick(STREETS)} ${1 + random.below(180)}${random.pick(["", " B", "/3", ", 2nd floor"])}, ${digits(random, 5)} ${random.pick(TOWNS)}`,
  manner: (random) =>
    `${random.pick(list("short, dry, friendly, frank, patient, brisk"))} and ${random.pick(list("without lists, to the point, with examples, in full sentences, without jokes, with sources"))}`,
  span: (random) =>
    `${random.pick(DAYS)}s from ${6 + random.below(6)} to ${12 + random.below(9)}, ${random.pick(list("even weeks, odd weeks, every week, in term time"))}`,
  house: (random) =>
    `${random.pick(PRODUCTS)} ${random.pick(list("Lodge, & Sons, House, Brothers, Works, Garden, Partners, Court"))} ${random.pick(TOWNS)}`,
  code: (random) =>
    random.pick([
      () => `${letters(random, 2)}${random.below(10)}-${digits(random, 4)}-${letters(random, 2)}`,
      () => `${letters(random, 3)}-${2024 + random.below(4)}-${digits(random, 5)}`,
      () => Buffer.from(random.bytes(6)).toString("hex"),
      () => `${digits(random, 3)}.${digits(random, 3)}.${digits(random, 3)}-${letters(random, 1)}`,
    ])(),
  flight: (random) =>
    `${letters(random, 2)} ${digits(random, 4)} at ${two(random.below(24))}:${two(random.below(60))}`,
  date: (random) => {
    const [day, month, year] = [1 + random.below(28), random.below(12), 2026 + random.below(3)];
    return random.pick([
      `${day} ${MONTHS[month]} ${year}`,
      `${year}-${two(month + 1)}-${two(day)}`,
      `${random.pick(DAYS)} ${day} ${MONTHS[month]}`,
      `${two(day)}.${two(month + 1)}.${year}`,
    ]);
  },
  money: (random) =>
    `${random.pick(["€", "£", "CHF ", "¥", "R$ "])}${1 + random.below(98)},${digits(random, 3)}${random.pick(["", ".50", " a year", " with tax"])}`,
  time: (random) =>
    random.pick([
      `${two(random.below(24))}:${two(random.below(60))}`,
      `${random.pick(list("five, ten, twenty"))} past ${random.pick(list("six, seven, eight, nine, ten, eleven"))} ${random.pick(list("in the morning, in the evening"))} sharp`,
    ]),
  amount: (random) =>
    `${1 + random.below(390)}.${random.below(10)} ${random.pick(list("kg, litres, cm, days, units, ms, kWh, mmol"))}`,
  path: (random) =>
    random.pick([
      () =>
        `https://${lower(random.pick(PRODUCTS))}.example/${lower(random.pick(TOWNS))}${digits(random, 3)}/${digits(random, 4)}`,
      () =>
        `/srv/${lower(random.pick(PRODUCTS))}/${2024 + random.below(4)}-${two(1 + random.below(12))}/${letters(random, 4)}`,
    ])(),
  pin: (random) => `${digits(random, 4)}#`,
  branch: (random) => `${lower(random.pick(PRODUCTS))}-${lower(random.pick(FIRST))}-${digits(random, 3)}`,
  product: (random) =>
    `${random.pick(PRODUCTS)} ${letters(random, 1)}${digits(random, 3)} ${random.pick(list("compact, outdoor, duo, with stand, second edition"))}`,
  region: (random) =>
    `${random.pick(list("eu, us, ap, sa"))}-${random.pick(list("north, south, west, central"))}-${1 + random.below(9)}${random.pick(["a", "b", "c"])}`,
  version: (random) =>
    `${1 + random.below(19)}.${random.below(40)}.${random.below(60)}-${random.pick(["rc", "beta", "lts"])}${1 + random.below(9)}`,
  dose: (random) =>
    `${random.pick(list("amlodin, velastat, corvidol, nemaprine, tessaril"))} ${1 + random.below(80)}.${random.below(10)} mg, ${random.pick(list("once a day, twice a day, every other day, at night"))}`,
};

/** A value of a kind that no other value of the dialogue contains or is contained in. */
export function freshValue(random: Random, kind: ValueKind, used: Set<string>): string {
  for (;;) {
    const value = MAKERS[kind](random);
    if ([...used].some((other) => other.includes(value) || value.includes(other))) continue;
    used.add(value);
    return value;
  }
}
