/** What was just done, at the foot of the screen, with what can be done about it. */

import { useEffect, useRef } from "preact/hooks";
import { useAttempt } from "../parts/attempt.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import type { Said, SaidAction } from "./desk.ts";

interface SaidBarProps {
  readonly said: Said | undefined;
  readonly onClose: () => void;
}

export function SaidBar({ said, onClose }: SaidBarProps) {
  const { busy, error, attempt } = useAttempt();
  const first = useRef<HTMLButtonElement>(null);
  // What was pressed is often gone with its row: the focus goes to what can be done next.
  useEffect(() => {
    if (document.activeElement === document.body) first.current?.focus();
  }, [said]);
  const run = (action: SaidAction) => attempt(action.run);
  return (
    <div class={said === undefined ? "said-bar" : "said-bar shown"}>
      <p role="status">{said?.text}</p>
      {said !== undefined && (
        <p class="buttons">
          {said.actions.map((action, i) => (
            <button
              key={action.name}
              ref={i === 0 ? first : null}
              type="button"
              class="small"
              disabled={busy}
              onClick={() => run(action)}
            >
              {action.name}
            </button>
          ))}
          <button type="button" class="small" aria-label="Close this message" onClick={onClose}>
            Close
          </button>
        </p>
      )}
      <ErrorNotice error={error} />
    </div>
  );
}
