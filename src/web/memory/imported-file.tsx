/** A file to import, dropped on the page or chosen. What reads it is loaded only then. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/fields.tsx";
import { useQuery } from "../parts/hooks.ts";
import { ErrorNotice, Loading } from "../parts/layout.tsx";

interface ImportedFileProps {
  readonly file: File;
  readonly onClose: () => void;
}

type Panel = typeof import("./import-panel.tsx").ImportPanel;

/** The id of the button that chooses a file. */
const FILE_BUTTON = "import-file";

export function ImportedFile(props: ImportedFileProps) {
  const [loaded, setLoaded] = useState<{ readonly Panel: Panel }>();
  const { error, query } = useQuery();
  useEffect(() => {
    query(
      () => import("./import-panel.tsx"),
      ({ ImportPanel }) => setLoaded({ Panel: ImportPanel }),
    );
  }, []);
  if (loaded === undefined) return error === undefined ? <Loading /> : <ErrorNotice error={error} />;
  const cancel = () => {
    props.onClose();
    document.getElementById(FILE_BUTTON)?.focus();
  };
  return <loaded.Panel {...props} onCancel={cancel} />;
}

export function FileButton({ onFile }: { readonly onFile: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) onFile(file);
          // The same file again is another choice.
          currentTarget.value = "";
        }}
      />
      <Button id={FILE_BUTTON} onClick={() => input.current?.click()} text="Import a file …" />
    </>
  );
}

/**
 * Takes files that are dropped anywhere on the page.
 * @param onFile undefined where none is taken
 * @returns whether one is held over the page
 */
export function useFileDrop(onFile: ((file: File) => void) | undefined): boolean {
  const [isOver, setIsOver] = useState(false);
  const isTaken = onFile !== undefined;
  useEffect(() => {
    if (onFile === undefined) return;
    const hasFile = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
    const over = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setIsOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => {
      // null: out of the window, not to another element of it.
      if (relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setIsOver(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) onFile(file);
    };
    const ended = new AbortController();
    const { signal } = ended;
    document.addEventListener("dragover", over, { signal });
    document.addEventListener("dragleave", leave, { signal });
    document.addEventListener("drop", drop, { signal });
    return () => ended.abort();
  }, [isTaken]);
  return isOver;
}
