/** The call that the last action made, as a command to copy, with the answer of the service. */

import type { ShownCall } from "../api/demo.ts";
import { CopyButton } from "./copy-button.tsx";

export function CallView({ shown }: { readonly shown: ShownCall | undefined }) {
  if (shown === undefined) return <p class="hint">Each action shows here the call that it makes.</p>;
  return (
    <div class="call-view">
      <h3>
        The last call <CopyButton text={shown.curl} what="the command" />
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>{shown.curl}</pre>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0} class="answer">
        {shown.answer}
      </pre>
    </div>
  );
}
