/**
 * Facts that an agent has read somewhere, for the person to accept, change or turn down. An accepted one is said by the person
 * from then on; its value, end and place stay. In place of one that is turned down the value before it counts again.
 */

import { useEffect, useState } from "preact/hooks";
import { replacedValue } from "../../agent-side/waiting-facts.ts";
import type { StoredFact } from "../../contract/answers.ts";
import { useArrowKeys } from "../parts/arrow-keys.ts";
import { Button } from "../parts/fields.tsx";
import { useAction, useQuery } from "../parts/hooks.ts";
import { Card, ErrorNotice } from "../parts/layout.tsx";
import { mayChange, usePage } from "./page-context.ts";
import { Author, PlaceTag } from "./sharing.tsx";
import { RelativeTime } from "./times.tsx";
import { acceptFact, turnDownFact } from "./writes.ts";

const SHOWN_MAX = 5;

interface ReviewProps {
  readonly waiting: readonly StoredFact[];
  /** Opens the editor of a fact. */
  readonly onChange: (label: string) => void;
}

export function Review({ waiting, onChange }: ReviewProps) {
  const page = usePage();
  const [showsAll, setShowsAll] = useState(false);
  const { busy, error, run } = useAction();
  const list = useArrowKeys();
  const shown = showsAll ? waiting : waiting.slice(0, SHOWN_MAX);
  const replaced = useReplaced(shown);
  return (
    <Card id="review" title="Waiting for you" class="card review">
      <p class="hint">
        An agent has read {waiting.length === 1 ? "this" : "these"} somewhere, and you have not said so.
        Prompts list what was read apart, or leave it out, until you accept it.
      </p>
      <ErrorNotice error={error} />
      <ul ref={list} class="rows">
        {shown.map((fact) => {
          const { label, value, written_by: by, user_id: author, updated_at: at, place } = fact;
          const before = replaced.get(label);
          return (
            <li key={label} class="fact" data-row>
              <h3 class="fact-label">{label}</h3>
              <div class="fact-body">
                <p class="fact-value">{value}</p>
                {before !== undefined && <p class="hint">In place of “{before}”</p>}
                <p class="fact-meta">
                  <RelativeTime at={at} />
                  <Author by={by} user={author} />
                  {place === "shared" && <PlaceTag place={place} />}
                </p>
              </div>
              {mayChange(page, place) && (
                <p class="fact-buttons">
                  <Button
                    class="small"
                    disabled={busy}
                    aria-label={`Accept ${label}`}
                    onClick={() => run(() => acceptFact(page, fact))}
                    text="Accept"
                  />
                  <Button
                    class="small"
                    aria-label={`Change ${label}`}
                    onClick={() => onChange(label)}
                    text="Change"
                  />
                  <Button
                    class="small danger"
                    disabled={busy}
                    aria-label={`${before === undefined ? "Forget" : "Turn down"} what was read: ${label}`}
                    onClick={() => run(() => turnDownFact(page, fact))}
                    text={before === undefined ? "Forget" : "Turn down"}
                  />
                </p>
              )}
            </li>
          );
        })}
      </ul>
      {waiting.length > shown.length && (
        <Button class="small" onClick={() => setShowsAll(true)} text={`Show all ${waiting.length}`} />
      )}
    </Card>
  );
}

/** By label, the value that counts again where what is shown is turned down. */
function useReplaced(shown: readonly StoredFact[]): ReadonlyMap<string, string> {
  const { api, memory } = usePage();
  const [replaced, setReplaced] = useState<ReadonlyMap<string, string>>(new Map());
  const { query } = useQuery();
  const seen = shown.map(({ label, revision }) => `${label} ${revision}`).join(" ");
  useEffect(() => {
    const read = shown.map(async (fact) => {
      const before = await replacedValue(api, memory.userId, fact, memory.project, Date.now());
      return before === undefined ? [] : [[fact.label, before.value] as const];
    });
    query(async () => new Map((await Promise.all(read)).flat()), setReplaced);
  }, [memory, seen]);
  return replaced;
}
