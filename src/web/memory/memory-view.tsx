/** One memory: where the person works, its facts with a search, what changed, how full the block is, and the memory as a whole. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { CHANNEL_COUNT_MAX } from "../../base/limits.ts";
import type { ContextAnswer, UsageAnswer } from "../../contract/answers.ts";
import {
  type AccountLabels,
  accountLabels,
  type Memory,
  newFreeLabel,
  type PageClient,
  projectsOf,
} from "../api/memory.ts";
import { Button, SelectField, TextField } from "../parts/fields.tsx";
import { LatestRequest, useAsync, useNow, useQuery } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";
import { AddFact } from "./add-fact.tsx";
import { Changes } from "./changes.tsx";
import { ExportAndErase } from "./export-and-erase.tsx";
import { FactList } from "./fact-list.tsx";
import { FileButton, ImportedFile, useFileDrop } from "./imported-file.tsx";
import { LiveFacts, NO_FACTS } from "./live-facts.ts";
import { type MemoryPage, PageProvider, usePage } from "./page-context.ts";
import { Toast, type ToastMessage } from "./toast.tsx";

interface MemoryViewProps {
  readonly api: PageClient;
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

export function MemoryView({ api, usage, memory, onMemory, onOther, onLeave }: MemoryViewProps) {
  const [state, setState] = useState(NO_FACTS);
  const [announced, announce] = useState("");
  const [toast, showToast] = useState<ToastMessage>();
  const [known, setKnown] = useState<AccountLabels>();
  const [search, setSearch] = useState("");
  const [isAdding, setIsAdding] = useState(false);
  const [wanted, setWanted] = useState<string>();
  const [file, setFile] = useState<File>();
  useNow(CLOCK_MS);
  const live = useMemo(
    () => new LiveFacts({ api, memory, onState: setState, announce, isHidden: () => document.hidden }),
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
  const latestLabels = useMemo(() => new LatestRequest(), []);
  const readLabels = useCallback(async () => {
    const isLatest = latestLabels.start();
    const labels = await accountLabels(api);
    if (isLatest()) setKnown(labels);
  }, [api, latestLabels]);
  const labels = useMemo(() => {
    const all = new Map(known?.labels.map((terms) => [terms.label, terms]));
    for (const { label, description } of state.facts ?? [])
      if (!all.has(label)) all.set(label, newFreeLabel(label, description));
    return all;
  }, [known, state.facts]);
  const made = [...labels.values()].filter(({ channel }) => channel === CHANNEL_COUNT_MAX).length;
  useEffect(() => {
    // Also when a fact comes on a label that is not known: it may have been added to the account meanwhile.
    readLabels().catch(() => {});
  }, [known === undefined ? 0 : made]);
  const { userId, project } = memory;
  // How full the block is, and what has no room in it.
  const readBlock = () => api.context(userId, { project, include: "block" });
  const block = useAsync(() => (state.facts === undefined ? undefined : readBlock()), [state.version]);

  const canWrite = usage.access !== "read";
  const isOver = useFileDrop(canWrite ? setFile : undefined);
  const page: MemoryPage = {
    api,
    memory,
    live,
    state,
    canWrite,
    labels,
    labelsLeft: canWrite && usage.user === undefined ? (known?.free ?? 0) : 0,
    mayMakeLabels: canWrite && known?.strict === false,
    overflow: useMemo(() => new Set(block.value?.overflow), [block.value]),
    nowMs: Date.now(),
    readLabels,
    showToast,
  };
  return (
    <PageProvider value={page}>
      <div class="memory-bar">
        <p class="whose">
          <b>{userId}</b> {!canWrite && <span class="tag">reads only</span>}{" "}
          {onOther !== undefined && <Button class="small" onClick={onOther} text="Another user" />}
        </p>
        <ProjectField onProject={(chosen) => onMemory({ userId, project: chosen })} />
        <p class={state.isLive ? "live-mark on" : "live-mark"} role="status">
          {state.isLive
            ? "Live"
            : onLeave === undefined
              ? "Not connected: is sideband open running?"
              : "Not connected"}
        </p>
        {onLeave !== undefined && <Button class="small" onClick={onLeave} text="Forget the key" />}
      </div>
      <p class="visually-hidden" role="status" aria-live="polite">
        {announced}
      </p>
      <ErrorNotice error={state.error} />
      {isOver && <p class="drop-mark">Drop the file to see what it would bring. Nothing is written yet.</p>}
      {file !== undefined && <ImportedFile file={file} onClose={() => setFile(undefined)} />}
      <div class="memory-columns">
        <div>
          <div class="memory-tools">
            <TextField
              class="field grow"
              label="Search the facts"
              type="search"
              value={search}
              onValue={setSearch}
            />
            {canWrite && !isAdding && (
              <Button class="primary" onClick={() => setIsAdding(true)} text="Add a fact" />
            )}
            {canWrite && <FileButton onFile={setFile} />}
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
            state.error === undefined && <Loading what="Reading the facts" tall />
          ) : (
            <FactList search={search} wanted={wanted} onWanted={setWanted} />
          )}
        </div>
        <div>
          <Changes />
          <BlockCard block={block.value} error={block.error} />
          <ExportAndErase />
        </div>
      </div>
      <Toast message={toast} onClose={() => showToast(undefined)} />
    </PageProvider>
  );
}

interface ProjectFieldProps {
  readonly onProject: (project: string | undefined) => void;
}

/** Where the person works: no project, one of the projects with facts, or a worktree of one. */
function ProjectField({ onProject }: ProjectFieldProps) {
  const { api, memory, state } = usePage();
  const { userId, project } = memory;
  const { query } = useQuery();
  const [projects, setProjects] = useState<readonly string[]>([]);
  useEffect(() => {
    // What cannot be read now is read with the next change.
    query(() => projectsOf(api, userId), setProjects);
  }, [api, userId, state.version]);
  // A worktree's project is a place, too, whether it has facts or not.
  const outer = (name: string) => name.split("/")[0];
  const all = [...projects, ...(project === undefined ? [] : [project])];
  const offered = [...new Set(all.flatMap((name) => [outer(name), name]))].sort();
  if (offered.length === 0) return null;
  return (
    <SelectField
      class="inline"
      label="Where"
      value={project ?? ""}
      onValue={(chosen) => onProject(chosen || undefined)}
      options={offered}
    >
      <option value="">No project</option>
    </SelectField>
  );
}

interface BlockCardProps {
  readonly block: ContextAnswer | undefined;
  readonly error: unknown;
}

const NEARLY_FULL = 0.9;

/** How full the block of a memory is, and which facts have no room in it. */
function BlockCard({ block, error }: BlockCardProps) {
  const { used, max } = block?.carriers ?? { used: 0, max: 1 };
  const overflow = block?.overflow ?? [];
  const percent = Math.round((100 * used) / max);
  return (
    <Card id="block" title="The block">
      <ErrorNotice error={error} />
      {block === undefined ? (
        error === undefined && <Loading />
      ) : (
        <>
          <p class="quota">
            <meter
              aria-label="Of the block in use"
              min={0}
              max={max}
              high={max * NEARLY_FULL}
              optimum={0}
              value={used}
            />
            <span>{percent} % full</span>
          </p>
          <p class="hint">
            {overflow.length === 0
              ? "All facts fit into the sealed block that travels in a prompt."
              : `${overflow.length === 1 ? "One fact has" : `${overflow.length} facts have`} no room in the sealed block that travels in a prompt: ${overflow.join(", ")}. The newest facts come first. Everything else still has them.`}
          </p>
        </>
      )}
    </Card>
  );
}
