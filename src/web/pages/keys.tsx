/** The form that asks for a key. The answer says only that the request arrived, and nothing about other requests. */

import { useState } from "preact/hooks";
import { TIERS, type Tier } from "../../base/accounts.ts";
import { SidebandError } from "../../sdk/errors.ts";
import { send as sendCall } from "../api/request.ts";
import { Button } from "../parts/fields.tsx";
import { tierLimit, tierName } from "../parts/format.ts";
import { useAction } from "../parts/hooks.ts";
import { ErrorNotice, mountPage, Notice } from "../parts/layout.tsx";

const PURPOSE_LENGTH_MAX = 2000;

/** "Pro, 50,000 a month" */
function optionText(tier: Tier): string {
  const limit = tierLimit(tier);
  return limit === undefined ? tierName(tier) : `${tierName(tier)}, ${limit} a month`;
}

function KeyRequestForm() {
  const [sentTo, setSentTo] = useState<string>();
  const { busy, error, run } = useAction();

  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = Object.fromEntries(new FormData(form)) as Record<string, string>;
    // The service takes no line breaks.
    const lines = fields.purpose.split(/[\r\n]/).map((line) => line.trim());
    fields.purpose = lines.filter((line) => line !== "").join(" ");
    run(async () => {
      try {
        await sendCall({ method: "POST", path: "/key-requests", body: fields });
        setSentTo(fields.email);
      } catch (failure) {
        // Move the focus to the field that the server refused.
        const param = SidebandError.isInstance(failure) ? failure.param : undefined;
        if (param !== undefined) form.querySelector<HTMLElement>(`[name="${CSS.escape(param)}"]`)?.focus();
        throw failure;
      }
    });
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
      <Button type="submit" class="primary" disabled={busy} text="Ask for a key" />
    </form>
  );
}

mountPage(<KeyRequestForm />);
