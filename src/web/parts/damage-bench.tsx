/**
 * The damage bench: a copy of the block that can be damaged by slider or by hand. The codec in this browser reads it
 * or refuses it. On request the server reads the same text, and the two results are compared.
 */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { ReadAnswer } from "../../contract/answers.ts";
import { isSidebandError } from "../../sdk/errors.ts";
import type { CodecClient } from "../codec/codec-client.ts";
import { DAMAGE_KINDS, type DamageKind, type Inspection, type Reader } from "../codec/messages.ts";
import { WordMap } from "./block-words.tsx";
import { Button } from "./fields.tsx";
import { countText } from "./format.ts";
import { useAsync, useQuery } from "./hooks.ts";
import { ErrorNotice, Loading, Notice } from "./layout.tsx";
import { bandsOf, Spectrum } from "./spectrum.tsx";

interface DamageBenchProps {
  readonly codec: CodecClient;
  readonly reader: Reader;
  readonly block: string;
  readonly labelOf: (channel: number) => string;
  readonly askServer: (text: string) => Promise<ReadAnswer>;
}

export function DamageBench({ codec, reader, block, labelOf, askServer }: DamageBenchProps) {
  const [kind, setKind] = useState<DamageKind>("cut-end");
  const [percent, setPercent] = useState(40);
  const [seed, setSeed] = useState(1);
  const [byHand, setByHand] = useState<string>();

  // Edits belong to the old block: a new block removes them.
  useEffect(() => setByHand(undefined), [block]);
  const { value: damaged } = useAsync(
    () => codec.ask({ ask: "damage", text: block, kind, share: percent / 100, seed }),
    [block, kind, percent, seed],
  );
  const text = byHand ?? damaged?.text ?? "";
  const { value: inspection, error } = useAsync(
    () => (text === "" ? undefined : codec.ask({ ask: "inspect", text, reader })),
    [text, reader],
  );
  const damageAgain = (change: () => void) => {
    setByHand(undefined);
    change();
  };

  return (
    <div class="bench">
      <div class="bench-tools">
        <fieldset class="kinds">
          <legend>Damage</legend>
          {Object.entries(DAMAGE_KINDS).map(([value, name]) => (
            <label key={value}>
              <input
                type="radio"
                name="damage"
                value={value}
                checked={kind === value && byHand === undefined}
                onChange={() => damageAgain(() => setKind(value as DamageKind))}
              />
              {name}
            </label>
          ))}
        </fieldset>
        <label class="slider">
          <span>
            How much: <output>{percent} %</output>
          </span>
          <input
            type="range"
            min="0"
            max="98"
            value={percent}
            aria-valuetext={`${percent} percent of the words`}
            onInput={({ currentTarget: { value } }) => damageAgain(() => setPercent(Number(value)))}
          />
        </label>
      </div>
      <div class="bench-result">
        <ErrorNotice error={error} />
        {inspection === undefined ? (
          error === undefined && <Loading what="Reading the damaged copy" tall />
        ) : (
          <Verdict {...{ inspection, text, labelOf, askServer }} />
        )}
      </div>
      <div class="bench-copy">
        <label class="field">
          <span>The damaged copy, which you can edit{byHand !== undefined && " (edited by hand)"}.</span>
          <textarea
            rows={14}
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={({ currentTarget: { value } }) => setByHand(value)}
          />
        </label>
        <p class="buttons">
          <Button onClick={() => damageAgain(() => setSeed(seed + 1))} text="Damage other words" />
          <Button onClick={() => damageAgain(() => setPercent(0))} text="Undo the damage" />
        </p>
      </div>
    </div>
  );
}

interface VerdictProps {
  readonly inspection: Inspection;
  readonly text: string;
  readonly labelOf: (channel: number) => string;
  readonly askServer: DamageBenchProps["askServer"];
}

function Verdict({ inspection, text, labelOf, askServer }: VerdictProps) {
  const { outcome, wordCount, tookMs, received } = inspection;
  const bands = useMemo(() => (outcome.ok ? bandsOf(outcome.layout, labelOf) : []), [outcome, labelOf]);
  const took = `${tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms in this browser`;
  return (
    <>
      {outcome.ok ? (
        <Notice kind="good">
          <strong>All {countText(outcome.facts.length, "fact")} read, exactly.</strong> {outcome.missing}{" "}
          words were missing and {outcome.wrong} wrong; {outcome.guardLeft} more may go missing.{" "}
          <small>{took}</small>
        </Notice>
      ) : (
        <Notice kind="bad">
          <strong>Refused.</strong> {sentence(outcome.reason)} Sideband never guesses.{" "}
          <small>
            {wordCount} words, {took}
          </small>
        </Notice>
      )}
      {outcome.ok && <WordMap wordStates={outcome.wordStates} />}
      <Spectrum
        carriers={received}
        bands={bands}
        label={
          outcome.ok
            ? "The spectrum of the damaged copy: what is in the guard band is damage"
            : "The spectrum of the damaged copy: noise"
        }
      />
      <p class="hint">
        {outcome.ok
          ? "As received. Everything in the guard band is damage; from it the error correction computes the repair."
          : "As received. There is too much damage to tell facts from noise."}
      </p>
      {outcome.ok && (
        <table class="facts">
          <caption>What was read</caption>
          <thead>
            <tr>
              <th scope="col">Label</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {outcome.facts.map(({ channel, value }) => (
              <tr key={channel}>
                <th scope="row">{labelOf(channel)}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <ServerResult {...{ inspection, text, askServer }} />
    </>
  );
}

/** The answer of POST /demo/read for the same text, on request. */
function ServerResult({ inspection, text, askServer }: Omit<VerdictProps, "labelOf">) {
  const [result, setResult] = useState<ReadAnswer | "refused">();
  const { busy, error, query, cancel } = useQuery();
  useEffect(() => {
    // An answer on its way is about another text.
    cancel();
    setResult(undefined);
  }, [text]);

  const ask = () =>
    query(
      () =>
        askServer(text).catch((failure): "refused" => {
          if (isSidebandError(failure, "block_unreadable")) return "refused";
          throw failure;
        }),
      setResult,
    );
  return (
    <div class="server-result">
      <Button onClick={ask} disabled={busy} text="Ask the server" />
      <ErrorNotice error={error} />
      {result !== undefined && (
        <Notice kind={agrees(inspection, result) ? "good" : "bad"}>
          {agrees(inspection, result) ? "The server agrees" : "The server disagrees"}:{" "}
          {result === "refused"
            ? "the block cannot be read reliably."
            : `${result.facts.length} facts, ${result.missing} missing, ${result.wrong} wrong, ${result.guard_left} to spare.`}
        </Notice>
      )}
    </div>
  );
}

/** Whether browser and server read the same facts with the same damage. */
function agrees({ outcome }: Inspection, result: ReadAnswer | "refused"): boolean {
  if (result === "refused" || !outcome.ok) return result === "refused" && !outcome.ok;
  const { facts, missing, wrong, repaired, guard_left } = result;
  return (
    missing === outcome.missing &&
    wrong === outcome.wrong &&
    repaired === outcome.repaired &&
    guard_left === outcome.guardLeft &&
    facts.length === outcome.facts.length &&
    facts.every(
      ({ channel, value }, i) => outcome.facts[i].channel === channel && outcome.facts[i].value === value,
    )
  );
}

function sentence(text: string): string {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}
