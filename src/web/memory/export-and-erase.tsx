/** The memory as a whole: take it along as a file, or erase all of it, for which its owner's name has to be typed. */

import { useRef, useState } from "preact/hooks";
import type { ReceiptedErasureAnswer } from "../../contract/answers.ts";
import { isWorktree, type Memory } from "../api/memory.ts";
import { Button, TextField } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { Card, ErrorNotice } from "../parts/layout.tsx";
import { ReceiptNotice, saveFile } from "../parts/receipt-notice.tsx";
import { forgetFolds } from "./folds.ts";
import { usePage } from "./page-context.ts";

export function ExportAndErase() {
  const { api, memory, canWrite, sharing } = usePage();
  const { userId, project } = memory;
  const [erased, setErased] = useState<Memory>();
  const [answer, setAnswer] = useState<ReceiptedErasureAnswer>();
  const { busy, error, run } = useAction();
  const save = () =>
    run(async () => {
      const lines: string[] = [];
      for await (const line of api.exportUser(userId)) lines.push(`${line}\n`);
      saveFile(`sideband-${userId}.jsonl`, "application/x-ndjson", lines);
    });
  return (
    <Card id="whole" title="All of it">
      <p class="hint">
        The file has everything of {userId}: facts of all projects and earlier values.{" "}
        <code>sideband import</code> reads it.
        {sharing.names.length > 0 && " What a team shares is not in it."}
      </p>
      <ErrorNotice error={error} />
      <p class="buttons">
        <Button disabled={busy} onClick={save} text="Export to a file" />
        {canWrite && project !== undefined && (
          <Button class="danger" onClick={() => setErased(memory)} text={`Erase this ${kindOf(project)} …`} />
        )}
        {canWrite && (
          <Button
            class="danger"
            onClick={() => setErased({ userId, project: undefined })}
            text="Erase everything …"
          />
        )}
      </p>
      {answer !== undefined && <ReceiptNotice answer={answer} />}
      {erased !== undefined && (
        <EraseDialog erased={erased} onErased={setAnswer} onClose={() => setErased(undefined)} />
      )}
    </Card>
  );
}

interface EraseDialogProps {
  readonly erased: Memory;
  readonly onErased: (answer: ReceiptedErasureAnswer) => void;
  readonly onClose: () => void;
}

function EraseDialog({ erased, onErased, onClose }: EraseDialogProps) {
  const { api, live, sharing, showToast } = usePage();
  const [typed, setTyped] = useState("");
  const { busy, error, run } = useAction();
  const { userId, project } = erased;
  const name = project ?? userId;
  const kind = project === undefined ? "everything" : `the ${kindOf(project)}`;
  const what = project === undefined ? `everything of ${userId}` : `${kind} ${project}`;
  const dialog = useRef<HTMLDialogElement>(null);
  const show = (element: HTMLDialogElement | null) => {
    dialog.current = element;
    if (element !== null && !element.open) element.showModal();
  };
  const erase = (event: SubmitEvent) => {
    event.preventDefault();
    run(async () => {
      const answer = await live.write("all", () => api.forgetUser(userId, { project }));
      onErased(answer);
      if (project === undefined) forgetFolds();
      dialog.current?.close();
      showToast({ text: `${what[0].toUpperCase()}${what.slice(1)} is erased.` });
    });
  };
  return (
    <dialog ref={show} aria-labelledby="erase-title" onClose={onClose}>
      <form class="stack" onSubmit={erase}>
        <h2 id="erase-title">Erase {what}?</h2>
        <p>
          {project === undefined
            ? `All facts of ${userId} in all projects, with their history, are erased. `
            : `All facts of ${userId} in ${project}${isWorktree(project) ? "" : " and its worktrees"}, with their history, are erased. `}
          <b>This cannot be undone.</b> Export them first if you may want them again.
        </p>
        {sharing.names.length > 0 && (
          <p>
            {project === undefined
              ? "What they wrote for a team stays, without their name: it belongs to the shared project. "
              : "What is shared in a project stays: it belongs to the team. "}
            A key of the whole account erases it for all, on the <a href="/account">account page</a>.
          </p>
        )}
        <TextField
          label={`Type ${name} to confirm`}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onValue={setTyped}
        />
        <ErrorNotice error={error} />
        <p class="buttons">
          <Button
            type="submit"
            class="danger asked"
            disabled={busy || typed !== name}
            text={`Erase ${kind}`}
          />
          <Button onClick={() => dialog.current?.close()} text="Keep it" />
        </p>
      </form>
    </dialog>
  );
}

function kindOf(project: string): "project" | "worktree" {
  return isWorktree(project) ? "worktree" : "project";
}
