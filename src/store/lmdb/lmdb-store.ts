/**
 * The embedded store: lmdb in a data folder that this process owns. Reads are memory-mapped point reads and return
 * without waiting; writes go through the group commit. Compaction and backup run here too, one at a time, while
 * requests go on.
 */

import { join } from "node:path";
import { assert, assertInteger, elementAt } from "../../base/assert.ts";
import { monotonicClock, type SteadyClock, systemClock } from "../../base/clock.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { HISTORY_DEFAULT, HISTORY_MAX } from "../../base/limits.ts";
import type { Metrics } from "../../base/metrics.ts";
import { atOnce, inSlices, type Sliced } from "../../base/slices.ts";
import { noStep } from "../../base/steps.ts";
import { eraseUser } from "../../memory/erasure.ts";
import type {
  BackupReport,
  CompactReport,
  FactRecord,
  LifeQuery,
  OperatorStore,
  PlacedCode,
  PlacedVector,
  Progress,
  Store,
  StoreStatistics,
  UserState,
  View,
  WriteOutcome,
  WriteRequest,
} from "../../memory/ports.ts";
import type {
  AccountRecord,
  AuditNote,
  AuditStore,
  EndedFact,
  FreeLabel,
  KeyRecord,
  KeyRequest,
  LabelRecord,
  OperatorRecord,
  ProjectRecord,
} from "../../memory/records.ts";
import { projectUser } from "../../memory/shared-places.ts";
import { audited, auditIn, sweepAudit } from "./audit.ts";
import { DATA_FILE, freeBytesOf, writeOwnerNote } from "./data-folder.ts";
import { counterKey, PLACES, strictKey, USERS } from "./entry-keys.ts";
import { Environment, type Reader, type TableName } from "./environment.ts";
import {
  countFacts,
  describeUser,
  findDamage,
  listPlaces,
  listUsers,
  nextEndIn,
  readFact,
  readFreeLabels,
  readLife,
  readStamp,
  readUser,
  readVectors,
  walkUsers,
} from "./fact-reads.ts";
import { dueFacts, endFacts, saveCodes, saveVectors, userName, writeFacts } from "./fact-writes.ts";
import { type FolderLock, folderLost } from "./folder-lock.ts";
import { GroupCommit } from "./group-commit.ts";
import { beginHistoryLimit, historyInForce, shortenHistories } from "./histories.ts";
import { keepClock, openClock } from "./kept-clock.ts";
import {
  addKey,
  addKeyRequest,
  addLabel,
  changeAccount,
  changeGrant,
  changeKey,
  changeLabel,
  changeStrict,
  decideKeyRequest,
  deleteKeyRequest,
  endGrants,
  raiseUsage,
  readDailyUsage,
  readLabels,
  removeGrants,
  touchKeys,
} from "./key-writes.ts";
import { LabelRemovals } from "./label-removals.ts";
import { type OpenFolder, openFolder } from "./open-folder.ts";
import { operatorsIn } from "./operators.ts";
import { changeProject, readProjects, removeProject } from "./project-writes.ts";
import { FORGOTTEN, packNumber, unpackJson, unpackNumber } from "./records.ts";
import { sweepExpired } from "./replays.ts";
import { type NamedStore, StoreCopies } from "./store-copies.ts";
import type { LmdbStoreOptions } from "./store-options.ts";
import type { Write } from "./writer.ts";

const PAGE = 256;
/** Facts that end in one go. */
const ENDS_PAGE = 64;
/** Facts that are read in one go: in less than a millisecond. */
const FACTS_AT_ONCE = 64;
const PROBE = Buffer.from("probe");
/** After a change in these the keys have another version. */
const KEYS_TABLES: ReadonlySet<string> = new Set(["keys", "labels", "operators", "accounts", "projects"]);
/** A read trusts for so long the last answer of the file system that the folder is still this process's. */
const HELD_MS = 50;
const CORRUPT_RECORDS = "sideband_corrupt_records_total";

export class LmdbStore implements Store {
  /** Does not go back; what it knows is kept in the store. */
  readonly clock: SteadyClock;
  readonly operators: OperatorStore;
  readonly audit: AuditStore;
  readonly #warn: (line: string) => void;
  /** How many earlier values of each fact are kept. */
  readonly historyMax: number;
  readonly #lock: FolderLock;
  readonly #commit: GroupCommit;
  readonly #copies: StoreCopies;
  readonly #turns: FairTurns;
  #inUse: NamedStore;
  #keysVersion = 0;
  readonly #removals: LabelRemovals;

