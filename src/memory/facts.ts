/** All facts of a user, and forgetting: one fact, a place or a whole user. */

import { Failure } from "../base/errors.ts";
import { ITEMS_AT_ONCE_MAX, inSlices, mapped } from "../base/slices.ts";
import { revisionMismatch } from "./encode.ts";
import { factNotFound, namedLabel, nothingRemembered } from "./free-labels.ts";
import { byChannel, isFree, type OnChannel } from "./labels.ts";
import { innermost, type Person, placeFor, viewOf } from "./places.ts";
import type { ErasedUser, FactRecord, View } from "./ports.ts";
import { disown } from "./project-sharing.ts";
import type { WriteScope } from "./records.ts";
import type { MemoryServices } from "./services.ts";
import { type OwnMark, ownMark } from "./shared-places.ts";
import { viewFor } from "./shared-projects.ts";
import { allFreeLabels } from "./shared-reads.ts";

/** A fact, and what its label is for, where the person has made it and said so. */
export type DescribedFact = OnChannel<FactRecord> &
  OwnMark & {
    readonly description?: string | null | undefined;
    /** What is shared on the label, where a person's own counts. */
    readonly hides?: FactRecord | undefined;
  };

/** In channel order. */
export async function listFacts(
  services: MemoryServices,
  account: string,
  person: Person,
  { details = false }: { readonly details?: boolean } = {},
): Promise<readonly DescribedFact[]> {
  const view = await viewFor(services, account, person);
  const turn = () => services.turns.next(account);
  const { facts: stored } = (await services.store.readUser(view)) ?? { facts: [] };
  if (stored.length > ITEMS_AT_ONCE_MAX) await turn();
  const found = await services.labels.withChannels(account, stored);
  const facts: DescribedFact[] =
    view.shared === undefined ? found : found.map((fact) => ({ ...fact, ...ownMark(view, fact.place) }));
  facts.sort(byChannel);
  if (!details) return facts;
  const hidden = await hiddenFacts(services, view);
  const labels = facts.some(isFree) ? await allFreeLabels(services.store, view, turn) : undefined;
  const described = mapped(facts, (fact): DescribedFact => {
    const hides = view.places.indexOf(fact.place) > 1 ? hidden.get(fact.label) : undefined;
    const free = isFree(fact) ? { description: labels?.get(fact.label)?.description } : {};
    return { ...fact, ...free, ...(hides && { hides }) };
  });
  return inSlices(described, turn);
}

/** What is shared in a view, by label. */
async function hiddenFacts(
  { store }: Pick<MemoryServices, "store">,
  view: View,
): Promise<ReadonlyMap<string, FactRecord>> {
  const shared = view.shared === undefined ? undefined : view.places[1];
  const state = shared === undefined ? undefined : await store.readUser({ ...view, places: [shared] });
  return new Map(state?.facts.map((fact) => [fact.label, fact]));
}

export interface ForgetInput extends Person {
  readonly label: string;
  readonly scope?: WriteScope | undefined;
  readonly keepHistory?: boolean | undefined;
  readonly ifRevision?: number | undefined;
}

/** Forgets the fact that counts in the places of the call, or that of the scope; the number of channels still in use. */
export async function forgetFact(
  services: MemoryServices,
  account: string,
  input: ForgetInput,
): Promise<number> {
  const { label, scope, keepHistory, ifRevision } = input;
  const view = await viewFor(services, account, input);
  const { terms, free } = await namedLabel(services, view, label);
  const otherwise = placeFor(scope ?? terms.scope, view.places);
  const outcome = await services.store.write({
    ...view,
    changes: [
      {
        kind: "forget",
        label,
        places: scope === undefined ? view.places : [otherwise],
        otherwise,
        free,
        ...(keepHistory ? { keepHistory } : {}),
        ...(ifRevision === undefined ? {} : { ifRevision }),
      },
    ],
  });
  if (outcome.outcome === "label_unknown") throw await nothingRemembered(services, view, label);
  if (outcome.outcome === "conflict") throw revisionMismatch(outcome);
  if (outcome.outcome !== "stored" || !outcome.changes.some(({ found }) => found)) throw factNotFound(label);
  services.blocks.drop(account, input.userId);
  return outcome.channelCount;
}

interface ForgottenUser {
  readonly erased: ErasedUser;
  /** What the user had written in shared projects: values, present and earlier, that are there without a name now. */
  readonly left: readonly { readonly project: string; readonly values: number }[];
}

const NOTHING: ErasedUser = { facts: 0, earlier: 0, labels: 0, places: 0, connections: 0, keysLeft: 0 };

/**
 * Forgets a user with everything in all projects, and the name in what is shared; with a project, that place and those inside
 * it. The name goes last: an erasure that is refused takes nothing, and what the user has written meanwhile loses it, too. A
 * call that was cut off in between is repeated: it finds no user, and the names that are left.
 */
export async function forgetUser(
  services: MemoryServices,
  account: string,
  person: Person,
): Promise<ForgottenUser> {
  const { userId, project } = person;
  const { places } = viewOf(account, person, 0);
  const place = project === undefined ? undefined : innermost(places);
  const erased = await services.store.forgetUser(account, userId, place);
  if (project === undefined) services.blocks.forget(account, userId);
  else services.blocks.drop(account, userId);
  const left = project === undefined ? await disown(services, account, userId) : new Map<string, number>();
  if (erased === undefined && left.size === 0)
    throw new Failure("not_found", "There is nothing stored for this user.", { param: "user_id" });
  return {
    erased: erased ?? NOTHING,
    left: [...left].map(([name, values]) => ({ project: name, values })),
  };
}
