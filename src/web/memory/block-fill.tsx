/** How full the block of a memory is, and which facts have no room in it. */

import type { ContextAnswer } from "../../contract/answers.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { Waiting } from "../parts/waiting.tsx";

interface BlockFillProps {
  readonly block: ContextAnswer | undefined;
  readonly error: unknown;
}

const NEARLY_FULL = 0.9;

export function BlockFill({ block, error }: BlockFillProps) {
  const { used, max } = block?.carriers ?? { used: 0, max: 1 };
  const overflow = block?.overflow ?? [];
  const percent = Math.round((100 * used) / max);
  return (
    <section class="card" aria-labelledby="block-title">
      <h2 id="block-title">The block</h2>
      <ErrorNotice error={error} />
      {block === undefined ? (
        error === undefined && <Waiting what="Loading" />
      ) : (
        <>
          <p class="quota">
            <meter
              aria-label="Of the block in use"
              min={0}
              max={max}
              high={max * NEARLY_FULL}
              optimum={0}
              value={used}
            />
            <span>{percent} % full</span>
          </p>
          <p class="hint">
            {overflow.length === 0
              ? "All facts fit into the sealed block that travels in a prompt."
              : `${overflow.length === 1 ? "One fact has" : `${overflow.length} facts have`} no room in the sealed block that travels in a prompt: ${overflow.join(", ")}. The newest facts come first. Everything else still has them.`}
          </p>
        </>
      )}
    </section>
  );
}
