/** A button for what cannot be undone: the first press asks, the second does it; looking away takes it back. */

import { useState } from "preact/hooks";

interface ConfirmButtonProps {
  readonly label: string;
  /** What it would be done to, for those who hear the button without its row. */
  readonly what: string;
  readonly onConfirm: () => unknown;
}

export function ConfirmButton({ label, what, onConfirm }: ConfirmButtonProps) {
  const [asked, setAsked] = useState(false);
  return (
    <button
      type="button"
      class={asked ? "small danger asked" : "small danger"}
      aria-label={asked ? `Really ${label.toLowerCase()} ${what}?` : `${label} ${what}`}
      onBlur={() => setAsked(false)}
      onClick={async () => {
        if (asked) await onConfirm();
        setAsked(!asked);
      }}
    >
      {asked ? "Really?" : label}
    </button>
  );
}
