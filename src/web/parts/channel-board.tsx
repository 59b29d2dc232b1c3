/**
 * The 40 channels as a board of four groups, with the values of those that hold a fact, and a form that writes, reads and
 * deletes the fact of one channel. Choosing a channel on the board puts it into the form. A text that is too long is
 * never cut: the form says how long it is.
 */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { DEMO_VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { DemoChannel, LastCall } from "../api/demo.ts";
import { Button, CopyButton, SelectField } from "./fields.tsx";
import { groupName, STANDARD_GROUPS } from "./format.ts";
import { useAction } from "./hooks.ts";
import { ErrorNotice } from "./layout.tsx";

interface ChannelBoardProps {
  readonly channels: readonly DemoChannel[];
  /** Values by channel. */
  readonly facts: ReadonlyMap<number, string>;
  readonly onWrite: (label: string, value: string) => Promise<void>;
  readonly onForget: (label: string) => Promise<void>;
  readonly onDecode: (label: string, useModel: boolean) => Promise<void>;
  /** What stands between the form and the board. */
  readonly children: ComponentChildren;
}

export function ChannelBoard(props: ChannelBoardProps) {
  const { channels, facts, onWrite, onForget, onDecode, children } = props;
  const [chosen, setChosen] = useState(channels[0]);
  const [value, setValue] = useState(facts.get(channels[0].channel) ?? "");
  const { busy, error, run, clearError } = useAction();
  const input = useRef<HTMLInputElement>(null);

  const choose = (channel: DemoChannel) => {
    setChosen(channel);
    setValue(facts.get(channel.channel) ?? "");
    clearError();
  };
  // If someone else changes the chosen channel, a form without edits shows the new value.
  const known = facts.get(chosen.channel);
  const [before, setBefore] = useState(known);
  useEffect(() => {
    if (value === (before ?? "")) setValue(known ?? "");
    setBefore(known);
  }, [known]);

  const write = async (event: SubmitEvent) => {
    event.preventDefault();
    await run(() => onWrite(chosen.label, value));
    input.current?.focus();
  };
  const sizeBytes = new TextEncoder().encode(value).length;
  const { label } = chosen;
  const channelsOf = (group: string) => channels.filter(({ label }) => label.startsWith(`${group}.`));

  return (
    <>
      <form class="composer" onSubmit={write}>
        <SelectField
          label="Channel"
          value={chosen.label}
          onValue={(name) => choose(channels.find(({ label }) => label === name) ?? channels[0])}
        >
          {STANDARD_GROUPS.map((group) => (
            <optgroup key={group} label={groupName(group)}>
              {channelsOf(group).map(({ label }) => (
                <option key={label}>{label}</option>
              ))}
            </optgroup>
          ))}
        </SelectField>
        <label class="field grow">
          <span>{chosen.description}</span>
          <input
            ref={input}
            name="value"
            required
            autocomplete="off"
            placeholder={chosen.example}
            value={value}
            onInput={({ currentTarget }) => setValue(currentTarget.value)}
          />
        </label>
        <Button type="submit" class="primary" disabled={busy} text="Write" />
      </form>
      <p class={sizeBytes > DEMO_VALUE_BYTES_MAX ? "size too-long" : "size"} role="status">
        {sizeBytes} of at most {DEMO_VALUE_BYTES_MAX} bytes
        {sizeBytes > DEMO_VALUE_BYTES_MAX && ": too long for the demo. Nothing was cut."}
      </p>
      <p class="buttons fact-actions">
        <Button disabled={busy} onClick={() => run(() => onDecode(label, false))} text={`Decode ${label}`} />
        <Button
          disabled={busy}
          onClick={() => run(() => onDecode(label, true))}
          text="Decode with the model"
        />
        {known !== undefined && (
          <Button
            class="danger"
            disabled={busy}
            onClick={() => run(() => onForget(label))}
            text={`Delete ${label}`}
          />
        )}
      </p>
      <ErrorNotice error={error} />
      {children}
      <div class="board">
        {STANDARD_GROUPS.map((group) => (
          <section key={group} aria-label={groupName(group)}>
            <h3>{groupName(group)}</h3>
            <ul>
              {channelsOf(group).map((channel) => (
                <li key={channel.channel}>
                  <button
                    type="button"
                    class={facts.has(channel.channel) ? `filled ${group.toLowerCase()}` : ""}
                    aria-pressed={channel === chosen}
                    title={`${channel.description}, channel ${channel.channel}`}
                    onClick={() => {
                      choose(channel);
                      input.current?.focus();
                    }}
                  >
                    <span class="name">{channel.label.slice(group.length + 1)}</span>
                    <span class="value">{facts.get(channel.channel) ?? ""}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}

/** The call that the last action made, as a command to copy, with the answer of the service. */
export function LastCallView({ call }: { readonly call: LastCall | undefined }) {
  if (call === undefined) return <p class="hint">Each action shows here the call that it makes.</p>;
  return (
    <div class="last-call">
      <h3>
        The last call <CopyButton text={call.curl} what="the command" />
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0}>{call.curl}</pre>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre tabIndex={0} class="answer">
        {call.answer}
      </pre>
    </div>
  );
}
