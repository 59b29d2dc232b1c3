/**
 * What LangGraph's stores do, case by case, to be compared with its own InMemoryStore. The facts of the cases have names:
 * of the 40 labels, or of one's own.
 */

import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";

export interface StoreCase {
  readonly name: string;
  /** @param user one that no other case uses */
  run(store: BaseStore, user: string): Promise<unknown>;
  /** What ours answers where it differs from LangGraph's by intent, for the user `u`; and why. */
  readonly ours?: unknown;
  readonly why?: string;
}

/** The labels of the six facts in the cases; a group without facts is the last. */
export interface CaseLabels {
  readonly name: string;
  readonly location: string;
  readonly os: string;
  readonly owner: string;
  readonly current: string;
  readonly budget: string;
  readonly nothing: string;
}

export const STANDARD_LABELS: CaseLabels = {
  name: "USER.name",
  location: "USER.location",
  os: "USER.os",
  owner: "TASK.owner",
  current: "TASK.current",
  budget: "PROJ.token_budget",
  nothing: "PREF.tone",
};

export const OWN_LABELS: CaseLabels = {
  name: "FAMILY.wife",
  location: "FAMILY.home",
  os: "FAMILY.dog",
  owner: "TRIP.guide",
  current: "TRIP.stage",
  budget: "HOUSE.rent",
  nothing: "DIET.allergy",
};

