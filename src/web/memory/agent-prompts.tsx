/**
 * What agents get of this memory, where the page looks: how many facts and tokens, and the text itself, as a host puts it
 * into a prompt. The sealed block is read only where somebody asks for it.
 */

import { useState } from "preact/hooks";
import { PROJECT_GROUPS_LABEL, withProjectGroups } from "../../agent-side/host-groups.ts";
import { CONTEXT_TOKENS, contextFor, memorySection } from "../../agent-side/memory-section.ts";
import { countText, STANDARD_GROUPS } from "../parts/format.ts";
import { useAsync } from "../parts/hooks.ts";
import { Card, ErrorNotice, Loading } from "../parts/layout.tsx";
import { usePage } from "./page-context.ts";

/** Who asks for the memory, and for what of it. */
const READERS = [
  {
    name: "Claude Code, Codex, Gemini CLI, opencode",
    asks: contextFor("index", CONTEXT_TOKENS),
    groups: STANDARD_GROUPS.join(","),
  },
  { name: "An app that asks for everything", asks: contextFor("index", 0), groups: undefined },
];

export function AgentPrompts() {
  const { memory } = usePage();
  const where = memory.project === undefined ? "outside of projects" : "in this project";
  return (
    <Card id="prompts" title="What agents get">
      <p class="hint">When a conversation begins {where}. All else they find when they look for it.</p>
      {READERS.map((reader) => (
        <Prompt key={reader.name} {...reader} />
      ))}
      <Block />
    </Card>
  );
}

function Prompt({ name, asks, groups: ofHost }: (typeof READERS)[number]) {
  const { api, memory, state, byLabel } = usePage();
  const { userId, project } = memory;
  const named = project === undefined ? undefined : byLabel.get(PROJECT_GROUPS_LABEL)?.value;
  const groups = ofHost && named ? withProjectGroups(ofHost, named) : ofHost;
  const read = () => api.context(userId, { project, groups, ...asks });
  const { value, error } = useAsync(() => (state.facts === undefined ? undefined : read()), [state.version]);
  if (value === undefined) return error === undefined ? <Loading /> : <ErrorNotice error={error} />;
  const count = value.plain_index === "" ? 0 : value.plain_index.split("\n").length;
  const namedCount = value.left_out?.length ?? 0;
  return (
    <details>
      <summary>
        {name}: <b>{countText(count, "fact")}</b>, {countText(value.tokens.index, "token")}
        {namedCount > 0 && `, without ${namedCount} more`}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>{memorySection(value, "index") || "Nothing."}</pre>
    </details>
  );
}

function Block() {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsAsked(currentTarget.open)}>
      <summary>The sealed block</summary>
      {isAsked && <BlockFigures />}
    </details>
  );
}

const NEARLY_FULL = 0.9;

/** How full the block is, and how many facts have no room in it. */
function BlockFigures() {
  const { api, memory, state } = usePage();
  const { userId, project } = memory;
  const { value, error } = useAsync(
    () => api.context(userId, { project, include: "block" }),
    [state.version],
  );
  if (value === undefined) return error === undefined ? <Loading /> : <ErrorNotice error={error} />;
  const { overflow, carriers = { used: 0, max: 1 } } = value;
  const { used, max } = carriers;
  return (
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
        <span>{Math.round((100 * used) / max)} % full</span>
      </p>
      <p class="hint">
        {overflow.length === 0
          ? "All facts fit into the sealed block."
          : `It has room for ${countText(value.channel_labels.length - overflow.length, "fact")}, the newest first. Agents get the others as text.`}
      </p>
    </>
  );
}
