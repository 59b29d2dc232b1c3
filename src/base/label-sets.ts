/**
 * Sets of labels for a purpose, which an account adds with one call (`POST /channels/sets`). A model chooses a label by its
 * description, so each says what belongs there, and not what could be guessed from the name alone.
 */

interface SetLabel {
  readonly label: string;
  readonly description: string;
  readonly example: string;
  /** Whose its facts are; the person's where it is absent. */
  readonly scope?: "project";
}

type Row = readonly [label: string, description: string, example: string];

const PERSONAL: readonly Row[] = [
  ["FAMILY.partner", "Name of the partner, with the birthday if known", "Grace, born 9 December"],
  ["FAMILY.children", "Names and birth years of the children", "Joan 2015; Alan 2018"],
  ["FAMILY.parents", "Names of the parents and where they live", "Anne and George, in Turin"],
  ["FAMILY.pets", "Pets with their kind and name", "cat Byron; dog Pascal"],
  ["HEALTH.allergies", "What the person must not eat, take or touch", "peanuts; penicillin"],
  ["HEALTH.diet", "What the person eats and does not eat by choice", "vegetarian"],
  ["HEALTH.doctors", "Doctors with their field and place", "Dr. Hopper, dentist, Main Street 4"],
  ["HOME.address", "Where the person lives", "12 Mill Lane, Leeds"],
  ["HOME.devices", "Devices and cars at home, with their models", "dishwasher Bosch SMV46; Fiat 500"],
  ["TRAVEL.plans", "Journeys that are planned, with their days", "Lisbon, 3 to 9 May 2027"],
  ["TRAVEL.habits", "How the person likes to travel", "by train, aisle seat"],
  ["MONEY.budget", "What the person wants to spend, and on what", "at most 400 euros a month for food"],
  ["PEOPLE.friends", "Friends and what is worth knowing of them", "Mary, a vegan; Edith, in Oslo"],
  ["PEOPLE.colleagues", "People at work with their roles", "Barbara, lead of the backend"],
];

const SUPPORT: readonly Row[] = [
  ["CUSTOMER.name", "How the customer wants to be addressed", "Ms. Lovelace"],
  ["CUSTOMER.company", "The company that the customer is from", "Analytical Engines Ltd"],
  ["CUSTOMER.language", "The language that the customer writes in", "Italian"],
  ["CUSTOMER.contact", "How and when the customer wants to be reached", "by e-mail, after 14:00"],
  ["PLAN.name", "The plan that the customer pays for", "Team, 12 seats"],
  ["PLAN.renewal", "When the plan is renewed, and what was promised for then", "2027-03-01, 10 % less"],
  ["ORDER.last", "Number and content of the last order", "A-10432: two keyboards"],
  ["ORDER.problems", "What went wrong with orders", "A-10398 came damaged"],
  ["TICKET.open", "Tickets that are open, with what is waited for", "5521: waits for the log file"],
  ["TICKET.solved", "What was solved, and how, in case it comes back", "login: the clock was wrong"],
  ["PRODUCT.version", "Version and platform that the customer uses", "4.2 on Windows 11"],
];

const TEAM: readonly Row[] = [
  ["TEAM.members", "Who is in the team, with their roles", "Ada, lead; Grace, compiler"],
  ["TEAM.on_call", "Who is on call, and until when", "Grace until Friday 18:00"],
  ["TEAM.meetings", "Regular meetings with their days and times", "Monday 9:30, planning"],
  ["TEAM.contacts", "Whom to ask in other teams, for what", "Joan for access to the cluster"],
  ["RULE.review", "What must happen before a change is merged", "two approvals; tests pass"],
  ["RULE.code", "What code must look like here", "no default exports"],
  ["RULE.security", "What must never be done with data and access", "no customer data on laptops"],
  ["RELEASE.next", "The next release: its version and day", "2.4, on 1 December"],
  ["RELEASE.steps", "How a release is made, step by step", "tag; build; staging for a day; production"],
  ["RELEASE.last", "The last release, and what went wrong with it", "2.3: rolled back once"],
];

const RESEARCH: readonly Row[] = [
  ["STUDY.question", "The question that the work is to answer", "Do longer prompts help small models?"],
  ["STUDY.hypothesis", "What is expected, and why", "no, beyond 2,000 tokens"],
  ["STUDY.method", "How it is examined", "200 tasks, three seeds each"],
  ["STUDY.data", "The data that is used, with its version and place", "GSM8K, main, 7,473 problems"],
  ["STUDY.metric", "What is measured, and what counts as better", "exact match, two points or more"],
  ["STUDY.findings", "What was found so far, with its numbers", "61.2 % against 60.9 %: no difference"],
  ["STUDY.failed", "What was tried and did not work", "temperature 0: loops"],
  ["SOURCE.key", "The works that it builds on", "Shannon 1948"],
  ["SOURCE.unread", "What is still to be read", "Hamming 1950"],
  ["PAPER.venue", "Where it is to be published, with the deadline", "ACL, 15 February"],
  ["PAPER.authors", "The authors in their order", "Lovelace, Hopper"],
];

const SHARED_BY_PROJECT: readonly (readonly Row[])[] = [TEAM, RESEARCH];

const SETS = { personal: PERSONAL, support: SUPPORT, team: TEAM, research: RESEARCH };

export const LABEL_SET_NAMES = ["personal", "support", "team", "research"] as const;

export type LabelSetName = (typeof LABEL_SET_NAMES)[number];

export const LABEL_SETS: ReadonlyMap<LabelSetName, readonly SetLabel[]> = new Map(
  LABEL_SET_NAMES.map((name) => {
    const place = SHARED_BY_PROJECT.includes(SETS[name]) ? { scope: "project" as const } : {};
    const labelOf = ([label, description, example]: Row) => ({ label, description, example, ...place });
    return [name, SETS[name].map(labelOf)];
  }),
);
