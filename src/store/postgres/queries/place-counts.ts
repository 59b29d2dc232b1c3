/**
 * How full the places of a large user are, counted from the facts while the user is locked. Most users have too few facts
 * for a full place, and most writes replace a fact: then nothing is counted. (memory/law/bounds.ts)
 */

import { UNCHECKED_FACTS_MAX } from "../../../memory/law/bounds.ts";
import type { PlaceCounts } from "../../../memory/law/found-user.ts";
import { OWN_PLACE } from "../../../memory/places.ts";
import type { Place } from "../../../memory/records.ts";
import { type Ticketed, rowsOf as ticketed } from "../connection/tickets.ts";
import type { GroupUser } from "./group-locks.ts";
import type { FoundUserRow } from "./group-reads.ts";
import type { Statements } from "./statements.ts";

/** Whether a place can become full, or the number of places too large. */
export function mayBecomeFull({ facts, named }: FoundUserRow): boolean {
  return facts + named.length > UNCHECKED_FACTS_MAX;
}

export async function countPlaces(
  statements: Statements,
  user: GroupUser,
  { named }: FoundUserRow,
): Promise<PlaceCounts> {
  const isWhole = user.inside.length > 0;
  const growing = new Set(named.flatMap(({ place, present }) => (present === undefined ? [place] : [])));
  let counts = isWhole ? new Map<Place, number>() : await readCounts(statements, user, [...growing]);
  // A place that is new is one more: then all of them are counted.
  if (isWhole || [...growing].some((place) => !counts.has(place)))
    counts = await readCounts(statements, user, null);
  const places = [...counts.keys()].filter((place) => place !== OWN_PLACE).length;
  return { places, factsAt: (place) => counts.get(place) ?? 0 };
}

async function readCounts(
  statements: Statements,
  { slot, account, userId }: GroupUser,
  places: Place[] | null,
): Promise<Map<Place, number>> {
  if (places?.length === 0) return new Map();
  const rows = await ticketed(
    (ticket) => statements.send<Ticketed & { place: Place; facts: number }>`
      SELECT ${ticket}::bigint AS ticket, place, count(*) AS facts FROM sideband.facts
      WHERE slot = ${slot} AND account = ${account} AND user_id = ${userId}
        AND (${places}::text[] IS NULL OR place = ANY(${places}::text[]))
      GROUP BY place`,
  );
  return new Map(rows.map(({ place, facts }) => [place, facts]));
}
