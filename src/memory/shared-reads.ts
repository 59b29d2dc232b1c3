/**
 * A store whose reads know shared places: what is there is the memory of the project's hidden user (shared-places.ts), and
 * is merged with what the person has. Writes of both are the store's own affair, which locks both.
 */

import { assert } from "../base/assert.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { OWN_PLACE } from "./places.ts";
import type { FactRecord, FactStore, FreeLabelsQuery, Store, UserState, View } from "./ports.ts";
import type { FreeLabel, Place } from "./records.ts";
import { isShared, projectOfPlace, projectUser, sharedIn, sharedPlace } from "./shared-places.ts";
import { StoreLayer } from "./store-layer.ts";

export function sharedReads(store: Store): Store {
  const layer = new StoreLayer(store);
  layer.readUser = (view) => {
    const shared = sharedIn(view.places);
    return shared === undefined ? store.readUser(view) : readBoth(store, view, shared);
  };
  layer.readFact = (view, label) => {
    const shared = sharedIn(view.places);
    return shared === undefined ? store.readFact(view, label) : readFact(store, view, label);
  };
  layer.readLife = async (account, userId, query) => {
    const project = projectOfPlace(query.place ?? OWN_PLACE);
    if (project === undefined) return store.readLife(account, userId, query);
    const life = await store.readLife(account, projectUser(project), { ...query, place: OWN_PLACE });
    const at = sharedPlace(project);
    return (
      life && { stamp: life.stamp, facts: placedAt(at, life.facts), earlier: placedAt(at, life.earlier) }
    );
  };
  layer.saveCodes = (account, userId, codes) =>
    byUser(userId, codes, (user, ofUser) => store.saveCodes(account, user, ofUser));
  layer.saveVectors = (account, userId, vectors) =>
    byUser(userId, vectors, (user, ofUser) => store.saveVectors(account, user, ofUser));
  return layer;
}

/** The stamp of everything that a view shows; undefined where there is nothing. */
export function readViewStamp(
  store: Pick<FactStore, "readStamp">,
  { account, userId, places }: Pick<View, "account" | "userId" | "places">,
): MaybePromise<string | undefined> {
  const shared = sharedIn(places);
  const own = store.readStamp(account, userId);
  if (shared === undefined) return own;
  return andThen(own, (ofPerson) =>
    andThen(store.readStamp(account, projectUser(shared)), (ofProject) => joined(ofPerson, ofProject)),
  );
}

/** The part of a view's stamp that is the person's. */
export function ownStamp(stamp: string): string {
  return stamp.split(" ", 1)[0]!;
}

function joined(ofPerson: string | undefined, ofProject: string | undefined): string | undefined {
  if (ofPerson === undefined && ofProject === undefined) return undefined;
  return `${ofPerson ?? ""} ${ofProject ?? ""}`;
}

function partsOf(view: View, project: string): { own: View; team: View } {
  const own = { ...view, places: view.places.filter((place) => !isShared(place)) };
  return { own, team: { ...view, userId: projectUser(project), places: [OWN_PLACE] } };
}

function readBoth(store: Store, view: View, project: string): MaybePromise<UserState | undefined> {
  const { own, team } = partsOf(view, project);
  // Stamps come first: one that is older than its facts is no stamp of any state that is kept.
  return andThen(readViewStamp(store, view), (stamp = "") =>
    andThen(store.readUser(own), (mine) =>
      andThen(store.readUser(team), (theirs) => {
        if (mine === undefined && theirs === undefined) return undefined;
        const [before, after] = [ownStamp(stamp), stamp.split(" ")[1]];
        const facts = [...placedAt(sharedPlace(project), theirs?.facts ?? []), ...(mine?.facts ?? [])];
        return {
          stamp: joined(mine?.stamp ?? before, theirs?.stamp ?? after) ?? "",
          facts: countingIn(view.places, facts),
          nextEndMs: earlier(mine?.nextEndMs ?? null, theirs?.nextEndMs ?? null),
        };
      }),
    ),
  );
}

/** The innermost of what counts in both. */
function readFact(store: Store, view: View, label: string): MaybePromise<FactRecord | undefined> {
  const project = sharedIn(view.places);
  assert(project !== undefined, "a view has a shared place");
  const { own, team } = partsOf(view, project);
  return andThen(store.readFact(own, label), (mine) => {
    if (mine !== undefined && mine.place !== OWN_PLACE) return mine;
    return andThen(
      store.readFact(team, label),
      (fact) => (fact && { ...fact, place: sharedPlace(project) }) ?? mine,
    );
  });
}

/** Of several facts on a label, the one of the innermost place; in the order of labels. */
function countingIn(places: readonly Place[], facts: readonly FactRecord[]): FactRecord[] {
  const counting = new Map<string, FactRecord>();
  for (const fact of facts) {
    const other = counting.get(fact.label);
    if (other === undefined || places.indexOf(fact.place) > places.indexOf(other.place))
      counting.set(fact.label, fact);
  }
  return [...counting.values()].sort((a, b) => (a.label < b.label ? -1 : 1));
}

function placedAt<F extends { readonly place: Place }>(place: Place, facts: readonly F[]): F[] {
  return facts.map((fact) => ({ ...fact, place }));
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** What is saved at a shared place goes to the project's user. */
async function byUser<P extends { readonly place: Place }>(
  userId: string,
  placed: readonly P[],
  save: (userId: string, placed: readonly P[]) => Promise<void>,
): Promise<void> {
  const users = new Map<string, P[]>();
  for (const one of placed) {
    const project = projectOfPlace(one.place);
    const user = project === undefined ? userId : projectUser(project);
    users.set(user, [...(users.get(user) ?? []), project === undefined ? one : { ...one, place: OWN_PLACE }]);
  }
  await Promise.all([...users].map(([user, ofUser]) => save(user, ofUser)));
}

/** Labels that a person has made, and those that were made in a project which the view shares; of both, the project's. */
export function readViewLabels(
  store: Pick<FactStore, "readFreeLabels">,
  { account, userId, places }: Pick<View, "account" | "userId"> & { readonly places?: readonly Place[] },
  asked: FreeLabelsQuery,
): MaybePromise<readonly FreeLabel[]> {
  const shared = sharedIn(places ?? []);
  const own = store.readFreeLabels(account, userId, asked);
  if (shared === undefined) return own;
  return andThen(own, (mine) =>
    andThen(store.readFreeLabels(account, projectUser(shared), asked), (theirs) => {
      const all = new Map([...mine, ...theirs].map((label) => [label.label, label]));
      return [...all.values()].sort((a, b) => (a.label < b.label ? -1 : 1)).slice(0, asked.limit);
    }),
  );
}

/** Labels that are read in one go. */
const READ_MAX = 256;

/** All labels that a person has made, and those of a project that the view shares, page by page. */
export async function allFreeLabels(
  store: Pick<Store, "readFreeLabels">,
  who: Pick<View, "account" | "userId"> & Partial<Pick<View, "places">>,
  turn: () => Promise<unknown>,
): Promise<Map<string, FreeLabel>> {
  const labels = new Map<string, FreeLabel>();
  for (let after = ""; ; ) {
    const page = await readViewLabels(store, who, { prefix: "", after, limit: READ_MAX });
    for (const label of page) labels.set(label.label, label);
    if (page.length < READ_MAX) return labels;
    after = page[READ_MAX - 1].label;
    await turn();
  }
}
