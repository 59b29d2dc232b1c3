/** One memory: where the person works, its facts, what changed, what agents get of it, and the memory as a whole. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { CHANNEL_COUNT_MAX } from "../../base/limits.ts";
import type { UsageAnswer } from "../../contract/answers.ts";
import type { GrantCalls } from "../api/grants.ts";
import {
  type AccountLabels,
  accountLabels,
  type Memory,
  newFreeLabel,
  outerProject,
  type PageClient,
  projectsOf,
} from "../api/memory.ts";
import { Button, SelectField } from "../parts/fields.tsx";
import { LatestRequest, useQuery } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";
import { AgentPrompts } from "./agent-prompts.tsx";
import { Applications } from "./applications.tsx";
import { Changes } from "./changes.tsx";
import { ExportAndErase } from "./export-and-erase.tsx";
import { FactsColumn } from "./facts-column.tsx";
import { ImportedFile, useFileDrop } from "./imported-file.tsx";
import { LiveFacts, NO_FACTS } from "./live-facts.ts";
import { type MemoryPage, PageProvider, usePage } from "./page-context.ts";
import { SharingNote, useSharing } from "./sharing.tsx";
import { Clock } from "./times.tsx";
import { Toast, type ToastMessage } from "./toast.tsx";

interface MemoryViewProps {
  readonly api: PageClient;
  readonly usage: UsageAnswer;
  /** Undefined on the page of `sideband open`, to which nothing connects. */
  readonly grants: GrantCalls | undefined;
  readonly memory: Memory;
  readonly onMemory: (memory: Memory | undefined) => void;
  /** Chooses another user; undefined where the key is for this one alone. */
  readonly onOther: (() => void) | undefined;
  /** Gives the key up; undefined where there is none. */
  readonly onLeave: (() => void) | undefined;
}

export function MemoryView({ api, grants, usage, memory, onMemory, onOther, onLeave }: MemoryViewProps) {
  const [state, setState] = useState(NO_FACTS);
  const [announced, announce] = useState("");
  const [toast, showToast] = useState<ToastMessage>();
  const [known, setKnown] = useState<AccountLabels>();
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [file, setFile] = useState<File>();
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
  const byLabel = useMemo(() => new Map(state.facts?.map((fact) => [fact.label, fact])), [state.facts]);
  const { userId } = memory;
  const { query } = useQuery();
  useEffect(() => {
    // What cannot be read now is read with the next change.
    query(() => projectsOf(api, userId), setProjects);
  }, [api, userId, state.version]);

  const sharing = useSharing(api, memory, state.version);
  const canWrite = usage.access !== "read";
  const isOver = useFileDrop(canWrite ? setFile : undefined);
  const page: MemoryPage = {
    api,
    memory,
    live,
    state,
    byLabel,
    projects,
    canWrite,
    sharing,
    me: usage.user === undefined ? userId : "me",
    labels,
    labelsLeft: canWrite && usage.user === undefined ? (known?.free ?? 0) : 0,
    mayMakeLabels: canWrite && known?.strict === false,
    readLabels,
    showToast,
  };
  return (
    <PageProvider value={page}>
      <Clock>
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
        <SharingNote />
        <ErrorNotice error={state.error} />
        {isOver && <p class="drop-mark">Drop the file to see what it would bring. Nothing is written yet.</p>}
        {file !== undefined && <ImportedFile file={file} onClose={() => setFile(undefined)} />}
        <div class="memory-columns">
          <FactsColumn onFile={setFile} onMemory={onMemory} />
          <div>
            <Changes />
            <AgentPrompts />
            {grants !== undefined && <Applications calls={grants} />}
            <ExportAndErase />
          </div>
        </div>
        <Toast message={toast} onClose={() => showToast(undefined)} />
      </Clock>
    </PageProvider>
  );
}

interface ProjectFieldProps {
  readonly onProject: (project: string | undefined) => void;
}

/** Where the person works: no project, one with facts, a shared one, or a worktree of one. */
function ProjectField({ onProject }: ProjectFieldProps) {
  const { memory, projects, sharing } = usePage();
  const { project } = memory;
  // A worktree's project is a place, too, whether it has facts or not.
  const all = [...projects, ...sharing.names, ...(project === undefined ? [] : [project])];
  const offered = [...new Set(all.flatMap((name) => [outerProject(name), name]))].sort();
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
