/**
 * What belongs to accounts, and to the service as a whole: keys with what they have used, labels, requests for keys, and the
 * people who operate the service. After a change that nodes cache, its version counts here at once.
 */

import type { KeyStore, LabelStore, OperatorStore, ProjectStore, Store } from "../../memory/ports.ts";
import type {
  AccountRecord,
  AuditNote,
  AuditStore,
  KeyRecord,
  KeyRequest,
  LabelRecord,
  RemoveLabelOutcome,
} from "../../memory/records.ts";
import type { Database, Query } from "./connection/database.ts";
import { auditIn } from "./queries/audit-queries.ts";
import * as keys from "./queries/key-queries.ts";
import * as requests from "./queries/key-request-queries.ts";
import type { KeysWatch } from "./queries/keys-watch.ts";
import * as labels from "./queries/label-queries.ts";
import { operatorsIn } from "./queries/operator-queries.ts";
import * as projects from "./queries/project-queries.ts";
import * as usage from "./queries/usage-queries.ts";

export class AccountTables implements KeyStore, LabelStore, ProjectStore {
  readonly operators: OperatorStore;
  readonly audit: AuditStore;
  readonly #database: Database;
  readonly #keys: KeysWatch;

  constructor(database: Database, watch: KeysWatch) {
    this.#database = database;
    this.#keys = watch;
    this.operators = operatorsIn(database, (version) => watch.note(version));
    this.audit = auditIn(database);
  }

  readLabels = (account: string): Promise<LabelRecord[]> => this.#database.read(labels.readLabels(account));

  addLabel: Store["addLabel"] = async (...given) =>
    this.#noted(await this.#database.write(labels.addLabel(...given)));

  changeLabel: Store["changeLabel"] = async (...given) =>
    this.#noted(await this.#database.write(labels.changeLabel(...given)));

  async removeLabel(account: string, label: string, audit?: AuditNote): Promise<RemoveLabelOutcome> {
    // First without a lock: nearly all labels are in use, and that is soon seen.
    if (await this.#database.read(labels.isUsed(account, label))) return "in_use";
    return this.#noted(await this.#database.write(labels.removeLabel(account, label, audit)));
  }

  readStrict = (account: string): Promise<boolean> => this.#database.read(labels.readStrict(account));

  changeStrict: Store["changeStrict"] = async (...given) => {
    this.#noted(await this.#database.write(labels.changeStrict(...given)));
  };

  readProjects = (account: string) => this.#database.read(projects.readProjects(account));

  changeProject: Store["changeProject"] = async (...given) =>
    this.#noted(await this.#database.write(projects.changeProject(...given)));

  removeProject: Store["removeProject"] = async (...given) =>
    this.#noted(await this.#database.write(projects.removeProject(...given)));

  findKey = (hash: string): Promise<KeyRecord | undefined> => this.#database.read(keys.findKey(hash));

  readKey = (id: string): Promise<KeyRecord | undefined> => this.#database.read(keys.readKey(id));

  listKeys = (account?: string): Promise<KeyRecord[]> => this.#database.read(keys.listKeys(account));

  listAccounts = (): Promise<AccountRecord[]> => this.#database.read(keys.listAccounts());

  addKey: Store["addKey"] = async (...given) =>
    this.#noted(await this.#database.write(keys.addKey(...given)));

  changeKey: Store["changeKey"] = (...given) => this.#changed(keys.changeKey(...given));

  readAccount = (account: string) => this.#database.read(keys.readAccount(account));

  changeAccount: Store["changeAccount"] = (...given) => this.#changed(keys.changeAccount(...given));

  async #changed<T>(query: Query<{ record: T; version: number } | undefined>): Promise<T | undefined> {
    const changed = await this.#database.write(query);
    if (changed !== undefined) this.#keys.note(changed.version);
    return changed?.record;
  }

  changeGrant = (...[id, before, after]: Parameters<Store["changeGrant"]>) =>
    this.#database.write(keys.changeGrant(id, before, after));

  removeGrants = (...[account, user, endedBeforeMs]: Parameters<Store["removeGrants"]>) =>
    this.#database.write(keys.removeGrants(account, user, endedBeforeMs));

  async endGrants(...given: Parameters<Store["endGrants"]>) {
    const { outcome, version } = await this.#database.write(keys.endGrants(...given));
    if (version !== undefined) this.#keys.note(version);
    return outcome;
  }

  touchKeys = (uses: ReadonlyMap<string, number>) => this.#database.write(keys.touchKeys(uses));

  keysVersion: Store["keysVersion"] = (...given) => this.#keys.version(...given);

  readUsage = (keyId: string, month: string) => this.#database.read(keys.readUsage(keyId, month));

  readDailyUsage = (keyId: string, fromDay: string, toDay: string) =>
    this.#database.read(keys.readDailyUsage(keyId, fromDay, toDay));

  raiseUsage: Store["raiseUsage"] = (...given) => this.#database.write(usage.raiseUsage(...given));

  addKeyRequest = (request: KeyRequest) => this.#database.write(requests.addKeyRequest(request));

  listKeyRequests = (): Promise<KeyRequest[]> => this.#database.read(requests.listKeyRequests());

  decideKeyRequest: Store["decideKeyRequest"] = (id, decision, audit) =>
    this.#database.write(requests.noted(requests.decideKeyRequest(id, decision), audit));

  deleteKeyRequest: Store["deleteKeyRequest"] = (id, audit) =>
    this.#database.write(requests.noted(requests.deleteKeyRequest(id), audit));

  /** The outcome of a change of keys or labels, whose version counts from here on. */
  #noted<T>({ outcome, version }: { outcome: T; version: number }): T {
    this.#keys.note(version);
    return outcome;
  }
}
