/** Fields of forms, with their labels, and buttons that say more than their name. */

import type { AllHTMLAttributes, ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface FieldProps {
  readonly label: ComponentChildren;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly class?: string;
}

type TextFieldProps = FieldProps & Omit<AllHTMLAttributes<HTMLInputElement>, keyof FieldProps>;

/** What is not of the field itself is an attribute of its input. */
export function TextField({ label, value, onValue, class: kind = "field", ...attributes }: TextFieldProps) {
  return (
    <label class={kind}>
      <span>{label}</span>
      <input
        {...(attributes as object)}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </label>
  );
}

interface SelectFieldProps extends FieldProps {
  /** Each is shown as it is; or the options are the children. */
  readonly options?: readonly string[];
  readonly children?: ComponentChildren;
  /** The label is for screen readers alone. */
  readonly hidesLabel?: boolean;
}

export function SelectField(props: SelectFieldProps) {
  const { label, value, onValue, class: kind = "field", options = [], children, hidesLabel } = props;
  return (
    <label class={kind}>
      <span class={hidesLabel ? "visually-hidden" : undefined}>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {children}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

type ButtonProps = { readonly text: ComponentChildren; readonly type?: "submit" | "button" } & Omit<
  AllHTMLAttributes<HTMLButtonElement>,
  "type"
>;

export function Button({ text, type = "button", ...attributes }: ButtonProps) {
  return (
    <button type={type} {...(attributes as object)}>
      {text}
    </button>
  );
}

interface ConfirmButtonProps {
  readonly label: string;
  /** The object of the action, for screen readers, which read the button without its row. */
  readonly what: string;
  readonly onConfirm: () => unknown;
}

/** A button for what cannot be undone: the first press asks, the second confirms; losing the focus cancels. */
export function ConfirmButton({ label, what, onConfirm }: ConfirmButtonProps) {
  const [asked, setAsked] = useState(false);
  return (
    <button
      type="button"
      class={asked ? "small danger asked" : "small danger"}
      aria-label={asked ? `Confirm: ${label.toLowerCase()} ${what}` : `${label} ${what}`}
      onBlur={() => setAsked(false)}
      onClick={async () => {
        if (asked) await onConfirm();
        setAsked(!asked);
      }}
    >
      {asked ? "Confirm" : label}
    </button>
  );
}

interface CopyButtonProps {
  readonly text: string;
  readonly what: string;
  readonly size?: "small" | "normal";
}

/** Copies a text, and says so. */
export function CopyButton({ text, what, size = "small" }: CopyButtonProps) {
  const [state, setState] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("Copied");
    } catch {
      // Without a secure context or permission there is no clipboard: the text can still be selected.
      setState("Select and copy");
    }
    setTimeout(() => setState("Copy"), 2000);
  };
  return (
    <button
      type="button"
      class={size === "small" ? "small" : ""}
      onClick={copy}
      aria-label={`${state} ${what}`}
    >
      {size === "small" ? state : `${state} ${what}`}
    </button>
  );
}
