/**
 * The 40 channels as a board of four groups, with the values of those that hold a fact, and a form that writes to one
 * channel. Choosing a channel on the board puts it into the form.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { DEMO_VALUE_BYTES_MAX } from "../../base/limits.ts";
import type { Channel } from "../api/demo.ts";
import { ErrorNotice } from "./notice.tsx";

interface ChannelBoardProps {
  readonly channels: readonly Channel[];
  /** Values by channel. */
  readonly facts: ReadonlyMap<number, string>;
  readonly onWrite: (label: string, value: string) => Promise<void>;
}

const GROUP_NAMES: Readonly<Record<string, string>> = {
  USER: "The user",
  PREF: "Preferences",
  TASK: "The task",
  PROJ: "The project",
};

export function ChannelBoard({ channels, facts, onWrite }: ChannelBoardProps) {
  const [chosen, setChosen] = useState(channels[0]);
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const input = useRef<HTMLInputElement>(null);
  const groups = Object.keys(GROUP_NAMES);

  const choose = (channel: Channel) => {
    setChosen(channel);
    setValue(facts.get(channel.channel) ?? "");
    setError(undefined);
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
    setBusy(true);
    setError(undefined);
    try {
      await onWrite(chosen.label, value);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      input.current?.focus();
    }
  };

  return (
    <>
      <form class="composer" onSubmit={write}>
        <label class="field">
          <span>Channel</span>
          <select
            value={chosen.label}
            onChange={({ currentTarget }) =>
              choose(channels.find(({ label }) => label === currentTarget.value) ?? channels[0])
            }
          >
            {groups.map((group) => (
              <optgroup key={group} label={GROUP_NAMES[group]}>
                {channels
                  .filter(({ label }) => label.startsWith(`${group}.`))
                  .map(({ label }) => (
                    <option key={label}>{label}</option>
                  ))}
              </optgroup>
            ))}
          </select>
        </label>
        <label class="field grow">
          <span>{chosen.description}</span>
          <input
            ref={input}
            name="value"
            required
            maxLength={DEMO_VALUE_BYTES_MAX}
            autocomplete="off"
            placeholder={chosen.example}
            value={value}
            onInput={({ currentTarget }) => setValue(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          Write
        </button>
      </form>
      <ErrorNotice error={error} />
      <div class="board">
        {groups.map((group) => (
          <section key={group} aria-label={GROUP_NAMES[group]}>
            <h3>{GROUP_NAMES[group]}</h3>
            <ul>
              {channels
                .filter(({ label }) => label.startsWith(`${group}.`))
                .map((channel) => (
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
