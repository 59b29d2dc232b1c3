/**
 * What belongs to accounts, and to the service as a whole: keys with what they have used, labels, requests for keys, and the
 * people who operate the service. After a change that nodes cache, its version counts here at once.
 */

import type { KeyStore, LabelStore, OperatorStore, ProjectStore, Store } from "../../memory/ports.ts";
import type {
  AccountRecord,
  AddKeyOutcome,
  AddLabelOutcome,
  ChangeLabelOutcome,
  KeyApproval,
  KeyRecord,
  KeyRequest,
  LabelChange,
  LabelRecord,
  RemoveLabelOutcome,
} from "../../memory/records.ts";
import type { Database, Query } from "./connection/database.ts";
import * as keys from "./queries/key-queries.ts";
import * as requests from "./queries/key-request-queries.ts";
import type { KeysWatch } from "./queries/keys-watch.ts";
import * as labels from "./queries/label-queries.ts";
import { operatorsIn } from "./queries/operator-queries.ts";
import * as projects from "./queries/project-queries.ts";

export class AccountTables implements KeyStore, LabelStore, ProjectStore {
  readonly operators: OperatorStore;
  readonly #database: Database;
  readonly #keys: KeysWatch;

  constructor(database: Database, watch: KeysWatch) {
    this.#database = database;
    this.#keys = watch;
    this.operators = operatorsIn(database, (version) => watch.note(version));
  }

  readLabels = (account: string): Promise<LabelRecord[]> => this.#database.read(labels.readLabels(account));

  async addLabel(account: string, label: Omit<LabelRecord, "channel">): Promise<AddLabelOutcome> {
    return this.#noted(await this.#database.write(labels.addLabel(account, label)));
  }

  async changeLabel(account: string, base: LabelRecord, change: LabelChange): Promise<ChangeLabelOutcome> {
    return this.#noted(await this.#database.write(labels.changeLabel(account, base, change)));
  }

  async removeLabel(account: string, label: string): Promise<RemoveLabelOutcome> {
    // First without a lock: nearly all labels are in use, and that is soon seen.
    if (await this.#database.read(labels.isUsed(account, label))) return "in_use";
    return this.#noted(await this.#database.write(labels.removeLabel(account, label)));
  }

  readStrict = (account: string): Promise<boolean> => this.#database.read(labels.readStrict(account));

  async changeStrict(account: string, isStrict: boolean): Promise<void> {
    const { version } = await this.#database.write(labels.changeStrict(account, isStrict));
    this.#keys.note(version);
  }

  readProjects = (account: string) => this.#database.read(projects.readProjects(account));

  changeProject: Store["changeProject"] = async (...given) =>
    this.#noted(await this.#database.write(projects.changeProject(...given)));

  removeProject: Store["removeProject"] = async (...given) =>
    this.#noted(await this.#database.write(projects.removeProject(...given)));

  findKey = (hash: string): Promise<KeyRecord | undefined> => this.#database.read(keys.findKey(hash));

  readKey = (id: string): Promise<KeyRecord | undefined> => this.#database.read(keys.readKey(id));

  listKeys = (account?: string): Promise<KeyRecord[]> => this.#database.read(keys.listKeys(account));

  listAccounts = (): Promise<AccountRecord[]> => this.#database.read(keys.listAccounts());

  async addKey(record: KeyRecord, approval?: KeyApproval): Promise<AddKeyOutcome> {
    return this.#noted(await this.#database.write(keys.addKey(record, approval)));
  }

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

  addUsage: Store["addUsage"] = (...given) => this.#database.write(keys.addUsage(...given));

  addKeyRequest = (request: KeyRequest) => this.#database.write(requests.addKeyRequest(request));

  listKeyRequests = (): Promise<KeyRequest[]> => this.#database.read(requests.listKeyRequests());

  decideKeyRequest: Store["decideKeyRequest"] = (...given) =>
    this.#database.write(requests.decideKeyRequest(...given));

  deleteKeyRequest = (id: string): Promise<boolean> => this.#database.write(requests.deleteKeyRequest(id));

  /** The outcome of a change of keys or labels, whose version counts from here on. */
  #noted<T>({ outcome, version }: { outcome: T; version: number }): T {
    this.#keys.note(version);
    return outcome;
  }
}
