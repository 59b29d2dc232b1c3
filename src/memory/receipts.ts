/**
 * Receipts of erasures: who and what was erased, when, what goes on, and until when something of it may be left elsewhere,
 * under a MAC whose key is derived from the service's master key. What was kept is what the law has counted while the user
 * was locked (law/law.ts). A receipt is kept nowhere: whoever has it shows it to the service, which says whether it is its own.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { TOKEN_TTL_S_MAX } from "../base/limits.ts";
import type { KeyRing } from "./key-ring.ts";
import type { ErasedUser } from "./ports.ts";

export interface Receipt extends ErasedUser {
  readonly account: string;
  readonly userId: string;
  /** null: everything that was kept of the user. */
  readonly project: string | null;
  /** When the erasure began: all that was written before is gone. What it says of copies counts from its end. */
  readonly erasedAtMs: number;
  /** Tokens are kept nowhere, so none is erased: those made before count no longer than this. */
  readonly tokensUntilMs: number;
  /** When the last backup that the service made before is removed; null where it makes none. */
  readonly backupsUntilMs: number | null;
  /** The master key that it is signed with. */
  readonly key: number;
  readonly signature: string;
}

export class Receipts {
  readonly #keyRing: KeyRing;
  readonly #backupsKeptMs: number | null;

  /** @param backupsKeptMs for how long the service keeps the backups that it makes; null: it makes none */
  constructor(keyRing: KeyRing, backupsKeptMs: number | null) {
    this.#keyRing = keyRing;
    this.#backupsKeptMs = backupsKeptMs;
  }

  of(
    erased: ErasedUser,
    {
      account,
      userId,
      project = null,
    }: { account: string; userId: string; project?: string | null | undefined },
    begunMs: number,
    nowMs: number,
  ): Receipt {
    const { id, key } = this.#keyRing.receiptKey;
    const content = {
      ...{ account, userId, project, ...erased, erasedAtMs: begunMs, key: id },
      tokensUntilMs: nowMs + TOKEN_TTL_S_MAX * 1_000,
      backupsUntilMs: this.#backupsKeptMs === null ? null : nowMs + this.#backupsKeptMs,
    };
    return { ...content, signature: signatureOf(content, key) };
  }

  /** Whether this service has made a receipt; undefined where the master key that it names is not here. */
  isGenuine(receipt: Receipt): boolean | undefined {
    const known = this.#keyRing.receiptKeyOf(receipt.key);
    if (known === undefined) return undefined;
    const [expected, found] = [signatureOf(receipt, known.key), receipt.signature].map((text) =>
      Buffer.from(text),
    );
    return expected.length === found.length && timingSafeEqual(expected, found);
  }
}

/** Each of its fields, in an order that is always the same. */
function signatureOf(receipt: Omit<Receipt, "signature">, key: Uint8Array): string {
  const { account, userId, project, erasedAtMs, tokensUntilMs, backupsUntilMs } = receipt;
  const { facts, earlier, labels, places, connections, keysLeft } = receipt;
  const counts = [facts, earlier, labels, places, connections, keysLeft];
  const signed = [account, userId, project, ...counts, erasedAtMs, tokensUntilMs, backupsUntilMs];
  return createHmac("sha256", key)
    .update(JSON.stringify([...signed, receipt.key]))
    .digest("base64url");
}
