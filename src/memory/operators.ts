/**
 * Who operates the service: with the admin token, through the local socket of a data folder, or by name with a token of
 * their own, `sbo_` and 43 characters. Of such a token only the SHA-256 is stored. The operators are kept until the store
 * says that one has changed: one who is removed is out at once on this node, and within five seconds on others.
 */

import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Failure } from "../base/errors.ts";
import { checkOperator } from "./identifiers.ts";
import type { Store } from "./ports.ts";
import type { AuditNote, KeyAccess, OperatorRecord } from "./records.ts";

export interface Operator {
  readonly name: string;
  /** Who reads can look at everything of the operator's, and change nothing. */
  readonly access: KeyAccess;
}

/** Whoever has the admin token. */
export const ADMIN: Operator = { name: "admin", access: "write" };
/** Whoever may open the data folder's socket. */
export const OWNER: Operator = { name: "owner", access: "write" };

const TOKEN_BYTES = 32;
const PREFIX = "sbo_";

export class Operators {
  readonly #store: Pick<Store, "operators" | "keysVersion">;
  readonly #clock: Clock;
  readonly #admins: ReadonlyMap<string, Operator>;
  #known: { readonly version: number; readonly byHash: ReadonlyMap<string, Operator> } | undefined;

  /** @param adminTokens each of them counts */
  constructor(store: Pick<Store, "operators" | "keysVersion">, clock: Clock, adminTokens: readonly string[]) {
    this.#store = store;
    this.#clock = clock;
    this.#admins = new Map(adminTokens.map((token) => [hashOfToken(token), ADMIN]));
  }

  /** The operator whose token has this hash. */
  async withHash(hash: string): Promise<Operator | undefined> {
    // Without a question to the store: the admin token counts while a database is away.
    return this.#admins.get(hash) ?? (await this.#byHash()).get(hash);
  }

  async #byHash(): Promise<ReadonlyMap<string, Operator>> {
    // Read before the list: a change in between is seen at the next call.
    const version = await this.#store.keysVersion();
    if (this.#known?.version === version) return this.#known.byHash;
    const records = await this.#store.operators.list();
    const byHash = new Map(records.map(({ hash, name, access }) => [hash, { name, access }]));
    this.#known = { version, byHash };
    return byHash;
  }

  async list(): Promise<readonly OperatorRecord[]> {
    return this.#store.operators.list();
  }

  /** The token is here and nowhere else. */
  async add(
    name: string,
    access: KeyAccess,
    audit?: AuditNote,
  ): Promise<{ token: string; record: OperatorRecord }> {
    checkOperator(name);
    if (name === ADMIN.name || name === OWNER.name)
      throw new Failure(
        "invalid_request",
        `${name} is the name of whoever has the admin token or the data folder.`,
        {
          param: "name",
        },
      );
    const token = PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
    const record = { name, access, hash: hashOfToken(token), createdAtMs: this.#clock.now() };
    if (!(await this.#store.operators.add(record, audit)))
      throw new Failure(
        "conflict",
        `There is an operator ${name}. To give them another token, remove them first.`,
        {
          param: "name",
        },
      );
    return { token, record };
  }

  async remove(name: string, audit?: AuditNote): Promise<void> {
    if (!(await this.#store.operators.remove(name, audit)))
      throw new Failure("not_found", `There is no operator ${name}.`, { param: "name" });
  }
}

export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
