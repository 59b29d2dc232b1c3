/**
 * The last requests with a key that this process answered, for the operator's console. Bounded, in memory, and with
 * nothing of the request but its method, route and id: no address, no query, no body. A request costs one slot that is
 * used again, because this is on the way of every one.
 */

import type { RecentRequest } from "../../contract/admin-schemas.ts";
import type { Call } from "./call.ts";

const REQUESTS_MAX = 100;

interface Slot {
  atMs: number;
  method: string;
  route: string;
  status: number;
  account: string;
  keyId: string;
  id: string;
}

export class RecentRequests {
  readonly #slots: Slot[] = [];
  #next = 0;

  /** The newest first. */
  list(): RecentRequest[] {
    const count = this.#slots.length;
    return this.#slots
      .map((_, i) => this.#slots[(this.#next - 1 - i + 2 * count) % count])
      .map(({ atMs, method, route, status, account, keyId, id }) => ({
        at: new Date(atMs).toISOString(),
        method,
        route,
        status,
        account,
        key_id: keyId,
        request_id: id,
      }));
  }

  add({ caller, method, routePath, id }: Call, status: number, nowMs: number): void {
    if (caller === undefined) return;
    const slot = this.#slots[this.#next] ?? ({} as Slot);
    this.#slots[this.#next] = slot;
    slot.atMs = nowMs;
    slot.method = method;
    slot.route = routePath;
    slot.status = status;
    slot.account = caller.account;
    slot.keyId = caller.keyId;
    slot.id = id;
    this.#next = (this.#next + 1) % REQUESTS_MAX;
  }
}
