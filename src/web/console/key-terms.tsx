/** The fields that say what a new key may do, and for how long. */

import { TIERS, type Tier } from "../../base/tiers.ts";

export interface KeyTerms {
  readonly tier: Tier;
  /** A day, or "" for no expiry. */
  readonly expires: string;
}

interface KeyTermsFieldsProps {
  readonly terms: KeyTerms;
  readonly onChange: (terms: KeyTerms) => void;
}

export function KeyTermsFields({ terms, onChange }: KeyTermsFieldsProps) {
  return (
    <>
      <label class="field">
        <span>Tier</span>
        <select
          value={terms.tier}
          onChange={({ currentTarget }) => onChange({ ...terms, tier: currentTarget.value as Tier })}
        >
          {TIERS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Expires (optional)</span>
        <input
          type="date"
          value={terms.expires}
          onInput={({ currentTarget }) => onChange({ ...terms, expires: currentTarget.value })}
        />
      </label>
    </>
  );
}
