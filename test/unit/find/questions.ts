/**
 * Facts of a life and questions about them, each with the label that answers it: words as they are, with slips, and in
 * six languages. `otherFacts` are what else a person keeps: many facts with words that people use often.
 * The facts and questions of test/fixtures/questions were written by two people who had not seen how facts are found.
 */

import { readFileSync } from "node:fs";
import { CHANNELS, findChannel } from "../../../src/base/channels.ts";
import { seededRandom } from "../../../src/base/random.ts";
import type { FindableFact } from "../../../src/find/find-facts.ts";

/** `LABEL=value`, and behind a bar what a label of the person's own is for. */
const LIFE = `
FAMILY.wife=Grace
FAMILY.wife_birthday=14 May 1988
FAMILY.child=Tomás, born 2019, and Ines, born 2022
FAMILY.mother=Adaeze, lives in Enugu, calls on Sundays
FAMILY.wedding_day=3 September 2015 in Leiden
FAMILY.pets=cat Byron; dog Pascal
HEALTH.allergy=peanuts and penicillin | What must be kept away from the person
HEALTH.medication=Metformin 500 mg, twice a day
HEALTH.blood_type=0 negative
HEALTH.doctor=Dr. Visser, Coolsingel 12
HEALTH.glasses=-2.5 left, -3.0 right
HOME.address=Kralingse Plaslaan 41, 3062 Rotterdam
HOME.wifi=network "Loom", the router is in the hall
HOME.key_box=behind the drainpipe
HOME.heating=Vaillant ecoTEC, last service in October
HOME.landlord=Mevrouw de Groot, 010 555 0199
TRAVEL.passport=expires 2031-02-17
TRAVEL.frequent_flyer=KLM Flying Blue, gold
TRAVEL.seat=aisle, never over the wing
TRAVEL.next_trip=Lisbon, 4 to 11 April, hotel Avenida
MONEY.bank=Triodos | Where the salary is paid to
MONEY.tax_adviser=Jansen & Partners, returns are due on 1 May
MONEY.rent=1,450 euros a month
PEOPLE.grace_brother=Samuel, plumber in Utrecht
PEOPLE.neighbour=Fatima, has a spare key
CAR.plate=G-482-XK
CAR.insurance=Centraal Beheer, policy ends in June
CAR.tyres=winter tyres are in the garage at Euromaster
REMINDER.dentist=Tuesday 9:30, check-up
FOOD.breakfast=porridge with blueberries
FOOD.dislikes=coriander, liver
SPORT.club=rowing on Thursday evening at Skadi
SPORT.shoe_size=44
WORK.manager=Ingrid Solheim
WORK.standup=10:15 every weekday
WORK.vpn=WireGuard, profile acme-eu
WORK.on_call=every fourth week, the phone is on
DEPLOY.target=Kubernetes, cluster eu-west
DEPLOY.rollback=helm rollback api
DB.version=PostgreSQL 17 with Citus
NOTE.birthday_present=a telescope for Tomás
USER.name=Ada Okafor
USER.timezone=Europe/Amsterdam
USER.os=Debian 12, arm64
PREF.response_style=Terse; the answer first
PREF.editor=Neovim with the plug-in fzf
TASK.deadline=2026-12-01
PROJ.repo=github.com/acme/loom
NOTIZ.hausarzt=Dr. Weber, Sprechstunde montags
NOTIZ.geschenk=Nähmaschine für Oma zum Geburtstag
NOTIZ.muell=Die blaue Tonne wird donnerstags geleert
NOTE.recette=Tarte aux pommes de grand-mère, four à 180 degrés
NOTE.ecole=L'école de Léa ferme à 16 h 30
NOTA.receta=Tortilla con cebolla, cuatro huevos
NOTA.vecina=La vecina Carmen riega las plantas en agosto
NOTA.ricetta=Ragù della nonna: due ore a fuoco lento
NOTA.idraulico=L'idraulico Bruno viene martedì mattina
MEMO.tsuma=妻の誕生日は五月十四日
MEMO.arerugi=ピーナッツアレルギーがあります
MEMO.sushi=好きな寿司はサーモン
`;

