/** What a person's memory has already: the labels that a file's lines may get, and the facts that they would replace. */

import type { StoredFact } from "../contract/answers.ts";
import type { ServiceCalls } from "../sdk/calls.ts";
import type { AccountLabel, PlanOptions } from "./import-plan.ts";

type Place = string | undefined;

/**
 * Each place is read once.
 * @param memory undefined where there is none yet
 * @param channels the labels of the account
 */
export async function knownMemory(
  memory: Pick<ServiceCalls<string>, "facts"> | undefined,
  channels: readonly AccountLabel[],
  { userId, project }: { readonly userId: string; readonly project: Place },
): Promise<Pick<PlanOptions, "labels" | "presentAt">> {
  const known = new Map<Place, Promise<ReadonlyMap<string, StoredFact>>>();
  const factsAt = async (place: Place) => {
    const { facts = [] } = (await memory?.facts(userId, { project: place })) ?? {};
    const kind = place?.includes("/") ? "worktree" : "project";
    const here = place === undefined ? facts : facts.filter((fact) => fact.place === kind);
    return new Map(here.map((fact) => [fact.label, fact]));
  };
  const presentAt = (place: Place) => {
    const facts = known.get(place) ?? factsAt(place);
    known.set(place, facts);
    return facts;
  };
  const isChannel = new Set(channels.map(({ label }) => label));
  const own = (await Promise.all([undefined, project].map(presentAt))).flatMap((facts) => [...facts.keys()]);
  const labels = [...channels, ...own.filter((label) => !isChannel.has(label)).map((label) => ({ label }))];
  return { labels, presentAt };
}
