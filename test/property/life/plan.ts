/** Going back to a moment: what each label had then, and what has to be done so that it has it again. */

import { isAlike, type Life, type Past, type Present } from "./values.ts";

interface Named {
  readonly place: string;
  readonly label: string;
}

export const isAt = (a: Named) => (b: Named) => a.place === b.place && a.label === b.label;

/** The value that a label had at a moment, and the life that it is a part of now. */
export interface Then extends Named {
  readonly value: Present | Past;
  readonly life: Life;
}

/** What putting these back to a moment would change. */
export function planOf(lives: readonly Life[], toMs: number, nowMs: number, unchangedSinceMs?: number) {
  const changedSince: Named[] = [];
  const unreached: Named[] = [];
  const reached: Life[] = [];
  const then: Then[] = [];
  for (const life of lives) {
    const { place, label, present, past } = life;
    const values: (Present | Past)[] = [...past, ...(present === undefined ? [] : [present])];
    if (unchangedSinceMs !== undefined) {
      // All that ever happened to it: each value came, and the last one may have gone.
      const gone = past.filter(({ ended }) => ended === "forgotten" || ended === "expired");
      const moments = [...values.map(({ sinceMs }) => sinceMs), ...gone.map(({ endedAtMs }) => endedAtMs)];
      if (Math.max(...moments) > unchangedSinceMs) {
        const isTouched = values.some(({ sinceMs }) => toMs < sinceMs && sinceMs <= unchangedSinceMs);
        if (isTouched) changedSince.push({ place, label });
        continue;
      }
    }
    const index = values.findLastIndex(({ sinceMs }) => sinceMs <= toMs);
    if (index < 0 && values[0].ordinal > 1) {
      unreached.push({ place, label });
      continue;
    }
    reached.push(life);
    const value = values[index];
    if (value === undefined || (value.expiresAtMs !== null && value.expiresAtMs <= nowMs)) continue;
    if ("ended" in value && value.endedAtMs <= toMs) continue;
    const former = past.slice(index).find((one) => one.former !== undefined)?.former;
    then.push({ place, label: former ?? label, value, life });
  }
  // Whatever has the label now, the later life had it then.
  const wanted = then.filter((one, i) => !then.slice(i + 1).some(isAt(one)));
  const names = [...reached, ...wanted.filter((one) => !reached.some(isAt(one)))];
  const changes = names.flatMap(({ place, label }) => {
    const present = lives.find(isAt({ place, label }))?.present;
    const value = wanted.find(isAt({ place, label }))?.value;
    if (isAlike(present, value)) return [];
    return [{ place, label, from: present?.value ?? null, to: value?.value ?? null }];
  });
  return { changes, unreached, wanted, names, changedSince };
}

/**
 * The lives that go back to the label that they had, because nothing is in their way, and what is written then.
 * @param lives all of the user
 */
export function stepsBack({ names, wanted }: ReturnType<typeof planOf>, lives: readonly Life[]) {
  const factAt = (name: Named) => lives.find(isAt(name))?.present;
  const back = wanted.filter(({ label, life }) => label !== life.label);
  const moves = back.filter((then) => factAt(then.life) !== undefined && !lives.some(isAt(then)));
  const writes = names.flatMap(({ place, label }) => {
    const name = { place, label };
    const value = wanted.find(isAt(name))?.value;
    const moved = moves.find(isAt(name));
    const isLeft = moves.some(({ life }) => isAt(name)(life));
    const present = moved === undefined ? (isLeft ? undefined : factAt(name)) : factAt(moved.life);
    if (isAlike(present, value)) return [];
    const { expiresAtMs = null, origin = null } = value ?? {};
    return [{ ...name, value: value?.value ?? null, expiresAtMs, keepHistory: true, origin }];
  });
  const written = writes.filter(({ value }) => value !== null);
  const counted = written.length + moves.filter((move) => !written.some(isAt(move))).length;
  return { back, moves, writes, counted };
}
