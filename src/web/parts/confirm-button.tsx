/** A button for what cannot be undone: the first press asks, the second confirms; losing the focus cancels. */

import { useState } from "preact/hooks";

interface ConfirmButtonProps {
  readonly label: string;
  /** The object of the action, for screen readers, which read the button without its row. */
  readonly what: string;
  readonly onConfirm: () => unknown;
}

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
