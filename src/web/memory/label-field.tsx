/**
 * A field for a label, which completes: the arrow keys and Enter choose from the list below it, and a whole label can be
 * typed. The pattern is that of an editable combobox with a listbox (WAI-ARIA Authoring Practices, "Combobox").
 */

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/fields.tsx";
import { Notice } from "../parts/layout.tsx";
import { type LabelOption, labelOptions, namedLabel } from "./label-options.ts";
import { usePage } from "./page-context.ts";

export interface LabelChoice {
  readonly text: string;
  /** Empty while nothing is chosen. */
  readonly label: string;
  /** It is made by writing it. */
  readonly isNew: boolean;
}

export const NO_CHOICE: LabelChoice = { text: "", label: "", isNew: false };

export function chosenLabel({ label, isNew }: Pick<LabelOption, "label" | "isNew">): LabelChoice {
  return { text: label, label, isNew };
}

interface LabelFieldProps {
  readonly name: string;
  readonly choice: LabelChoice;
  readonly onChoice: (choice: LabelChoice) => void;
  /** A label that is not offered. */
  readonly except?: string;
}

export function LabelField({ name, choice, onChoice, except }: LabelFieldProps) {
  const { labels, mayMakeLabels, state } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);

  const offered = [...labels.values()].filter(({ hidden, label }) => !hidden && label !== except);
  const options = labelOptions(choice.text, offered, mayMakeLabels).filter(({ label }) => label !== except);
  const taken = new Set(state.facts?.map(({ label }) => label));
  const close = () => {
    setIsOpen(false);
    setActive(-1);
  };
  const choose = (option: LabelOption) => {
    onChoice(chosenLabel(option));
    close();
  };
  const type = (text: string) => {
    onChoice({ ...NO_CHOICE, text });
    setIsOpen(true);
    setActive(text.trim() === "" ? -1 : 0);
  };
  /** A whole label that was typed is chosen. */
  const leave = () => {
    const typed = choice.label === "" ? namedLabel(choice.text, offered, mayMakeLabels) : undefined;
    if (typed !== undefined && typed.label !== except) choose(typed);
    else close();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      setIsOpen(true);
      // Above the first is the last.
      setActive(isOpen ? (active + step + options.length) % options.length : 0);
    } else if (event.key === "Enter" && isOpen && options[active] !== undefined) choose(options[active]);
    else if (event.key === "Escape" && isOpen) {
      close();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  };
  const isShown = isOpen && options.length > 0;
  return (
    <div class="field label-field">
      <label for={id}>{name}</label>
      <div class="options-anchor">
        <input
          ref={input}
          id={id}
          role="combobox"
          required
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="FAMILY.wife, or what it is about"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
          value={choice.text}
          onInput={({ currentTarget }) => type(currentTarget.value)}
          onClick={() => setIsOpen(true)}
          onKeyDown={press}
          onBlur={leave}
        />
        {isShown && (
          <div class="options" id={`${id}-list`} role="listbox" aria-label={name}>
            {options.map((option, i) => (
              <div
                key={option.label}
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === active}
                tabIndex={-1}
                onMouseDown={(event) => {
                  // The field keeps the focus.
                  event.preventDefault();
                  choose(option);
                }}
              >
                {option.isNew ? (
                  <>
                    Make <b class="mono">{option.label}</b>
                  </>
                ) : (
                  <b class="mono">{option.label}</b>
                )}{" "}
                <small>
                  {option.isNew ? "a new label" : option.description}
                  {taken.has(option.label) && <span class="tag">has a value</span>}
                </small>
              </div>
            ))}
          </div>
        )}
      </div>
      <p class="hint" role="status">
        {helpText(choice, options.length, mayMakeLabels)}
      </p>
    </div>
  );
}

function helpText({ text, label }: LabelChoice, options: number, mayMake: boolean): string {
  if (label !== "" || text.trim() === "") return "";
  if (options > 0) return "Choose from the list, or write a label as GROUP.name.";
  return mayMake
    ? "A label is GROUP.name, in letters from a to z, digits and _."
    : "No label fits, and this account is strict: new labels are made by its owner alone.";
}

interface SlipNoticeProps {
  readonly label: string;
  /** The label that was probably meant. */
  readonly near: string;
  readonly onNear: () => void;
  readonly onInsist: () => void;
  readonly onCancel: () => void;
}

/** A label that looks like a slip of another one. */
export function SlipNotice({ label, near, onNear, onInsist, onCancel }: SlipNoticeProps) {
  return (
    <>
      <Notice kind="plain">
        There is no label {label}. Did you mean <b>{near}</b>?
      </Notice>
      <p class="buttons">
        <Button class="primary" onClick={onNear} text={`Use ${near}`} />
        <Button onClick={onInsist} text={`Make ${label}`} />
        <Button onClick={onCancel} text="Cancel" />
      </p>
    </>
  );
}