  private constructor(options: LmdbStoreOptions, { name, lock }: OpenFolder, environment: Environment) {
    this.clock = openClock(environment, options.clock ?? systemClock);
    this.#warn = options.warn ?? (() => {});
    this.historyMax = options.historyMax ?? historyInForce(environment) ?? HISTORY_DEFAULT;
    assertInteger(this.historyMax, 0, HISTORY_MAX, "kept values");
    this.#lock = lock;
    this.#inUse = { environment, name };
    lock.keep(join(name, DATA_FILE));
    lock.watch(options.onLost ?? (() => {}));
    const { atStep = noStep, freeBytes = freeBytesOf, monotonic = monotonicClock } = options;
    this.#turns = options.turns ?? new FairTurns();
    this.#commit = new GroupCommit(() => this.#inUse.environment, {
      ...options,
      turns: this.#turns,
      monotonic,
      atStep,
      isOwner: () => this.isOwner,
      freeBytes: () => freeBytes(options.folder),
      onPanic: (error) =>
        lock.giveUp(
          `the disk failed while the store in ${options.folder} was written (${causeText(error.cause)}), and lmdb has ` +
            "given it up. What was acknowledged is stored: start it again",
        ),
      isCopied: () => this.#copies.isCopying,
      onCommitted: (changes) => {
        this.#copies.note(changes);
        // Here, not where a write is answered: a change that the disk confirms late counts too.
        if (changes.some(({ table }) => KEYS_TABLES.has(table))) this.#keysVersion += 1;
      },
    });
    this.operators = operatorsIn({
      list: () => this.#all<OperatorRecord>("operators"),
      run: async (write) => this.#commit.run(write),
    });
    this.audit = auditIn(
      () => this.#readable(),
      (write) => this.#commit.run(write),
    );
    this.#removals = new LabelRemovals(this.#commit, () => this.#readable(), this.clock);
    this.#copies = new StoreCopies({
      lock,
      commit: this.#commit,
      inUse: () => this.#inUse,
      moveTo: (store) => this.#moveTo(store),
      open: (folder, store) => openEnvironment(folder, store, options.metrics),
      freeBytes,
      clock: this.clock,
      monotonic,
      metrics: options.metrics,
      atStep,
    });
  }

  /** Throws an OperatorError if the folder has an owner or cannot be used. */
  static async open(options: LmdbStoreOptions): Promise<LmdbStore> {
    options.metrics.define({
      name: CORRUPT_RECORDS,
      help: "Reads that met a record which fails its checksum.",
      type: "counter",
    });
    options.metrics.add(CORRUPT_RECORDS, "", 0);
    const opened = await openFolder(options);
    let store: LmdbStore | undefined;
    try {
      const environment = openEnvironment(options.folder, opened.name, options.metrics);
      store = new LmdbStore(options, opened, environment);
      const limit = { historyMax: store.historyMax, nowMs: store.clock.now() };
      await beginHistoryLimit(store.#commit, environment, limit, options.folder);
      return store;
    } catch (error) {
      if (store === undefined) opened.lock.release();
      else await store.close();
      throw error;
    }
  }

  /** False once the data folder, or what matters in it, was moved, removed or replaced. */
  get isOwner(): boolean {
    return this.#lock.isHeld();
  }

  /** Throws if the data folder is no longer this process's: to be called before something in it is changed. */
  requireOwner(): void {
    this.#lock.requireHeld();
  }

  /** Tells people where the owner answers. */
  noteOwner(address: string | null): void {
    writeOwnerNote(this.#lock, { pid: process.pid, address });
  }

  /** What reads go to: never a store that another process has taken over. */
  #readable(): Environment {
    if (!this.#lock.isHeld(HELD_MS)) throw folderLost();
    return this.#inUse.environment;
  }

  #moveTo(store: NamedStore): void {
    assert(store.name !== this.#inUse.name, "requests move to another store than the one in use");
    this.#lock.keep(join(store.name, DATA_FILE));
    this.#lock.letGo(join(this.#inUse.name, DATA_FILE));
    this.#inUse = store;
  }

  readFact = (view: View, label: string): FactRecord | undefined => readFact(this.#readable(), view, label);

  readStamp = (account: string, userId: string) => readStamp(this.#readable(), account, userId);

  readUser(view: View): UserState | undefined | Promise<UserState | undefined> {
    const environment = this.#readable();
    if (countFacts(environment, view) <= FACTS_AT_ONCE) return atOnce(readUser(environment, view));
    return this.#readInSlices(view.account, (reader) => readUser(reader, view));
  }

  readLife = (account: string, userId: string, options: LifeQuery) =>
    this.#readInSlices(account, (reader) => readLife(reader, account, userId, options));

  listPlaces = (account: string, userId: string) =>
    this.#readInSlices(account, (reader) => listPlaces(reader, account, userId));

  describeUser = (account: string, userId: string, nowMs: number) =>
    this.#readInSlices(account, (reader) => describeUser(reader, account, userId, nowMs));

  readVectors = (account: string, userId: string) =>
    this.#readInSlices(account, (reader) => readVectors(reader, account, userId));

  readFreeLabels(...asked: Parameters<Store["readFreeLabels"]>): FreeLabel[] {
    return readFreeLabels(this.#readable(), ...asked);
  }

  async #readInSlices<T>(account: string, read: (reader: Reader) => Sliced<T>): Promise<T> {
    const turn = () => this.#turns.next(account);
    return this.#readable().reading((reader) => inSlices(read(reader), turn));
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    const removal = this.#removals.before(request);
    if (removal !== undefined) return removal.then(() => this.write(request));
    return this.#commit.runLong(writeFacts(request, this.historyMax));
  }

  saveCodes = (account: string, userId: string, codes: readonly PlacedCode[]) =>
    this.#commit.run(saveCodes(account, userId, codes), userName(account, userId));

  saveVectors = (account: string, userId: string, vectors: readonly PlacedVector[]) =>
    this.#commit.run(saveVectors(account, userId, vectors), userName(account, userId));

  forgetUser(...erased: Parameters<Store["forgetUser"]>) {
    return eraseUser(this, this.clock.now(), ...erased);
  }
  listUsers: Store["listUsers"] = async (...given) => listUsers(this.#readable(), ...given);

  readLabels = (account: string): LabelRecord[] => readLabels(this.#readable(), account);

  /** In the transaction of its note. */
  #noted<T>(write: Write<T>, note: AuditNote | undefined): Promise<T> {
    return this.#commit.run(audited(write, note));
  }

  addLabel: Store["addLabel"] = (account, label, note) => this.#noted(addLabel(account, label), note);
  changeLabel: Store["changeLabel"] = (account, base, change, note) =>
    this.#noted(changeLabel(account, base, change), note);
  removeLabel: Store["removeLabel"] = (...given) => this.#removals.remove(...given);

  readProjects = (account: string): ProjectRecord[] => readProjects(this.#readable(), account);
  changeProject: Store["changeProject"] = (account, change, note) =>
    this.#noted(changeProject(account, change), note);
  removeProject: Store["removeProject"] = (account, project, note) =>
    this.#commit.run(audited(removeProject(account, project), note), userName(account, projectUser(project)));

  readStrict = (account: string): boolean => this.#readable().has("labels", strictKey(account));
  changeStrict: Store["changeStrict"] = async (account, isStrict, note) => {
    await this.#noted(changeStrict(account, isStrict), note);
  };

  walkUsers = (account?: string) => walkUsers(() => this.#readable(), account);

  findKey(hash: string): KeyRecord | undefined {
    const id = this.#readable().get("key-hashes", Buffer.from(hash, "hex"));
    return id && this.readKey(id.toString());
  }

  readKey(id: string): KeyRecord | undefined {
    const bytes = this.#readable().get("keys", Buffer.from(id));
    return bytes && unpackJson<KeyRecord>(bytes);
  }

  async listKeys(account?: string): Promise<KeyRecord[]> {
    const keys = this.#all<KeyRecord>("keys").filter(
      (key) => account === undefined || key.account === account,
    );
    return keys.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  readAccount(account: string): AccountRecord | undefined {
    const bytes = this.#readable().get("accounts", Buffer.from(account));
    return bytes && unpackJson<AccountRecord>(bytes);
  }
  changeAccount: Store["changeAccount"] = (account, monthlyLimit, _month, note, onlyNew) =>
    this.#noted(changeAccount(account, monthlyLimit, onlyNew), note);

  listAccounts = async (): Promise<AccountRecord[]> => this.#all<AccountRecord>("accounts");

  addKey: Store["addKey"] = async (record, approval, note) => this.#noted(addKey(record, approval), note);
  changeKey: Store["changeKey"] = (id, change, note) => this.#noted(changeKey(id, change), note);
  changeGrant: Store["changeGrant"] = (...given) => this.#commit.run(changeGrant(...given));
  removeGrants: Store["removeGrants"] = (...given) => this.#commit.run(removeGrants(...given));
  endGrants: Store["endGrants"] = (account, user, nowMs, note) =>
    this.#noted(endGrants(account, user, nowMs), note);

  async touchKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    if (uses.size > 0) await this.#commit.run(touchKeys(uses));
  }

  keysVersion = (): number => this.#keysVersion;

  readUsage(keyId: string, month: string): number {
    return unpackNumber(this.#readable().peek("counters", counterKey(keyId, month)));
  }

  readDailyUsage: Store["readDailyUsage"] = async (...given) => readDailyUsage(this.#readable(), ...given);

  raiseUsage: Store["raiseUsage"] = (...given) => this.#commit.run(raiseUsage(...given));
  addKeyRequest = (request: KeyRequest): Promise<boolean> => this.#commit.run(addKeyRequest(request));

  async listKeyRequests(): Promise<KeyRequest[]> {
    return this.#all<KeyRequest>("key-requests").sort((a, b) => a.createdAtMs - b.createdAtMs);
  }

  decideKeyRequest: Store["decideKeyRequest"] = (id, decision, note) =>
    this.#noted(decideKeyRequest(id, decision), note);
  deleteKeyRequest: Store["deleteKeyRequest"] = (id, note) =>
    this.#noted(deleteKeyRequest(id, this.clock.now()), note);

  /** A full disk may still have room for these few bytes, so a commit that failed moments ago counts too. */
  async probe(): Promise<void> {
    const failure = this.#commit.recentFailure;
    if (failure !== undefined) throw failure;
    this.readStamp("@probe", "@probe");
    await this.#commit.run((writer) => writer.put("meta", PROBE, packNumber(this.clock.now())));
  }

  statistics(): StoreStatistics {
    const environment = this.#readable();
    const users = unpackNumber(environment.get("counters", Buffer.from(USERS)));
    return {
      facts:
        environment.entryCount("facts") -
        users -
        unpackNumber(environment.get("counters", Buffer.from(PLACES))),
      users,
      sizeBytes: environment.sizeBytes,
    };
  }

  async sweep(nowMs: number): Promise<readonly EndedFact[]> {
    await this.#shortenHistories(nowMs);
    await this.#commit.run(keepClock(this.clock, this.#warn));
    while ((await this.#commit.run(sweepExpired(nowMs, PAGE))) === PAGE);
    while ((await this.#commit.run(sweepAudit(nowMs, PAGE))) === PAGE);
    const swept: EndedFact[] = [];
    while ((this.nextEndMs() ?? Number.POSITIVE_INFINITY) <= nowMs)
      swept.push(...(await this.endFacts(nowMs)));
    return swept;
  }

  async endFacts(nowMs: number): Promise<readonly EndedFact[]> {
    const ended = dueFacts(this.#readable(), nowMs, ENDS_PAGE).map((due) => {
      const { account, userId } = elementAt(due, 0);
      return this.#commit.run(endFacts(due, nowMs, this.historyMax), userName(account, userId));
    });
    return (await Promise.all(ended)).flat();
  }

  nextEndMs = (): number | undefined => nextEndIn(this.#readable());

  findDamage = () => findDamage(() => this.#readable());

  /** Rewrites the store without the bytes of what was forgotten or overwritten before it began. */
  async compact(progress?: Progress): Promise<CompactReport> {
    await this.#shortenHistories(this.clock.now());
    return this.#copies.compact(progress);
  }

  async #shortenHistories(nowMs: number): Promise<void> {
    await shortenHistories(this.#commit, this.#readable(), { historyMax: this.historyMax, nowMs });
  }

  /**
   * A consistent copy while requests go on: the new folder is a data folder that can be opened.
   * @param beforeNaming adds what else belongs in the folder; until the store is named, the folder is no backup
   */
  backup(folder: string, beforeNaming: () => void = () => {}, progress?: Progress): Promise<BackupReport> {
    return this.#copies.backUp(folder, beforeNaming, progress);
  }

  /** When something was first forgotten since the last compaction. */
  forgottenSinceMs(): number | undefined {
    const bytes = this.#readable().get("meta", FORGOTTEN);
    return bytes && unpackNumber(bytes);
  }

  /** A compaction or backup in progress is given up, and its copy is removed. */
  async close(): Promise<void> {
    this.#copies.stop();
    await this.#commit.close();
    await this.#copies.ended();
    await this.#inUse.environment.close(this.isOwner);
    this.#lock.release();
  }

  #all<T>(table: TableName): T[] {
    return this.#readable()
      .entries(table)
      .map(({ value }) => unpackJson<T>(value));
  }
}

function openEnvironment(folder: string, name: string, metrics: Metrics): Environment {
  return new Environment(join(folder, name), () => metrics.add(CORRUPT_RECORDS));
}

function causeText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
