/** What was just done, at the foot of the screen, with what can be done about it. */

import { useEffect, useRef } from "preact/hooks";
import { Button, ConfirmButton } from "../parts/fields.tsx";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice } from "../parts/layout.tsx";

export interface ToastAction {
  readonly name: string;
  readonly run: () => Promise<void>;
  /** It cannot be undone: the first press asks. */
  readonly asks?: string;
}

export interface ToastMessage {
  readonly text: string;
  readonly actions?: readonly ToastAction[];
}

interface ToastProps {
  readonly message: ToastMessage | undefined;
  readonly onClose: () => void;
}

export function Toast({ message, onClose }: ToastProps) {
  const { busy, error, run } = useAction();
  const first = useRef<HTMLButtonElement>(null);
  // What was pressed is often gone with its row: the focus goes to what can be done next.
  useEffect(() => {
    if (document.activeElement === document.body) first.current?.focus();
  }, [message]);
  return (
    <div class={message === undefined ? "toast" : "toast shown"}>
      <p role="status">{message?.text}</p>
      {message !== undefined && (
        <p class="buttons">
          {message.actions?.map((action, i) =>
            action.asks === undefined ? (
              <button
                key={action.name}
                ref={i === 0 ? first : null}
                type="button"
                class="small"
                disabled={busy}
                onClick={() => run(action.run)}
              >
                {action.name}
              </button>
            ) : (
              <ConfirmButton
                key={action.name}
                label={action.name}
                what={action.asks}
                onConfirm={() => run(action.run)}
              />
            ),
          )}
          <Button class="small" aria-label="Close this message" onClick={onClose} text="Close" />
        </p>
      )}
      <ErrorNotice error={error} />
    </div>
  );
}
