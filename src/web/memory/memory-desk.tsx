/** One memory on the desk: its facts with a search, what changed, how full the block is, and the memory as a whole. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { KnownLabel, Memory, MemoryApi, UsageAnswer } from "../api/memory.ts";
import { useLatest, useNow } from "../parts/latest.ts";
import { Newest } from "../parts/newest.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { AddFact } from "./add-fact.tsx";
import { BlockFill } from "./block-fill.tsx";
import { Changes } from "./changes.tsx";
import { type Desk, DeskProvider, type Said } from "./desk.ts";
import { FactList } from "./fact-list.tsx";
import { LiveFacts, NO_FACTS } from "./live-facts.ts";
import { PlaceField } from "./place-field.tsx";
import { SaidBar } from "./said-bar.tsx";
import { WholeMemory } from "./whole-memory.tsx";

interface MemoryDeskProps {
  readonly api: MemoryApi;
  readonly usage: UsageAnswer;
  readonly memory: Memory;
  readonly onMemory: (memory: Memory | undefined) => void;
  /** Chooses another user; undefined where the key is for this one alone. */
  readonly onOther: (() => void) | undefined;
  /** Gives the key up; undefined where there is none. */
  readonly onLeave: (() => void) | undefined;
}

/** How exact "5 minutes ago" has to be. */
const CLOCK_MS = 5_000;

export function MemoryDesk({ api, usage, memory, onMemory, onOther, onLeave }: MemoryDeskProps) {
  const [state, setState] = useState(NO_FACTS);
  const [told, setTold] = useState("");
  const [said, say] = useState<Said>();
  const [known, setKnown] = useState<{ labels: readonly KnownLabel[]; free: number }>();
  const [search, setSearch] = useState("");
  const [isAdding, setIsAdding] = useState(false);
  const [wanted, setWanted] = useState<string>();
  useNow(CLOCK_MS);
  const live = useMemo(
    () => new LiveFacts({ api, memory, onState: setState, onTold: setTold, isHidden: () => document.hidden }),
    [api, memory],
  );
  useEffect(() => {
    const look = () => {
      if (!document.hidden) live.look();
    };
    document.addEventListener("visibilitychange", look);
    live.start();
    return () => {
      document.removeEventListener("visibilitychange", look);
      live.stop();
    };
  }, [live]);
  const newestLabels = useMemo(() => new Newest(), []);
  const readLabels = useCallback(async () => {
    const isNewest = newestLabels.begin();
    const labels = await api.labels();
    if (isNewest()) setKnown(labels);
  }, [api, newestLabels]);
  const labelled = state.facts?.some(({ label }) => known?.labels.every((terms) => terms.label !== label));
  useEffect(() => {
    // Also when a fact comes on a label that was added meanwhile.
    if (known === undefined || labelled) readLabels().catch(() => {});
  }, [labelled]);
  const block = useLatest(() => (state.facts === undefined ? undefined : api.block(memory)), [state.version]);

  const canWrite = usage.access !== "read";
  const desk: Desk = {
    api,
    usage,
    memory,
    live,
    state,
    canWrite,
    labels: useMemo(() => new Map(known?.labels.map((terms) => [terms.label, terms])), [known]),
    freeLabels: canWrite && usage.user === undefined ? (known?.free ?? 0) : 0,
    overflow: useMemo(() => new Set(block.value?.overflow), [block.value]),
    nowMs: Date.now(),
    readLabels,
    say,
  };
  const { userId } = memory;
  return (
    <DeskProvider value={desk}>
      <div class="memory-bar">
        <p class="whose">
          <b>{userId}</b> {!canWrite && <span class="tag">reads only</span>}{" "}
          {onOther !== undefined && (
            <button type="button" class="small" onClick={onOther}>
              Another user
            </button>
          )}
        </p>
        <PlaceField onProject={(chosen) => onMemory({ userId, project: chosen })} />
        <p class={state.isLive ? "live-mark on" : "live-mark"} role="status">
          {state.isLive
            ? "Live"
            : onLeave === undefined
              ? "Not connected: is sideband open running?"
              : "Not connected"}
        </p>
        {onLeave !== undefined && (
          <button type="button" class="small" onClick={onLeave}>
            Forget the key
          </button>
        )}
      </div>
      <p class="visually-hidden" role="status" aria-live="polite">
        {told}
      </p>
      <ErrorNotice error={state.error} />
      <div class="memory-desk">
        <div>
          <div class="memory-tools">
            <label class="field grow">
              <span>Search the facts</span>
              <input
                type="search"
                value={search}
                onInput={({ currentTarget }) => setSearch(currentTarget.value)}
              />
            </label>
            {canWrite && !isAdding && (
              <button type="button" class="primary" onClick={() => setIsAdding(true)}>
                Add a fact
              </button>
            )}
          </div>
          {isAdding && (
            <AddFact
              onEdit={(label) => {
                setIsAdding(false);
                setWanted(label);
              }}
              onClose={() => setIsAdding(false)}
            />
          )}
          {state.facts === undefined ? (
            state.error === undefined && <Waiting what="Reading the facts" tall />
          ) : (
            <FactList search={search} wanted={wanted} onWanted={setWanted} />
          )}
        </div>
        <div>
          <Changes />
          <BlockFill block={block.value} error={block.error} />
          <WholeMemory />
        </div>
      </div>
      <SaidBar said={said} onClose={() => say(undefined)} />
    </DeskProvider>
  );
}
