/**
 * The memories of one account that somebody listens to. However many listen to a memory, it is watched once.
 */

import type { AgentMemory } from "../contract/agent-memory.ts";
import { isIdentifier } from "../memory/identifiers.ts";
import { userOfUri } from "./memory-uri.ts";
import { type Watch, watchMemory } from "./watch.ts";

/** How many memories one client may listen to. */
export const WATCHED_MAX = 16;

export class SharedWatches {
  readonly #watches = new Map<string, { readonly watch: Watch; holders: number }>();
  readonly #onChange: (uri: string) => void;

  constructor(onChange: (uri: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches the memory at `uri` until the function that it returns is called. */
  hold(uri: string, memory: AgentMemory): () => void {
    const known = this.#watches.get(uri);
    const entry = known ?? {
      watch: watchMemory(memory, userOfUri(uri)!, () => this.#onChange(uri)),
      holders: 0,
    };
    if (known === undefined) this.#watches.set(uri, entry);
    entry.holders += 1;
    return () => {
      entry.holders -= 1;
      if (entry.holders > 0) return;
      entry.watch.stop();
      this.#watches.delete(uri);
    };
  }

  /** Resolves when no change of a memory that is watched can be missed any more. */
  async check(uri: string): Promise<void> {
    await this.#watches.get(uri)?.watch.check();
  }
}

/** Whether a server, bound to a user or not, has a memory at `uri` that can change. */
export function isWatchable(uri: string, boundUser: string | undefined): boolean {
  const user = userOfUri(uri);
  return user !== undefined && (boundUser === undefined ? isIdentifier(user) : user === boundUser);
}
