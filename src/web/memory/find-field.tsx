/** Finding facts: the field for the words, which "/" leads to from anywhere on the page, and what the service finds. */

import { useEffect, useRef, useState } from "preact/hooks";
import { QUERY_LENGTH_MAX } from "../../base/limits.ts";
import type { FindAnswer } from "../../contract/answers.ts";
import { useQuery } from "../parts/hooks.ts";
import { usePage } from "./page-context.ts";

/** What is looked for. */
interface SearchInput {
  readonly query: string;
  /** In all projects. */
  readonly everywhere: boolean;
}

export const NO_SEARCH: SearchInput = { query: "", everywhere: false };

/** After the last key: each letter asks the service. */
const TYPING_MS = 150;
const FOUND_MAX = 50;

export interface Found {
  /** The words that the answer is for. */
  readonly query: string;
  /** The best first; undefined where nothing is looked for, and until the first answer. */
  readonly facts: FindAnswer["facts"] | undefined;
  readonly error: unknown;
}

const NOTHING_FOUND = { query: "", facts: undefined };

/** The facts that are found, read again whenever something changes. */
export function useFind({ query, everywhere }: SearchInput): Found {
  const { api, memory, state } = usePage();
  const { userId, project } = memory;
  const [found, setFound] = useState<Omit<Found, "error">>(NOTHING_FOUND);
  const { error, query: ask, cancel } = useQuery();
  const words = query.trim();
  const last = useRef("");
  useEffect(() => {
    cancel();
    if (words === "") return setFound(NOTHING_FOUND);
    const find = () =>
      ask(
        () => api.find(userId, words, { project, everywhere, limit: FOUND_MAX }),
        ({ facts }) => setFound({ query: words, facts }),
      );
    const timer = setTimeout(find, words === last.current ? 0 : TYPING_MS);
    last.current = words;
    return () => clearTimeout(timer);
  }, [memory, words, everywhere, state.version]);
  return { ...found, error };
}

interface FindFieldProps {
  readonly search: SearchInput;
  readonly onSearch: (search: SearchInput) => void;
}

export function FindField({ search, onSearch }: FindFieldProps) {
  const { projects, memory } = usePage();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyped = (event.target as HTMLElement).closest("input, textarea, select, dialog") !== null;
      if (event.key !== "/" || isTyped || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="find-field grow">
      <label class="field">
        <span>
          Find a fact <kbd>/</kbd>
        </span>
        <input
          ref={field}
          type="search"
          maxLength={QUERY_LENGTH_MAX}
          aria-keyshortcuts="/"
          value={search.query}
          onInput={({ currentTarget }) => onSearch({ ...search, query: currentTarget.value })}
          onKeyDown={({ key }) => key === "Escape" && onSearch({ ...search, query: "" })}
        />
      </label>
      {(projects.length > 0 || memory.project !== undefined) && (
        <label class="check">
          <input
            type="checkbox"
            checked={search.everywhere}
            onChange={({ currentTarget }) => onSearch({ ...search, everywhere: currentTarget.checked })}
          />
          in all projects
        </label>
      )}
    </div>
  );
}
