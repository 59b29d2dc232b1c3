/**
 * The name of the account that an approval makes where the operator names none: made of the requester's address, the
 * part before the @ after the host, with letters that an account may have.
 */

import { ACCOUNT_LENGTH_MAX } from "./identifiers.ts";

/** The name itself, then with -2, -3 …, without those that are `taken`. It never ends. */
export function* unusedAccounts(email: string, taken: ReadonlySet<string>): Generator<string, never> {
  const name = accountFrom(email);
  for (let i = 1; ; i++) {
    const ending = i === 1 ? "" : `-${i}`;
    const candidate = name.slice(0, ACCOUNT_LENGTH_MAX - ending.length) + ending;
    if (!taken.has(candidate)) yield candidate;
  }
}

export function accountFrom(email: string): string {
  const [user, host = ""] = email.toLowerCase().split("@");
  const company = host.split(".").slice(0, -1).join("-");
  const name = `${company}-${user}`.replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "");
  return name.slice(0, ACCOUNT_LENGTH_MAX) || "account";
}
