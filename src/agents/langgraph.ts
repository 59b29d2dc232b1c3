/**
 * LangGraph: facts as a BaseStore. The namespace is [user, group], the key is the name, the value is
 * { value: text }: put(["ada", "USER"], "name", { value: "Ada" }) is the fact USER.name of the user ada.
 *
 * The operations of a batch take effect in their order. The facts that it writes for one user are stored all or none; what
 * it forgets (a put of null, or delete) follows, one fact at a time. What BaseStore promises and a label cannot hold is
 * refused before anything is sent: other namespaces and values, a search by meaning, an index. A label that is not there
 * is made, also one that is a slip away from another: a program has no one to ask.
 */

import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { AgentCallOptions } from "../agent-side/agent-memory.ts";
import { requireOffered } from "../agent-side/memory-tools.ts";
import { sanitizeValue } from "../agent-side/secrets.ts";
import { LABEL_FORM } from "../base/channel-labels.ts";
import { FACT_ORIGINS, type FactOrigin } from "../base/fact-origins.ts";
import type { LabelPatterns } from "../base/label-patterns.ts";
import type { StoredFact } from "../contract/answers.ts";
import { label as asLabel, isSidebandError, type OnOutage, type Sideband } from "../sdk/index.ts";
import { checkOptions, type Kinds } from "../sdk/option-kinds.ts";
import { type AdapterOptions, callOptions, patternsOf, withFallback } from "./adapter.ts";

export interface StoreOptions
  extends Pick<
    AdapterOptions,
    "memory" | "labels" | "timeoutMs" | "allowSecrets" | "writtenBy" | "onOutage"
  > {
  /** Where the users work; as a store has no run, it is one for all. */
  project?: string | undefined;
}

const KINDS: Kinds<StoreOptions> = {
  memory: "a client",
  project: "a text",
  labels: "a list of texts",
  writtenBy: "a text",
  timeoutMs: "a number",
  onOutage: "a text",
  allowSecrets: "true or false",
};

export class SidebandStore extends BaseStore {
  readonly #memory: Sideband;
  readonly #options: AgentCallOptions;
  readonly #allowSecrets: boolean | undefined;
  readonly #writtenBy: string | undefined;
  readonly #onOutage: OnOutage;
  readonly #labels: LabelPatterns | undefined;

