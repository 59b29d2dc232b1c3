/**
 * What a file would bring: a table of the facts, which can be left out or changed, the lines that are no facts with the
 * reason of each, and questions that the file leaves open. Nothing is written before "Import".
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { FORMATS } from "../../import/formats.ts";
import type { PlannedFact } from "../../import/import-plan.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Button } from "../parts/fields.tsx";
import { countText } from "../parts/format.ts";
import { useAction, useQuery } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading, Notice } from "../parts/layout.tsx";
import {
  changedSince,
  type DraftRow,
  type FileTerms,
  type ImportDraft,
  isUnplaced,
  readDraft,
  writeDraft,
} from "./import-draft.ts";
import { FileQuestions, ProjectQuestion } from "./import-questions.tsx";
import { ImportRows, lineText } from "./import-rows.tsx";
import { usePage } from "./page-context.ts";
import { undoAction } from "./writes.ts";

interface ImportPanelProps {
  readonly file: File;
  readonly onClose: () => void;
  readonly onCancel: () => void;
}

export function ImportPanel({ file, onClose, onCancel }: ImportPanelProps) {
  const page = usePage();
  const { api, memory, live, showToast, labelsLeft, mayMakeLabels } = page;
  const { userId } = memory;
  const [terms, setTerms] = useState<FileTerms>({ format: undefined, of: userId, isOfPerson: false });
  const [draft, setDraft] = useState<ImportDraft>();
  const [writtenCount, setWrittenCount] = useState(0);
  const { error: readError, query } = useQuery();
  const { busy, error, run } = useAction();
  const panel = useRef<HTMLDivElement>(null);
  const rights = { mayAddLabels: labelsLeft > 0, mayMakeLabels };
  useEffect(() => {
    setDraft(undefined);
    query(() => readDraft(api, memory, file, terms, rights), setDraft);
  }, [file, terms]);
  useEffect(() => panel.current?.focus(), [file]);

  const setRows = (rows: readonly DraftRow[]) => setDraft(draft && { ...draft, rows });
  const wanted = draft?.rows.filter(({ isWanted }) => isWanted) ?? [];
  const unplaced = draft?.rows.filter(({ fact }) => isUnplaced(fact)) ?? [];
  const open = unplaced.filter(({ isWanted }) => isWanted);
  const write = (ready: ImportDraft) =>
    run(async () => {
      setWrittenCount(0);
      const step = (count: number) => setWrittenCount((before) => before + count);
      const done = await live.write("all", () => writeDraft(api, userId, ready, { name: file.name, step }));
      if (done.written.length > 0) sayWritten(done.written, done.rollbackTo);
      const isWritten = new Set(done.written);
      setRows(ready.rows.filter(({ fact }) => !isWritten.has(fact)));
      if (done.error !== undefined) throw done.error;
      onClose();
    });
  const sayWritten = (written: readonly PlannedFact[], to: string | undefined) => {
    const said = `${countText(written.length, "fact")} imported from ${file.name}.`;
    if (to === undefined)
      return showToast({ text: `${said} It cannot be undone: the service keeps no history of some facts.` });
    const goBack = () => live.write("all", () => api.rollback(userId, to));
    const undone = undoAction(page, goBack, `The import of ${file.name} is undone.`);
    const undo = async () => {
      const others = changedSince(await api.rollback(userId, to, { dryRun: true }), written);
      if (others.length === 0) return undone.run();
      const text = `Since the import others have changed ${others.join(", ")}. That would be undone, too.`;
      showToast({ text, actions: [{ ...undone, name: "Undo all of it" }] });
    };
    showToast({
      text: `${said} “What changed” can undo it later, too.`,
      actions: [{ name: "Undo", run: undo }],
    });
  };
  return (
    <div ref={panel} class="import-panel" tabIndex={-1}>
      <Card id="import" title={`Import ${file.name}`}>
        {draft !== undefined && <p role="status">{summary(draft)}</p>}
        <ErrorNotice error={readError} />
        <FileQuestions draft={draft} error={readError} terms={terms} onTerms={setTerms} />
        {draft === undefined && readError === undefined && <Loading what={`Reading ${file.name}`} />}
        {draft !== undefined && (
          <>
            {unplaced.length > 0 && <ProjectQuestion draft={draft} unplaced={unplaced} onRows={setRows} />}
            <ImportRows draft={draft} onRows={setRows} />
            <LeftOut draft={draft} />
          </>
        )}
        <ErrorNotice error={error} />
        <p class="buttons">
          {draft !== undefined && (
            <Button
              class="primary"
              disabled={busy || wanted.length === 0 || open.length > 0}
              onClick={() => write(draft)}
              text={
                busy
                  ? `${writtenCount} of ${wanted.length} written …`
                  : `Import ${countText(wanted.length, "fact")}`
              }
            />
          )}
          <Button disabled={busy} onClick={onCancel} text="Cancel" />
        </p>
        {open.length > 0 && <p class="hint">Name the project first, or leave its facts out.</p>}
      </Card>
    </div>
  );
}

function summary({ format, findings, rows, same, leftOut }: ImportDraft): string {
  const parts = [
    `It is ${FORMATS[format]}${findings.userId === undefined ? "" : ` of ${findings.userId}`}: ${countText(rows.length, "fact")}`,
    ...(same.length === 0 ? [] : [`${same.length} there already`]),
    `${countText(leftOut.length, "line")} left out`,
  ];
  const unread = findings.notRead === undefined ? "" : ` Not looked at: ${findings.notRead}.`;
  return `${parts.join(", ")}.${unread} Nothing is written yet.`;
}

/** What is there already, and every line that is no fact. */
function LeftOut({ draft: { same, leftOut } }: { readonly draft: ImportDraft }) {
  return (
    <>
      {same.length > 0 && (
        <Notice kind="plain">
          There already: {same.map((fact) => `${fact.label} (line ${lineText(fact)})`).join(", ")}
        </Notice>
      )}
      {leftOut.length > 0 && (
        <details>
          <summary>{countText(leftOut.length, "line")} left out, with the reasons</summary>
          <DataTable
            label="Lines that are left out"
            caption="Lines that are left out"
            rows={leftOut.map((line, id) => ({ ...line, id }))}
            keyOf={({ id }) => String(id)}
            columns={[
              { name: "Line", cell: lineText },
              { name: "Text", cell: ({ text }) => text, class: "text" },
              { name: "Why", cell: ({ why }) => why, class: "text" },
            ]}
          />
        </details>
      )}
    </>
  );
}
