/**
 * The calls of the benchmark of holds, in an order in which each finds what it needs: what is forgotten is imported again.
 * A further call is one more entry of the list.
 */

import { FACTS_MAX } from "../../src/base/limits.ts";
import { BEFORE, INNERMOST, PROJECT, placeFactsOf, TEAM, USER, WIDE, WIDE_PLACES } from "./large-user.ts";

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export type Send = (method: string, path: string, body?: object) => Promise<Answered>;

export interface HoldRun {
  readonly send: Send;
  /** Imports lines as the operator does: through the service, or beside it where the store is PostgreSQL. */
  readonly upload: (lines: string) => Promise<unknown>;
  readonly prepared: unknown;
}

export interface HoldCall {
  readonly name: string;
  /** It takes seconds, in threads. */
  readonly isSlow?: true;
  /** What is done before, unmeasured. */
  readonly prepare?: (send: Send) => Promise<unknown>;
  readonly run: (run: HoldRun) => Promise<Answered>;
  /** Throws unless the call was answered as it should be. */
  readonly check: (answered: Answered, facts: number) => void;
}

const MOVED = "b";
/** Facts of the innermost place and those that only its project has. */
const IN_VIEW = 250;
const at = `user_id=${USER}&project=${encodeURIComponent(INNERMOST)}`;

const wide = `user_id=${WIDE}&project=${encodeURIComponent(WIDE_PLACES[2]!)}`;

const get =
  (path: string): HoldCall["run"] =>
  ({ send }) =>
    send("GET", path);
const post =
  (path: string, body: object): HoldCall["run"] =>
  ({ send }) =>
    send("POST", path, { user_id: USER, ...body });
const erase =
  (query: string): HoldCall["run"] =>
  ({ send }) =>
    send("DELETE", `/users?${query}`);

// biome-ignore lint/suspicious/noExplicitAny: each check knows the answer of its call.
function checked(expected: (answer: any, facts: number) => boolean): HoldCall["check"] {
  return ({ status, text }, facts) => {
    if (status !== 200 || !expected(JSON.parse(text), facts))
      throw new Error(`a call was answered ${status}: ${text.slice(0, 200)}`);
  };
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
const ofPlaces = (expected: (answer: any, placeFacts: number) => boolean) =>
  checked((answer, facts) => expected(answer, placeFactsOf(facts < FACTS_MAX)));

/** What the import writes: kept from the first export on. */
let exported = "";

const imports: HoldCall = {
  name: "import",
  run: async ({ upload }) => ({ status: 200, text: JSON.stringify(await upload(exported)) }),
  check: checked((report, facts) => report.facts === facts),
};

export const CALLS: readonly HoldCall[] = [
  {
    name: "context, index",
    run: get(`/context?${at}&include=index`),
    check: checked(({ channel_count }) => channel_count === IN_VIEW),
  },
  {
    name: "context",
    isSlow: true,
    run: get(`/context?${at}`),
    check: checked(({ channel_count }) => channel_count === IN_VIEW),
  },
  {
    name: "facts",
    run: get(`/facts?${at}`),
    check: checked(({ facts }) => facts.length === IN_VIEW),
  },
  {
    name: "find everywhere",
    run: get(`/facts/find?${at}&q=the+valeu+of+fact+499&everywhere=true`),
    check: checked(({ facts: [first] }) => first.value.startsWith("fact 499 ")),
  },
  {
    name: "history of a user",
    run: get(`/users/history?user_id=${USER}&limit=100`),
    check: checked(({ changes }) => changes.length === 100),
  },
  {
    name: "users",
    run: get("/users"),
    check: checked(({ users }) => users[0].projects.includes(INNERMOST)),
  },
  {
    name: "context, index, full places",
    run: get(`/context?${wide}&include=index`),
    check: ofPlaces(({ channel_count }, placeFacts) => channel_count === WIDE_PLACES.length * placeFacts),
  },
  {
    name: "facts, full places",
    run: get(`/facts?${wide}&details=true`),
    check: ofPlaces(({ facts }, placeFacts) => facts.length === WIDE_PLACES.length * placeFacts),
  },
  {
    name: "share a project",
    run: ({ send }) => send("PUT", `/projects/${TEAM}`, { shared: true, take: { user_id: WIDE } }),
    check: ofPlaces(({ facts, taken }, placeFacts) => facts === placeFacts && taken.length === placeFacts),
  },
  {
    name: "facts, of a shared project",
    run: get(`/facts?${wide}&details=true`),
    check: ofPlaces(({ facts }, placeFacts) => facts.length === WIDE_PLACES.length * placeFacts),
  },
  {
    name: "end the sharing",
    run: ({ send }) => send("PUT", `/projects/${TEAM}`, { shared: false, give_to: WIDE }),
    check: ofPlaces(({ given }, placeFacts) => given === placeFacts),
  },
  {
    name: "export",
    run: get(`/users/export?user_id=${USER}`),
    check: ({ status, text }, facts) => {
      const found = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const count = found.reduce((sum, line) => sum + (line.facts?.length ?? 0), 0);
      if (status !== 200 || count !== facts) throw new Error(`an export has ${count} facts`);
      exported = text;
    },
  },
  { ...imports, name: "import of what is there" },
  {
    name: "restore",
    prepare: async (send) => {
      const { text } = await send("GET", `/facts/history?${at}&label=USER.name`);
      return JSON.parse(text).revisions[1].revision;
    },
    run: ({ send, prepared }) =>
      send("POST", "/facts/restore", {
        user_id: USER,
        project: INNERMOST,
        label: "USER.name",
        revision: prepared,
      }),
    check: checked(({ status }) => status === "ok"),
  },
  {
    name: "rollback, dry",
    run: post("/users/rollback", { to: BEFORE, dry_run: true }),
    check: checked(({ changes }, facts) => changes.length >= facts - 1),
  },
  {
    name: "rollback",
    run: post("/users/rollback", { to: BEFORE }),
    check: checked(({ changes }, facts) => changes.length >= facts - 1),
  },
  {
    name: "move after a rollback",
    run: post("/users/move", { from: PROJECT, to: MOVED }),
    check: checked(({ moved }, facts) => moved === facts),
  },
  {
    name: "move",
    run: post("/users/move", { from: MOVED, to: PROJECT }),
    check: checked(({ moved }, facts) => moved === facts),
  },
  {
    name: "erase a project",
    run: erase(`user_id=${USER}&project=${PROJECT}`),
    check: checked(({ status }) => status === "ok"),
  },
  imports,
  {
    name: "erase a person",
    run: erase(`user_id=${USER}`),
    check: checked(({ status }) => status === "ok"),
  },
  { ...imports, name: "import after an erasure" },
];
