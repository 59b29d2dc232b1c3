/** All facts of a user, and forgetting: one fact, a place or a whole user. */

import { Failure } from "../base/errors.ts";
import { revisionMismatch } from "./encode.ts";
import { allFreeLabels } from "./free-label-list.ts";
import { factNotFound, namedLabel, nothingRemembered } from "./free-labels.ts";
import { byChannel, isFree, type OnChannel } from "./labels.ts";
import { innermost, type Person, placeFor, viewOf } from "./places.ts";
import type { ErasedCounts, FactRecord } from "./ports.ts";
import type { Scope } from "./records.ts";
import type { MemoryServices } from "./services.ts";

/** A fact, and what its label is for, where the person has made it and said so. */
export type DescribedFact = OnChannel<FactRecord> & { readonly description?: string | null | undefined };

/** In channel order. */
export async function listFacts(
  services: MemoryServices,
  account: string,
  person: Person,
  { details = false }: { readonly details?: boolean } = {},
): Promise<readonly DescribedFact[]> {
  const view = viewOf(account, person, services.clock.now());
  const state = await services.store.readUser(view);
  const facts = await services.labels.withChannels(account, state?.facts ?? []);
  facts.sort(byChannel);
  if (!details || !facts.some(isFree)) return facts;
  const labels = await allFreeLabels(services.store, view, () => services.turns.next(account));
  return facts.map((fact) =>
    isFree(fact) ? { ...fact, description: labels.get(fact.label)?.description } : fact,
  );
}

export interface ForgetInput extends Person {
  readonly label: string;
  readonly scope?: Scope | undefined;
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
  const nowMs = services.clock.now();
  const view = viewOf(account, input, nowMs);
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
  if (outcome.outcome === "conflict") throw revisionMismatch(label, outcome.present);
  if (outcome.outcome !== "stored" || !outcome.changes.some(({ found }) => found)) throw factNotFound(label);
  services.blocks.drop(account, input.userId);
  return outcome.channelCount;
}

/** Forgets a user with everything in all projects; with a project, that place and those inside it. */
export async function forgetUser(
  services: MemoryServices,
  account: string,
  person: Person,
): Promise<ErasedCounts> {
  const { userId, project } = person;
  const { places } = viewOf(account, person, 0);
  const place = project === undefined ? undefined : innermost(places);
  const erased = await services.store.forgetUser(account, userId, place);
  if (project === undefined) services.blocks.forget(account, userId);
  else services.blocks.drop(account, userId);
  if (erased === undefined)
    throw new Failure("not_found", "There is nothing stored for this user.", { param: "user_id" });
  return erased;
}
