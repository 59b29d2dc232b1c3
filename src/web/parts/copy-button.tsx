/** Copies a text, and says so. */

import { useState } from "preact/hooks";

interface CopyButtonProps {
  readonly text: string;
  readonly what: string;
  readonly size?: "small" | "normal";
}

export function CopyButton({ text, what, size = "small" }: CopyButtonProps) {
  const [said, setSaid] = useState("Copy");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      // Without a secure context or permission there is no clipboard: the text can still be selected.
      setSaid("Select and copy");
    }
    setTimeout(() => setSaid("Copy"), 2000);
  };
  return (
    <button
      type="button"
      class={size === "small" ? "small" : ""}
      onClick={copy}
      aria-label={`${said} ${what}`}
    >
      {size === "small" ? said : `${said} ${what}`}
    </button>
  );
}
