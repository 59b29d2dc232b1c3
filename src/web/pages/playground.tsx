/**
 * The playground, on a sandbox of the demo: facts on the 40 channels, their block, its spectrum, and the damage bench.
 * It opens with an example, and each action shows its call. Everyone who has the page's address shares the
 * sandbox, so the page refreshes its state regularly while it is visible.
 */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { N } from "../../codec/field.ts";
import { SidebandError } from "../../sdk/errors.ts";
import { type DemoChannel, DemoSandbox, type DemoState, fetchChannels, type LastCall } from "../api/demo.ts";
import { CodecClient } from "../codec/codec-client.ts";
import type { Reader } from "../codec/messages.ts";
import { BlockWords } from "../parts/block-words.tsx";
import { ChannelBoard, LastCallView } from "../parts/channel-board.tsx";
import { DamageBench } from "../parts/damage-bench.tsx";
import { Button, CopyButton } from "../parts/fields.tsx";
import { durationText, plural } from "../parts/format.ts";
import { LatestRequest, useAction, useAsync, useInterval, useNow } from "../parts/hooks.ts";
import { Card, ErrorNotice, Figures, Loading, mountPage, Notice } from "../parts/layout.tsx";
import { bandsOf, Legend, Spectrum } from "../parts/spectrum.tsx";

const REFRESH_MS = 15_000;
const EXAMPLE_LABELS = ["USER.name", "USER.gpu", "PREF.response_style", "TASK.current", "TASK.deadline"];

const codec = new CodecClient();
/** A sandbox that somebody else uses is left alone: another one is chosen, a few times. */
const CHOICES_MAX = 4;
let sandbox = new DemoSandbox(location.hash);

async function fillWithExample(channels: readonly DemoChannel[]): Promise<void> {
  for (const { label, example } of channels) {
    if (EXAMPLE_LABELS.includes(label)) await sandbox.write(label, example);
  }
}

/** A new sandbox gets the example; its id goes into the address, where a reload finds it. */
async function openSandbox(channels: readonly DemoChannel[]): Promise<void> {
  for (let i = 1; sandbox.isNew && i < CHOICES_MAX; i++) {
    if ((await sandbox.state()).context.channel_count === 0) break;
    sandbox = new DemoSandbox("");
  }
  if (sandbox.isNew) await fillWithExample(channels);
  history.replaceState(null, "", `#sandbox=${sandbox.id}`);
}

interface Ready {
  readonly channels: readonly DemoChannel[];
  readonly reader: Reader;
}

function Playground() {
  const [ready, setReady] = useState<Ready>();
  const [state, setState] = useState<DemoState>();
  const [error, setError] = useState<unknown>();
  const [weights, setWeights] = useState<{ loadedBytes: number; totalBytes: number }>();

  const { current: latest } = useRef(new LatestRequest());
  const refresh = useCallback(async () => {
    const isLatest = latest.start();
    try {
      const found = await sandbox.state();
      if (!isLatest()) return;
      setState(found);
      setError(undefined);
    } catch (failure) {
      if (isLatest()) setError(failure);
    }
  }, [latest]);
  const load = useCallback(async () => {
    setError(undefined);
    try {
      const channels = await fetchChannels();
      await openSandbox(channels);
      const [reader] = await Promise.all([sandbox.reader(), refresh()]);
      setReady({ channels, reader });
    } catch (failure) {
      setError(failure);
    }
  }, [refresh]);
  useEffect(() => {
    codec.onProgress = (loadedBytes, totalBytes) => setWeights({ loadedBytes, totalBytes });
    load();
  }, [load]);
  useInterval(refresh, REFRESH_MS);

  if (ready === undefined || state === undefined) {
    if (error === undefined) return <Loading what="Opening a sandbox" tall />;
    return (
      <>
        {isSwitchedOff(error) ? <SwitchedOff /> : <ErrorNotice error={error} />}
        <Button onClick={load} text="Try again" />
      </>
    );
  }
  return (
    <>
      <ErrorNotice error={error} />
      {weights !== undefined && weights.loadedBytes < weights.totalBytes && (
        <label class="weights">
          Loading the reader model <progress value={weights.loadedBytes} max={weights.totalBytes} />
        </label>
      )}
      <Bench {...{ ready, state, refresh }} />
    </>
  );
}

/** Every address of the demo is unknown to a service without it. */
function isSwitchedOff(error: unknown): boolean {
  return SidebandError.isInstance(error) && error.code === "not_found";
}

function SwitchedOff() {
  return (
    <Notice kind="plain">
      The playground works on the demo, where anybody may write without a key, and the demo is switched off
      here. Whoever runs this service switches it on with <code>SIDEBAND_DEMO=1</code>, for example{" "}
      <code>SIDEBAND_DEMO=1 npm start</code>.
    </Notice>
  );
}