  constructor(options: StoreOptions) {
    super();
    checkOptions(options, KINDS);
    this.#labels = patternsOf(options);
    this.#memory = options.memory;
    this.#onOutage = options.onOutage ?? "continue";
    const { allowSecrets, writtenBy, ...call } = callOptions({ writtenBy: "langgraph", ...options });
    this.#allowSecrets = allowSecrets;
    this.#writtenBy = writtenBy;
    this.#options = { ...call, project: options.project };
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = operations.flatMap((operation) => (isPut(operation) ? [this.#change(operation)] : []));
    const users = new Set(
      operations.flatMap((operation) => (isPut(operation) ? [] : [namespaceUser(operation)])),
    );
    // Each user is read once. What a batch writes is put into what it has read, so that its later reads see it.
    const read = await Promise.all([...users].map(async (user) => [user, await this.#read(user)] as const));
    const views = new Map(read);
    let written = 0;
    const results = operations.map((operation) => {
      if (!isPut(operation)) return answer(operation, views.get(namespaceUser(operation)) ?? []);
      const change = puts[written];
      written += 1;
      const view = views.get(change.user);
      if (view !== undefined) apply(view, change);
      return null;
    });
    await this.#write(puts);
    return results as OperationResults<Op>;
  }

  /** The items of a user in the order in which they were written; none if memory is away and the graph goes on. */
  #read(user: string): Promise<Item[]> {
    const read = async () => {
      const { facts } = await this.#memory.facts(user, this.#options);
      return facts.sort((a, b) => a.revision - b.revision).map((fact) => itemOf(user, fact));
    };
    return withFallback("facts were not read", this.#onOutage, read, []);
  }

  /** @param terms `ttl`: how many minutes the item lives; otherwise as long as its label says */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    terms: PutTerms = {},
  ): Promise<void> {
    const put = { namespace, key, value, ...terms };
    await this.batch([index === undefined ? put : { ...put, index }]);
  }

  // BaseStore would leave out what it does not know of these two: it is refused (readFields).
  override async get(namespace: string[], key: string, more: object = {}): Promise<Item | null> {
    return (await this.batch([{ namespace, key, ...more }]))[0];
  }

  override async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<Item[]> {
    return (await this.batch([{ namespacePrefix, ...options }]))[0];
  }

  #change({ namespace, key, value, index, ttl, ...unknown }: PutOperation & PutTerms): ItemChange {
    const [user, group] = namespace;
    requireNoFields("put", Object.keys(unknown));
    if (namespace.length !== 2)
      throw new TypeError(
        `a fact's namespace is [user, group], such as ["ada", "USER"], not ${shown(namespace)}`,
      );
    if (!LABEL_FORM.test(`${group}.${key}`)) {
      throw new TypeError(
        `a fact's namespace is [user, group], a group of 1 to 16 of A-Z, 0-9 and _, and its key is 1 to 48 of a-z, 0-9 and _; not ${shown([group, key])}`,
      );
    }
    if (Array.isArray(index))
      throw new TypeError("facts have no index: they are found by their labels, not by their meaning");
    if (index !== undefined && index !== false)
      throw new TypeError("index is false or left out: a life comes after it, as { ttl: 90 }");
    const label = `${group}.${key}`;
    requireOffered(this.#labels, label);
    if (value === null) return { user, label, text: null };
    const { text, origin, ttl: inValue } = itemFields(value);
    const ttlS = secondsOf(ttl ?? inValue);
    return { user, label, text: sanitizeValue(text, this.#allowSecrets, label), origin, ttlS };
  }

  async #write(puts: readonly ItemChange[]): Promise<void> {
    // The last put of a label counts.
    const users = new Map<string, Map<string, ItemChange>>();
    for (const put of puts) {
      const changes = users.get(put.user) ?? new Map<string, ItemChange>();
      users.set(put.user, changes.set(put.label, put));
    }
    await Promise.all([...users].map(([user, changes]) => this.#writeUser(user, [...changes.values()])));
  }

  async #writeUser(user: string, changes: readonly ItemChange[]): Promise<void> {
    const facts = changes.flatMap(({ label, text: value, origin, ttlS }) =>
      value === null ? [] : [{ label: asLabel(label), value, newLabel: "certain" as const, origin, ttlS }],
    );
    const writer = { ...this.#options, writtenBy: this.#writtenBy };
    if (facts.length > 0) await this.#memory.encodeBatch(user, facts, writer);
    for (const { label, text } of changes) {
      if (text !== null) continue;
      await this.#memory.forget(user, asLabel(label), this.#options).catch((error) => {
        if (!isSidebandError(error, "fact_not_found") && !isSidebandError(error, "unknown_label"))
          throw error;
      });
    }
  }
}

/** What would be lost is refused. */
function requireNoFields(what: string, [field]: readonly string[]): void {
  if (field !== undefined) throw new TypeError(`a ${what} has no ${field}: it would be lost`);
}

/** Of minutes. */
function secondsOf(ttl: unknown): number | undefined {
  if (ttl === undefined) return undefined;
  if (typeof ttl === "number" && ttl > 0 && ttl < Number.POSITIVE_INFINITY) return Math.ceil(ttl * 60);
  throw new TypeError(`ttl is a number of minutes, not ${JSON.stringify(ttl)}`);
}

const shown = (names: readonly string[]) => JSON.stringify(names);

interface ItemChange {
  readonly user: string;
  readonly label: string;
  /** Null forgets. */
  readonly text: string | null;
  readonly origin?: FactOrigin | undefined;
  readonly ttlS?: number | undefined;
}

/** What LangGraph's stores take beside the fields of a put. */
export interface PutTerms {
  /** Minutes that the item lives. */
  ttl?: number | undefined;
}

function itemOf(
  user: string,
  fact: Pick<StoredFact, "label" | "value" | "updated_at"> & Pick<ItemChange, "origin">,
) {
  const { label, value, updated_at, origin } = fact;
  const [group, key] = label.split(".");
  const updatedAt = new Date(updated_at);
  // The service does not keep when a fact was first written, so createdAt is the time of its last write.
  const content = origin === undefined ? { value } : { value, origin };
  return { value: content, key, namespace: [user, group], createdAt: updatedAt, updatedAt } satisfies Item;
}

function apply(items: Item[], { user, label, text, origin }: ItemChange): void {
  const at = items.findIndex(({ namespace, key }) => `${namespace[1]}.${key}` === label);
  if (text === null) {
    if (at >= 0) items.splice(at, 1);
    return;
  }
  const item = itemOf(user, { label, value: text, updated_at: new Date().toISOString(), origin });
  items.splice(at < 0 ? items.length : at, 1, item);
}

/** The user that a read is about. */
function namespaceUser(operation: GetOperation | SearchOperation | ListNamespacesOperation): string {
  const [what, known] = readFields(operation);
  requireNoFields(
    what,
    Object.keys(operation).filter((name) => !known.includes(name)),
  );
  if (isSearch(operation)) {
    if (operation.query)
      throw new TypeError("facts are found by their labels, not by their meaning: search without a query");
    if (operation.namespacePrefix.length > 0) return operation.namespacePrefix[0];
    throw new TypeError("facts are searched for one user: the prefix begins with the user");
  }
  if (isGet(operation)) return operation.namespace[0];
  const user = operation.matchConditions?.find(
    ({ matchType, path }) => matchType === "prefix" && path[0] !== "*",
  )?.path[0];
  if (user === undefined) throw new TypeError("namespaces are listed for one user: pass prefix: [user]");
  return user;
}

/** What a read takes. */
function readFields(
  operation: GetOperation | SearchOperation | ListNamespacesOperation,
): readonly [string, readonly string[]] {
  if (isSearch(operation)) return ["search", ["namespacePrefix", "filter", "limit", "offset", "query"]];
  if (isGet(operation)) return ["get", ["namespace", "key"]];
  return ["list of namespaces", ["matchConditions", "maxDepth", "limit", "offset"]];
}

/** A field that would be lost is refused. In a graph's node LangGraph leaves out all of a put but its value: a life may be there. */
function itemFields({ value: text, origin, ttl, ...rest }: Record<string, unknown>) {
  const known = FACT_ORIGINS.find((one) => one === origin);
  if (typeof text === "string" && known === origin && Object.keys(rest).length === 0)
    return { text, origin: known, ttl };
  throw new TypeError(
    `a fact is written as { value: "text" }, its origin where it is known (${FACT_ORIGINS.join(", ")}), and its ttl in minutes where it ends, with no other field; a label holds one text`,
  );
}

function answer(
  operation: GetOperation | SearchOperation | ListNamespacesOperation,
  items: readonly Item[],
): unknown {
  if (isSearch(operation)) return search(operation, items);
  if (!isGet(operation)) return listNamespaces(operation, items);
  const { namespace, key } = operation;
  return items.find((item) => item.key === key && isAt(item.namespace, namespace)) ?? null;
}

function isAt(namespace: readonly string[], other: readonly string[]): boolean {
  return namespace.length === other.length && namespace.every((part, i) => part === other[i]);
}

function search(
  { namespacePrefix, filter = {}, limit = 10, offset = 0 }: SearchOperation,
  items: readonly Item[],
): Item[] {
  const groups = [...new Set(items.map(({ namespace }) => namespace[1]))];
  return groups
    .flatMap((group) => items.filter(({ namespace }) => namespace[1] === group))
    .filter(({ namespace }) => namespacePrefix.every((part, i) => namespace[i] === part))
    .filter(({ value }) => Object.entries(filter).every(([name, wanted]) => matches(value[name], wanted)))
    .slice(offset, offset + limit);
}

const COMPARISONS: Readonly<Record<string, (value: unknown, operand: unknown) => boolean>> = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
  $gt: (value, operand) => Number(value) > Number(operand),
  $gte: (value, operand) => Number(value) >= Number(operand),
  $lt: (value, operand) => Number(value) < Number(operand),
  $lte: (value, operand) => Number(value) <= Number(operand),
  $in: (value, operand) => Array.isArray(operand) && operand.includes(value),
  $nin: (value, operand) => !Array.isArray(operand) || !operand.includes(value),
};

/** LangGraph's filters: a value, or operators. */
function matches(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  const operators = Object.entries(wanted);
  if (!operators.every(([name]) => Object.hasOwn(COMPARISONS, name))) return false;
  return operators.every(([name, operand]) => COMPARISONS[name](value, operand));
}

function listNamespaces(operation: ListNamespacesOperation, items: readonly Item[]): string[][] {
  const { matchConditions = [], maxDepth = 2, limit = Number.POSITIVE_INFINITY, offset = 0 } = operation;
  const namespaces = items
    .map(({ namespace }) => namespace)
    .filter((namespace) => matchConditions.every((condition) => meets(namespace, condition)))
    .map((namespace) => namespace.slice(0, maxDepth).join("\0"));
  return [...new Set(namespaces)]
    .sort((a, b) => a.localeCompare(b))
    .slice(offset, offset + limit)
    .map((text) => text.split("\0"));
}

function meets(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((part, i) => part === "*" || part === namespace[from + i]);
}

// LangGraph itself also distinguishes the operations by their fields.
function isPut(operation: Operation): operation is PutOperation {
  return "value" in operation;
}

function isSearch(operation: Operation): operation is SearchOperation {
  return "namespacePrefix" in operation;
}

function isGet(operation: Operation): operation is GetOperation {
  return "namespace" in operation && "key" in operation;
}
