/**
 * What looks like a secret is not kept from a form either, as at a terminal: agents would read it. A person who
 * knows better insists. The patterns come with the first value that is looked at: most visits write nothing.
 */

import type { RefusedValueError } from "../../agent-side/secrets.ts";
import { Button } from "../parts/fields.tsx";
import { ErrorNotice } from "../parts/layout.tsx";

/** The value without its <private> parts. Throws where it looks like a secret, unless the person insists. */
export async function keptValue(label: string, value: string, insists: boolean): Promise<string> {
  const { sanitizeValue } = await import("../../agent-side/secrets.ts");
  return sanitizeValue(value, insists, label);
}

interface SecretNoticeProps {
  readonly error: unknown;
  readonly busy: boolean;
  readonly onInsist: () => void;
}

/** Nothing, or the error of a form; where it is a refused secret, with how to insist. */
export function SecretNotice({ error, busy, onInsist }: SecretNoticeProps) {
  if (!isRefusedSecret(error)) return <ErrorNotice error={error} />;
  return (
    <p class="notice bad" role="alert">
      {error.message.split(":")[0]}: nothing was kept. Agents would read it.{" "}
      <Button class="small" disabled={busy} onClick={onInsist} text="Keep it all the same" />
    </p>
  );
}

function isRefusedSecret(error: unknown): error is RefusedValueError {
  return error instanceof Error && /^secret_(?:refused|doubted)$/.test(String(Object(error).code));
}
