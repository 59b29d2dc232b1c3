/** The fields of a fact: its value, by the terms of its label, and when it ends. */

import { VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { LabelAnswer } from "../../contract/answers.ts";
import type { FactEnd } from "../../sdk/options.ts";
import { SelectField, TextField } from "../parts/fields.tsx";
import { fromDateTimeLocal, lifetimeText, timeUntil, toDateTimeLocal } from "./times.tsx";

interface ValueFieldProps {
  /** Undefined where the label is not known any more. */
  readonly terms: LabelAnswer | undefined;
  readonly name: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly focus?: boolean;
}

export function ValueField({ terms, name, value, onValue, focus = false }: ValueFieldProps) {
  const ref = (element: HTMLElement | null) => {
    if (focus && element !== null && element.dataset.focused === undefined) {
      element.dataset.focused = "";
      element.focus();
    }
  };
  const { one_of: choices, max_bytes: sizeMax = VALUE_BYTES_MAX } = terms ?? {};
  if (choices !== undefined) {
    // A value from before the label's terms were changed can be kept, not chosen.
    const options = value === "" || choices.includes(value) ? choices : [value, ...choices];
    return (
      <label class="field">
        <span>{name}</span>
        <select
          ref={ref}
          required
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          <option value="" disabled>
            Choose one
          </option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      </label>
    );
  }
  const sizeBytes = new TextEncoder().encode(value).length;
  return (
    <label class="field">
      <span>{name}</span>
      <textarea
        ref={ref}
        required
        rows={Math.min(8, Math.max(2, Math.ceil(value.length / 60)))}
        placeholder={terms?.example}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={submitOnEnter}
      />
      <span class={sizeBytes > sizeMax ? "size too-long" : "size"}>
        {sizeBytes.toLocaleString("en")} of at most {sizeMax.toLocaleString("en")} bytes
        {sizeBytes > sizeMax && ": too long. Nothing is cut."}
      </span>
    </label>
  );
}

/** A value has no line breaks. */
function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

/** A choice of when a fact ends: as it is now, not at all, after a time, or at a moment. */
export interface EndChoice {
  readonly kind: "as-now" | "none" | "at" | number;
  /** What the field for a date and time holds. */
  readonly field: string;
}

const LIVES_S = [3600, 86_400, 604_800, 2_592_000];
const DAY_MS = 86_400_000;

export function endChoiceOf(expiresAt: string | undefined): EndChoice {
  const field = toDateTimeLocal(expiresAt === undefined ? Date.now() + DAY_MS : Date.parse(expiresAt));
  return { kind: expiresAt === undefined ? "none" : "as-now", field };
}

/** @param expiresAt when it ends now */
export function endOfChoice({ kind, field }: EndChoice, expiresAt: string | undefined): FactEnd {
  if (typeof kind === "number") return { ttlS: kind };
  const moment = kind === "as-now" ? expiresAt : kind === "at" ? fromDateTimeLocal(field) : undefined;
  return moment === undefined ? {} : { expiresAt: moment };
}

interface EndFieldProps {
  readonly terms: LabelAnswer | undefined;
  /** When it ends now. */
  readonly expiresAt?: string | undefined;
  readonly choice: EndChoice;
  readonly onChoice: (choice: EndChoice) => void;
}

export function EndField({ terms, expiresAt, choice, onChoice }: EndFieldProps) {
  const life = terms?.ttl_s;
  const kindOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : (text as EndChoice["kind"]));
  return (
    <div class="end-fields">
      <SelectField
        label="Ends"
        value={String(choice.kind)}
        onValue={(kind) => onChoice({ ...choice, kind: kindOf(kind) })}
      >
        {expiresAt !== undefined && (
          <option value="as-now">as now: {timeUntil(expiresAt, Date.now())}</option>
        )}
        <option value="none">
          {life === undefined ? "never" : `after ${lifetimeText(life)}, as usual here`}
        </option>
        {LIVES_S.map((seconds) => (
          <option key={seconds} value={seconds}>
            in {lifetimeText(seconds)}
          </option>
        ))}
        <option value="at">at a date and time</option>
      </SelectField>
      {choice.kind === "at" && (
        <TextField
          label="Date and time, your zone"
          type="datetime-local"
          required
          value={choice.field}
          onValue={(field) => onChoice({ ...choice, field })}
        />
      )}
    </div>
  );
}
