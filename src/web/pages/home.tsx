/**
 * The live block of the front page: four facts, built into a block by the codec in this browser, and a slider that
 * cuts words. No data leaves the page. The key is all zeros, for display only.
 */

import { useMemo, useState } from "preact/hooks";
import { DEMO_VALUE_BYTES_MAX } from "../../base/limits.ts";
import { N } from "../../codec/field.ts";
import { CodecClient } from "../codec/codec-client.ts";
import type { Reader } from "../codec/messages.ts";
import { addCopyButtons } from "../docs/code-blocks.ts";
import { BlockWords } from "../parts/block-words.tsx";
import { useAsync } from "../parts/hooks.ts";
import { ErrorNotice, Loading, mountPage } from "../parts/layout.tsx";
import { bandsOf, Legend, Spectrum } from "../parts/spectrum.tsx";

const EXAMPLES = [
  { channel: 0, label: "USER.name", value: "Ada Okafor" },
  { channel: 3, label: "USER.gpu", value: "RTX 5090" },
  { channel: 20, label: "TASK.current", value: "Group commit for the store" },
  { channel: 38, label: "PROJ.goal", value: "No fact lost" },
];
const READER: Reader = {
  userId: "visitor",
  keys: [{ key_id: 0, material: btoa("\0".repeat(64)) }],
  versions: [1],
};

const codec = new CodecClient();

const sizeBytes = (value: string) => new TextEncoder().encode(value).length;

function LiveBlock() {
  const [facts, setFacts] = useState(EXAMPLES);
  const [percent, setPercent] = useState(0);
  const [highlight, setHighlight] = useState<number>();

  const { value: built, error } = useAsync(() => {
    const present = facts.filter(
      ({ value }) => value !== "" && value.isWellFormed() && sizeBytes(value) <= DEMO_VALUE_BYTES_MAX,
    );
    return codec.ask({ ask: "build", facts: present, reader: READER });
  }, [facts]);
  const { value: seen } = useAsync(() => {
    if (built === undefined) return undefined;
    return codec
      .ask({ ask: "damage", text: built.text, kind: "cut-start", share: percent / 100, seed: 1 })
      .then(async ({ text }) => ({ text, ...(await codec.ask({ ask: "inspect", text, reader: READER })) }));
  }, [built, percent]);

  const labelOf = (channel: number) => EXAMPLES.find((fact) => fact.channel === channel)!.label;
  const bands = useMemo(() => (built === undefined ? [] : bandsOf(built.layout, labelOf)), [built]);
  const outcome = seen?.outcome;
  const lost = Math.round((N * percent) / 100);
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (built === undefined) return <Loading what="Building a block in this browser" tall />;

  return (
    <div class="live">
      <div class="live-facts">
        {facts.map((fact, i) => (
          <label key={fact.channel}>
            <span>{fact.label}</span>
            <input
              value={fact.value}
              onInput={({ currentTarget: { value } }) =>
                setFacts(facts.map((other, j) => (j === i ? { ...other, value } : other)))
              }
            />
          </label>
        ))}
      </div>
      {facts
        .filter(({ value }) => sizeBytes(value) > DEMO_VALUE_BYTES_MAX)
        .map(({ label, value }) => (
          <p key={label} class="size too-long" role="status">
            {label} has {sizeBytes(value)} bytes, and the demo takes at most {DEMO_VALUE_BYTES_MAX}. It is not
            in the block. Nothing was cut.
          </p>
        ))}
      <Spectrum
        carriers={outcome?.ok ? outcome.spectrum : built.spectrum}
        bands={bands}
        highlight={highlight}
        label={`The block's spectrum: ${built.layout.end} of ${N} carriers in use, the others silent`}
      />
      <Legend bands={bands} highlight={highlight} onHighlight={setHighlight} />
      <BlockWords
        text={outcome?.ok ? outcome.text : (seen?.text ?? "")}
        wordStates={outcome?.ok ? outcome.wordStates : undefined}
        label="The block's words"
      />
      <label class="slider">
        <span>
          Cut away the first <output>{lost}</output> of 512 words
        </span>
        <input
          type="range"
          min="0"
          max="98"
          value={percent}
          aria-valuetext={`${lost} words, ${percent} percent`}
          onInput={({ currentTarget: { value } }) => setPercent(Number(value))}
        />
      </label>
      {outcome !== undefined && (
        <p class={`verdict ${outcome.ok ? "good" : "bad"}`} role="status">
          {outcome.ok
            ? `Read back exactly: ${outcome.facts.map(({ value }) => value).join(" · ") || "no facts"}`
            : "Refused: too few words are left to be sure, and Sideband never guesses."}
        </p>
      )}
    </div>
  );
}

mountPage(<LiveBlock />);
for (const place of document.querySelectorAll(".pitch, .samples")) addCopyButtons(place);
