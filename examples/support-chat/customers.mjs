/**
 * The customers as Sideband knows them: whose facts there are, and who may write which. The account's key stays in here.
 *
 * - the account's key (this program): everything, and alone what is paid for (PLAN.tier)
 * - the assistant: a token of one customer, for the labels of ASSISTANT_WRITES, whatever its model is talked into
 * - the customer's page: a short-lived token of that customer, for the labels of PAGE_WRITES
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSidebandError, Sideband } from "sideband";

const PAGE_WRITES = ["CUSTOMER.*", "PREF.tone"];
const ASSISTANT_WRITES = [...PAGE_WRITES, "ORDER.*", "TICKET.*"];
const [PAGE_TOKEN_S, ASSISTANT_TOKEN_S, TRIAL_S] = [900, 3600, 14 * 86_400];

export class Customers {
  /** A token a customer, as long as it counts. */
  #assistants = new Map();

  constructor({ apiKey, baseUrl, receiptFolder }) {
    this.baseUrl = baseUrl;
    this.receiptFolder = receiptFolder;
    this.account = new Sideband({ apiKey, baseUrl, writtenBy: "shop" });
  }

  /** At every start: what is there already stays as it is. */
  async declareLabels() {
    await this.account.addLabelSet("support");
    await this.account.addLabel("PLAN.tier", {
      description: "What the customer pays for",
      oneOf: ["trial", "basic", "gold"],
      writers: "account",
    });
    // No model makes labels of its own by a slip.
    await this.account.strictLabels(true);
  }

  /** A new customer has a trial, which ends by itself. Only the first of two sign-ins at once writes it. */
  async welcome(customer) {
    const isNew = (await this.account.facts(customer)).channel_count === 0;
    if (!isNew) return;
    const terms = { ttlS: TRIAL_S, ifRevision: 0 };
    await this.account.encode(customer, "PLAN.tier", "trial", terms).catch((error) => {
      if (!isSidebandError(error, "revision_mismatch")) throw error;
    });
  }

  /** What was paid for is written by the account's key alone. */
  paid(customer, tier) {
    return this.account.encode(customer, "PLAN.tier", tier);
  }

  /** For the customer's page, which calls the service itself. */
  async pageAccess(customer) {
    const terms = { access: "write", ttlS: PAGE_TOKEN_S, write: PAGE_WRITES };
    const { token } = await this.account.token(customer, terms);
    return { customer, token, baseUrl: this.baseUrl };
  }

  /** The memory that the assistant works with, for one customer. */
  async memoryOf(customer) {
    const known = this.#assistants.get(customer);
    if (known !== undefined && known.untilMs > Date.now()) return known.memory;
    const terms = { access: "write", ttlS: ASSISTANT_TOKEN_S, write: ASSISTANT_WRITES };
    const { token, expires_at } = await this.account.token(customer, terms);
    const memory = new Sideband({ apiKey: token, baseUrl: this.baseUrl, writtenBy: "assistant" });
    this.#assistants.set(customer, { memory, untilMs: Date.parse(expires_at) - 60_000 });
    return memory;
  }

  /** Erases a customer and keeps the receipt, which the service keeps nowhere. Undefined where nothing was there. */
  async erase(customer) {
    this.#assistants.delete(customer);
    try {
      const { receipt } = await this.account.forgetUser(customer);
      await mkdir(this.receiptFolder, { recursive: true, mode: 0o700 });
      const name = `${receipt.erased_at.replaceAll(":", "-")}-${customer}.json`;
      await writeFile(join(this.receiptFolder, name), `${JSON.stringify(receipt, null, 2)}\n`, {
        mode: 0o600,
      });
      return receipt;
    } catch (error) {
      if (!isSidebandError(error, "not_found")) throw error;
    }
  }
}