export function casesWith(labels: CaseLabels): readonly StoreCase[] {
  const put = (user: string, label: string, value: string | null): Operation => ({
    ...at(user, label),
    value: value === null ? null : { value },
  });
  const get = (user: string, label: string): Operation => at(user, label);
  const read = (store: BaseStore, user: string, label: string) => {
    const { namespace, key } = at(user, label);
    return store.get(namespace, key);
  };
  const write = (store: BaseStore, user: string, label: string, value: string) => {
    const { namespace, key } = at(user, label);
    return store.put(namespace, key, { value });
  };
  const forget = (store: BaseStore, user: string, label: string) => {
    const { namespace, key } = at(user, label);
    return store.delete(namespace, key);
  };
  /** Five facts in three groups, written one after the other. */
  const filled = async (store: BaseStore, user: string): Promise<BaseStore> => {
    await write(store, user, labels.owner, "Ada");
    await write(store, user, labels.name, "Ada");
    await write(store, user, labels.current, "weave");
    await write(store, user, labels.budget, "4000");
    await write(store, user, labels.location, "London");
    return store;
  };
  const searched = (options: object, ...rest: string[]): StoreCase["run"] =>
    async function run(store, user) {
      return (await filled(store, user)).search([user, ...rest], options);
    };
  const listed = (optionsOf: (user: string) => object): StoreCase["run"] =>
    async function run(store, user) {
      return (await filled(store, user)).listNamespaces(optionsOf(user));
    };
  const item = (label: string, value: string) => ({ value: { value }, ...at("u", label) });
  const { name, os } = labels;

  return [
    { name: "get of nothing", run: (store, user) => read(store, user, name) },
    { name: "put, then get", run: async (store, user) => read(await filled(store, user), user, name) },
    {
      name: "get of another group",
      run: async (store, user) => read(await filled(store, user), user, labels.nothing),
    },
    {
      name: "get of another user",
      run: async (store, user) => read(await filled(store, user), `${user}2`, name),
    },
    {
      name: "get of a longer namespace",
      run: (store, user) => store.get([user, group(name), "x"], "name"),
    },
    {
      name: "put over a fact",
      run: async (store, user) => {
        await write(await filled(store, user), user, name, "Grace");
        return read(store, user, name);
      },
    },
    {
      name: "delete",
      run: async (store, user) => {
        await forget(await filled(store, user), user, name);
        return read(store, user, name);
      },
    },
    { name: "delete of nothing", run: (store, user) => forget(store, user, name) },
    { name: "put answers nothing", run: (store, user) => write(store, user, name, "Ada") },
    {
      name: "batch of puts answers null for each",
      run: (store, user) => store.batch([put(user, name, "Ada"), put(user, os, "Debian")]),
    },
    {
      name: "batch: the last put of a key counts",
      run: async (store, user) => {
        await store.batch([put(user, name, "first"), put(user, name, "last")]);
        return read(store, user, name);
      },
    },
    {
      name: "batch: put over a fact, then get",
      run: async (store, user) =>
        (await filled(store, user)).batch([put(user, name, "new"), get(user, name)]),
    },
    {
      name: "batch: put of a new fact, then get",
      why: "LangGraph's get does not see a put of the same batch",
      run: (store, user) => store.batch([put(user, os, "Debian"), get(user, os)]),
      ours: [null, item(os, "Debian")],
    },
    {
      name: "batch: get, then put over the fact",
      why: "LangGraph's put changes the item that the get has handed out",
      run: async (store, user) =>
        (await filled(store, user)).batch([get(user, name), put(user, name, "new")]),
      ours: [item(name, "Ada"), null],
    },
    {
      name: "batch: get, then put of a new fact",
      run: (store, user) => store.batch([get(user, os), put(user, os, "Debian")]),
    },
    {
      name: "batch: put of null forgets",
      run: async (store, user) => {
        await (await filled(store, user)).batch([put(user, name, null)]);
        return read(store, user, name);
      },
    },
    {
      name: "batch: two users",
      run: async (store, user) => {
        await store.batch([put(user, name, "Ada"), put(`${user}b`, name, "Grace")]);
        return store.batch([get(user, name), get(`${user}b`, name)]);
      },
    },
    { name: "search of nothing", run: (store, user) => store.search([user]) },
    { name: "search: order", run: searched({}) },
    {
      name: "search: order after a put over the last fact",
      run: async (store, user) => {
        await write(await filled(store, user), user, labels.location, "Paris");
        return store.search([user]);
      },
    },
    { name: "search: one group", run: searched({}, group(labels.owner)) },
    { name: "search: a group without facts", run: searched({}, group(labels.nothing)) },
    { name: "search: limit", run: searched({ limit: 2 }) },
    { name: "search: limit and offset", run: searched({ limit: 2, offset: 1 }) },
    { name: "search: offset beyond the end", run: searched({ offset: 9 }) },
    { name: "search: filter by value", run: searched({ filter: { value: "Ada" } }) },
    { name: "search: $eq", run: searched({ filter: { value: { $eq: "weave" } } }) },
    { name: "search: $ne", run: searched({ filter: { value: { $ne: "Ada" } } }) },
    { name: "search: $gt and $lte", run: searched({ filter: { value: { $gt: 3000, $lte: 4000 } } }) },
    { name: "search: $gte and $lt", run: searched({ filter: { value: { $gte: 4000, $lt: 4000 } } }) },
    { name: "search: $in", run: searched({ filter: { value: { $in: ["London", "weave"] } } }) },
    { name: "search: $nin", run: searched({ filter: { value: { $nin: ["London", "weave"] } } }) },
    { name: "search: an operator that is not known", run: searched({ filter: { value: { $regex: "A" } } }) },
    { name: "search: a field that facts do not have", run: searched({ filter: { colour: "red" } }) },
    {
      name: "search: a query",
      why: "LangGraph's store without an index leaves it out silently",
      run: searched({ query: "Ada" }),
      ours: "refused",
    },
    { name: "namespaces: of a user", run: listed((user) => ({ prefix: [user] })) },
    {
      name: "namespaces: suffix and depth",
      run: listed((user) => ({ prefix: [user], suffix: [group(labels.owner)], maxDepth: 1 })),
    },
    {
      name: "namespaces: limit and offset",
      run: listed((user) => ({ prefix: [user, "*"], limit: 1, offset: 1 })),
    },
  ];
}

function group(label: string): string {
  return label.split(".")[0];
}

function at(user: string, label: string): { namespace: string[]; key: string } {
  const [first, key] = label.split(".");
  return { namespace: [user, first], key };
}