/** `question => LABEL`, several where each of them will do. */
const QUESTIONS = `
wife birthday => FAMILY.wife_birthday
alergy => HEALTH.allergy
What is my wife's name? => FAMILY.wife
when is the wedding day => FAMILY.wedding_day
which pets do I have => FAMILY.pets
what medication do I take => HEALTH.medication
medicaton dose => HEALTH.medication
blod type => HEALTH.blood_type
who is my doctor => HEALTH.doctor
allergies => HEALTH.allergy
am I allergic to penicilin => HEALTH.allergy
glases => HEALTH.glasses
home adress => HOME.address
wi-fi network => HOME.wifi
where is the rooter => HOME.wifi
key box => HOME.key_box
keybox => HOME.key_box
heating sevice => HOME.heating
land lord phone => HOME.landlord
when does my pasport expire => TRAVEL.passport
frequent flyer number => TRAVEL.frequent_flyer
which seat on the plane => TRAVEL.seat
next trip => TRAVEL.next_trip
hotel in lisbon => TRAVEL.next_trip
lisabon => TRAVEL.next_trip
bank salary => MONEY.bank
tax advisor => MONEY.tax_adviser
how much rent do I pay a month => MONEY.rent
grace's brother => PEOPLE.grace_brother
the plumer in Utrecht => PEOPLE.grace_brother
spare key => PEOPLE.neighbour
neighbor => PEOPLE.neighbour
licence plate of the car => CAR.plate
car insurance => CAR.insurance
winter tires => CAR.tyres
dentist => REMINDER.dentist
what did I want for brekfast => FOOD.breakfast
blueberry => FOOD.breakfast
shoe size => SPORT.shoe_size
rowing club => SPORT.club
my manager => WORK.manager
stand-up => WORK.standup
when am i on call => WORK.on_call
kubernets cluster => DEPLOY.target
how do I roll back => DEPLOY.rollback
postgres version => DB.version
birthday present => NOTE.birthday_present
telescop => NOTE.birthday_present
time zone => USER.timezone
operating system => USER.os
vim plugin => PREF.editor
PROJ.repo => PROJ.repo
Wann hat der Hausarzt Sprechstunde? => NOTIZ.hausarzt
Was ist das Geschenk für die Oma? => NOTIZ.geschenk
naehmaschine => NOTIZ.geschenk
Wann wird die blaue Tonne geleert => NOTIZ.muell
Quelle est la recette de la tarte aux pomme ? => NOTE.recette
À quelle heure ferme l'ecole de Lea => NOTE.ecole
¿Cuántos huevos lleva la tortila? => NOTA.receta
quién riega las plantas => NOTA.vecina
il ragu della nona => NOTA.ricetta
quando viene l'idraulico => NOTA.idraulico
妻の誕生日はいつですか => MEMO.tsuma
アレルギー => MEMO.arerugi
寿司 => MEMO.sushi
`;

export const LIFE_FACTS: readonly FindableFact[] = linesOf(LIFE).map((line) => {
  const [, label, value, own] = /^([^=]+)=([^|]+?)(?: \| (.*))?$/.exec(line)!;
  return { label, value, description: own ?? findChannel(label)?.description };
});

export const LIFE_QUESTIONS = linesOf(QUESTIONS).map((line) => {
  const [question, label] = line.split(" => ");
  return { question, label };
});

function linesOf(text: string): string[] {
  return text.trim().split("\n");
}

const TOPICS = "book film recipe meeting idea song plant order invoice contract course server".split(" ");
const NAMES = "anna ben chloe david emeka farah george hana ivan julia karim lena".split(" ");
const SUBJECTS =
  "ticket garden kitchen summer office project report weekend school budget holiday camera bicycle".split(
    " ",
  );
const ENDINGS = [
  "to be done by Friday",
  "as agreed last week",
  "in the blue folder",
  "paid, 40 euros",
  "ask again",
];

/** Facts with other labels, from a seed. */
export function otherFacts(count: number, seed = 1): FindableFact[] {
  const { pick: one } = seededRandom(seed);
  return Array.from({ length: count }, (_, i) => {
    const [topic, name, subject] = [one(TOPICS), one(NAMES), one(SUBJECTS)];
    return {
      label: `${topic.toUpperCase()}.${name}_${subject}_${i}`,
      value: `${one(CHANNELS).example.split(";")[0]}: ${subject} of ${name}, ${one(ENDINGS)}`,
      description: i % 3 === 0 ? `The ${topic} that ${name} has for the ${one(SUBJECTS)}` : undefined,
    };
  });
}

/** `words`: a word of the fact; `slip`: such a word, mistyped; `other`: no word of it. */
export type QuestionKind = "words" | "slip" | "other";

export const TWO_LIVES = factsIn("facts");
export const TWO_LIVES_QUESTIONS = questionsIn("questions");
/** Written after the rules of find were made, without a look at them. */
export const ONE_LIFE = factsIn("one-life-facts");
export const ONE_LIFE_QUESTIONS = questionsIn("one-life-questions");

function factsIn(name: string): readonly FindableFact[] {
  return linesOf(fixture(name)).map((line) => {
    const [label, value, own] = line.split("\t");
    return { label, value, description: own ?? findChannel(label)?.description };
  });
}

/** Any of the labels answers the question. */
function questionsIn(name: string) {
  return linesOf(fixture(name)).map((line) => {
    const [kind, language, labels, question] = line.split("\t");
    return { kind: kind as QuestionKind, language, labels: labels.split("|"), question };
  });
}

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/questions/${name}.tsv`, import.meta.url), "utf8");
}
