/** The form that asks for a key. The answer says only that the request arrived, and nothing about other requests. */

import { useState } from "preact/hooks";
import { TIERS, type Tier } from "../../base/tiers.ts";
import { ApiError, call } from "../api/request.ts";
import { mountPage } from "../parts/mount.ts";
import { ErrorNotice, Notice } from "../parts/notice.tsx";
import { tierLimit, tierName } from "../tier-words.ts";

const PURPOSE_LENGTH_MAX = 2000;

/** "Pro, 50,000 a month" */
function optionText(tier: Tier): string {
  const limit = tierLimit(tier);
  return limit === undefined ? tierName(tier) : `${tierName(tier)}, ${limit} a month`;
}

function KeyRequestForm() {
  const [sentTo, setSentTo] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = Object.fromEntries(new FormData(form)) as Record<string, string>;
    // The service takes no line breaks.
    const lines = fields.purpose.split(/[\r\n]/).map((line) => line.trim());
    fields.purpose = lines.filter((line) => line !== "").join(" ");
    setBusy(true);
    setError(undefined);
    try {
      await call("POST", "/key-requests", { body: fields });
      setSentTo(fields.email);
    } catch (failure) {
      setError(failure);
      // Move the focus to the field that the server refused.
      const param = failure instanceof ApiError ? failure.param : undefined;
      if (param !== undefined) form.querySelector<HTMLElement>(`[name="${CSS.escape(param)}"]`)?.focus();
    } finally {
      setBusy(false);
    }
  };

  if (sentTo !== undefined) {
    return (
      <Notice kind="good">
        <strong>Thank you, your request has arrived.</strong> If it is approved, the operator writes to{" "}
        {sentTo}. Until then the <a href="/playground">playground</a> needs no key.
      </Notice>
    );
  }
  return (
    <form class="stack" onSubmit={send}>
      <label class="field">
        <span>Your name</span>
        <input name="name" required maxLength={200} autocomplete="name" />
      </label>
      <label class="field">
        <span>E-mail address</span>
        <input name="email" type="email" required maxLength={254} autocomplete="email" />
      </label>
      <label class="field">
        <span>What you are building</span>
        <textarea name="purpose" required rows={4} maxLength={PURPOSE_LENGTH_MAX} />
      </label>
      <label class="field">
        <span>Tier</span>
        <select name="tier">
          {TIERS.map((tier) => (
            <option key={tier} value={tier}>
              {optionText(tier)}
            </option>
          ))}
        </select>
      </label>
      <ErrorNotice error={error} />
      <button type="submit" class="primary" disabled={busy}>
        Ask for a key
      </button>
    </form>
  );
}

mountPage(<KeyRequestForm />);
