/**
 * LangGraph: facts as a BaseStore. The namespace is [user, group], the key is the name, the value is
 * { value: text }: put(["ada", "USER"], "name", { value: "Ada" }) is the fact USER.name of the user ada.
 *
 * Reads of a batch see the state before its writes, as with the stores of LangGraph itself; the writes of one
 * user are stored all or none. A put of null, or delete, forgets. There is no semantic search: `query` is ignored,
 * as in any store without an index.
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
import type { StoredFact } from "../contract/answers.ts";
import { isSidebandError, type Sideband } from "../sdk/index.ts";
import { type AdapterOptions, callOptions, withFallback } from "./adapter.ts";

export class SidebandStore extends BaseStore {
  readonly #memory: Sideband;
  readonly #options: { timeoutMs: number };

  constructor({ memory, ...rest }: Pick<AdapterOptions, "memory" | "timeoutMs">) {
    super();
    this.#memory = memory;
    this.#options = callOptions(rest);
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const facts = this.#reader();
    const results = await Promise.all(operations.map((operation) => this.#answer(operation, facts)));
    await this.#write(operations.filter(isPut));
    return results as OperationResults<Op>;
  }

  async #answer(operation: Operation, facts: (user: string) => Promise<Item[]>): Promise<unknown> {
    if (isPut(operation)) return undefined;
    if (isSearch(operation)) return search(operation, await facts(userOf(operation.namespacePrefix)));
    if (isGet(operation)) {
      const { namespace, key } = operation;
      const items = await facts(userOf(namespace));
      return (
        items.find((item) => item.key === key && item.namespace.join("\0") === namespace.join("\0")) ?? null
      );
    }
    return listNamespaces(operation, await facts(userOf(prefixOf(operation))));
  }

  /** Reads each user once for a batch. */
  #reader(): (user: string) => Promise<Item[]> {
    const reads = new Map<string, Promise<Item[]>>();
    return (user) => {
      let read = reads.get(user);
      if (read === undefined) {
        const none: StoredFact[] = [];
        const facts = withFallback(
          "facts were not read",
          async () => (await this.#memory.facts(user, this.#options)).facts,
          none,
        );
        read = facts.then((list) => list.map((fact) => itemOf(user, fact)));
        reads.set(user, read);
      }
      return read;
    };
  }

  async #write(puts: readonly PutOperation[]): Promise<void> {
    // The last put of a label counts.
    const users = new Map<string, Map<string, string | null>>();
    for (const put of puts) {
      const user = userOf(put.namespace);
      const changes = users.get(user) ?? new Map<string, string | null>();
      users.set(user, changes.set(labelOf(put), textOf(put)));
    }
    await Promise.all(
      [...users].map(([user, changes]) =>
        withFallback("facts were not written", () => this.#writeUser(user, [...changes]), undefined),
      ),
    );
  }

  async #writeUser(user: string, changes: readonly [label: string, value: string | null][]): Promise<void> {
    const facts = changes.flatMap(([label, value]) => (value === null ? [] : [{ label, value }]));
    if (facts.length > 0) await this.#memory.encodeBatch(user, facts, this.#options);
    for (const [label, value] of changes) {
      if (value !== null) continue;
      await this.#memory.forget(user, label, this.#options).catch((error) => {
        if (!isSidebandError(error, "fact_not_found")) throw error;
      });
    }
  }
}

function itemOf(user: string, { label, value, updated_at }: StoredFact): Item {
  const [group, key] = label.split(".");
  const updatedAt = new Date(updated_at);
  // The service does not keep when a fact was first written, so createdAt is the time of its last write.
  return { value: { value }, key, namespace: [user, group], createdAt: updatedAt, updatedAt };
}

function userOf(namespace: readonly string[]): string {
  if (namespace.length === 0) throw new TypeError("a namespace begins with the user: [user, group]");
  return namespace[0];
}

function labelOf({ namespace, key }: PutOperation): string {
  if (namespace.length !== 2)
    throw new TypeError("a fact's namespace is [user, group], for example [user, USER]");
  return `${namespace[1]}.${key}`;
}

function textOf({ value }: PutOperation): string | null {
  if (value === null) return null;
  if (typeof value.value !== "string") throw new TypeError('a fact is written as { value: "text" }');
  return value.value;
}

function search(
  { namespacePrefix, filter = {}, limit = 10, offset = 0 }: SearchOperation,
  items: Item[],
): Item[] {
  return items
    .filter(({ namespace }) => namespacePrefix.every((part, i) => namespace[i] === part))
    .filter(({ value }) => Object.entries(filter).every(([name, wanted]) => matches(value[name], wanted)))
    .slice(offset, offset + limit);
}

/** LangGraph's filters: a value, or { $eq, $ne }. */
function matches(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  return Object.entries(wanted).every(([operator, operand]) => {
    if (operator === "$eq") return value === operand;
    if (operator === "$ne") return value !== operand;
    throw new TypeError(`facts are texts: the filter ${operator} is not known`);
  });
}

function prefixOf({ matchConditions = [] }: ListNamespacesOperation): string[] {
  const user = matchConditions.find(({ matchType, path }) => matchType === "prefix" && path[0] !== "*")
    ?.path[0];
  if (user === undefined) throw new TypeError("namespaces are listed for one user: pass prefix: [user]");
  return [user];
}

function listNamespaces(operation: ListNamespacesOperation, items: readonly Item[]): string[][] {
  const { matchConditions = [], maxDepth = 2, limit, offset } = operation;
  const namespaces = items
    .map(({ namespace }) => namespace)
    .filter((namespace) => matchConditions.every((condition) => meets(namespace, condition)))
    .map((namespace) => namespace.slice(0, maxDepth).join("\0"));
  return [...new Set(namespaces)].slice(offset, offset + limit).map((text) => text.split("\0"));
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