function Bench({ ready, state, refresh }: { ready: Ready; state: DemoState; refresh: () => Promise<void> }) {
  const { channels, reader } = ready;
  const { fdm_block: block, plain_index: index, channel_count: count } = state.context;
  const [highlight, setHighlight] = useState<number>();
  const labelOf = useCallback((channel: number) => channels[channel].label, [channels]);
  const { value: seen, error } = useAsync(
    () => (block === "" ? undefined : codec.ask({ ask: "inspect", text: block, reader })),
    [block, reader],
  );
  const outcome = seen?.outcome.ok ? seen.outcome : undefined;
  const bands = useMemo(() => (outcome === undefined ? [] : bandsOf(outcome.layout, labelOf)), [outcome]);
  const facts = useMemo(() => factsOf(index, channels), [index, channels]);
  const [lastCall, setLastCall] = useState<LastCall>();
  const { error: flushError, run } = useAction();
  useEffect(() => {
    sandbox.onCall = setLastCall;
  }, []);
  const changing = async (work: Promise<void>) => {
    await work;
    await refresh();
  };
  const figures = [
    [count, plural(count, "fact")],
    [block === "" ? 0 : N, "tokens"],
    [outcome?.layout.end ?? "–", "carriers in use"],
    [outcome === undefined ? "–" : N - outcome.layout.end, "words may be lost"],
  ] as const;

  return (
    <>
      <Card id="facts" title="Facts" head={<SandboxState {...{ state, refresh, channels }} />}>
        <ChannelBoard
          channels={channels}
          facts={facts}
          onWrite={(label, value) => changing(sandbox.write(label, value))}
          onForget={(label) => changing(sandbox.forget(label))}
          onDecode={(label, useModel) => sandbox.decode(label, useModel)}
        >
          <LastCallView call={lastCall} />
        </ChannelBoard>
      </Card>
      <Card id="block" title="The block" head={<Figures of={figures} />}>
        <ErrorNotice error={error ?? flushError} />
        {seen !== undefined && !seen.outcome.ok && (
          <Notice kind="bad">This page cannot read the block: {seen.outcome.reason}.</Notice>
        )}
        {block === "" ? (
          <p class="hint">No facts yet, so no block. Write one above.</p>
        ) : (
          <>
            {outcome === undefined ? (
              seen === undefined &&
              error === undefined && <Loading what="Reading the block in this page" tall />
            ) : (
              <>
                <Spectrum
                  carriers={outcome.spectrum}
                  bands={bands}
                  highlight={highlight}
                  label={`The spectrum of ${count} facts: ${outcome.layout.end} of ${N} carriers in use, the others silent`}
                />
                <Legend bands={bands} highlight={highlight} onHighlight={setHighlight} />
              </>
            )}
            <div class="pair">
              <div>
                <h3>
                  As a model sees it <CopyButton text={block} what="the block" />
                </h3>
                <BlockWords text={block} label="The block's 512 words" />
                <p class="hint">
                  Each word is one token in every vocabulary that was tested; the two markers take 6 or 7
                  more.
                </p>
              </div>
              <div>
                <h3>
                  Readable index <CopyButton text={index} what="the index" />
                </h3>
                <pre class="index">{index}</pre>
                <p class="buttons">
                  <Button onClick={() => run(() => sandbox.flush())} text="Flush" />
                  <span class="hint">
                    Builds the block anew and reads every fact back. The call is shown above.
                  </span>
                </p>
              </div>
            </div>
          </>
        )}
      </Card>
      {block !== "" && (
        <Card
          id="bench"
          title="Damage bench"
          head={<p class="hint">The codec runs in this page. Nothing you do here changes the block above.</p>}
        >
          <DamageBench {...{ codec, reader, block, labelOf }} askServer={(text) => sandbox.read(text)} />
        </Card>
      )}
    </>
  );
}

interface SandboxStateProps {
  readonly state: DemoState;
  readonly refresh: () => Promise<void>;
  readonly channels: readonly DemoChannel[];
}

/** Says who can see the facts and when they are deleted, with buttons to fill the sandbox and to empty it. */
function SandboxState({ state, refresh, channels }: SandboxStateProps) {
  const nowMs = useNow();
  const { error, run } = useAction();
  const leftS = state.resetsAtMs === undefined ? undefined : (state.resetsAtMs - nowMs) / 1000;
  const over = leftS !== undefined && leftS <= 0;
  useEffect(() => {
    if (over) refresh();
  }, [over, refresh]);
  const change = async (work: () => Promise<void>) => {
    await run(work);
    await refresh();
  };
  return (
    <div class="shared">
      <p>
        <span class="public">Not secret</span> Your sandbox {sandbox.id}, open to everyone who has its address
        {leftS !== undefined && (
          <>
            ; its facts are deleted in <time>{durationText(leftS)}</time>
          </>
        )}
        .
      </p>
      <p class="buttons">
        <Button onClick={() => change(() => fillWithExample(channels))} text="Fill in an example" />
        <Button onClick={() => change(() => sandbox.reset())} text="Delete all now" />
      </p>
      <ErrorNotice error={error} />
    </div>
  );
}

/** label=value lines → values by channel. Values have no line breaks. */
function factsOf(index: string, channels: readonly DemoChannel[]): Map<number, string> {
  const numbers = new Map(channels.map(({ label, channel }) => [label, channel]));
  const facts = new Map<number, string>();
  for (const line of index.split("\n")) {
    const at = line.indexOf("=");
    const channel = numbers.get(line.slice(0, at));
    if (channel !== undefined) facts.set(channel, line.slice(at + 1));
  }
  return facts;
}

mountPage(<Playground />);
