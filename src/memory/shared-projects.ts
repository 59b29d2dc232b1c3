/**
 * The projects that an account shares, as a node knows them: kept until the store says that something has changed, as
 * labels are. Where a project is known as shared, the store is asked each time whether it still is, and by whom: whoever was
 * removed sees nothing from the next request on, on any node.
 */

import { BoundedCache } from "../base/bounded-cache.ts";
import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { isMember } from "./law/sharing.ts";
import { type Person, viewOf, withShared } from "./places.ts";
import type { KeyStore, ProjectStore, View } from "./ports.ts";
import type { ProjectRecord } from "./records.ts";

const CACHE_ENTRIES_MAX = 10_000;

type Records = ReadonlyMap<string, ProjectRecord>;

export class SharedProjects {
  readonly #store: Pick<ProjectStore, "readProjects"> & Pick<KeyStore, "keysVersion">;
  readonly #cache = new BoundedCache<Records>({ entriesMax: CACHE_ENTRIES_MAX });
  #version: number | undefined;

  constructor(store: Pick<ProjectStore, "readProjects"> & Pick<KeyStore, "keysVersion">) {
    this.#store = store;
  }

  /** By name. @param isNow whether another node has changed something is asked now */
  of(account: string, isNow = false): MaybePromise<Records> {
    return andThen(this.#store.keysVersion(isNow), (version) => {
      if (version !== this.#version) this.#cache.clear();
      this.#version = version;
      return this.#cache.peek(account) ?? this.#read(account, version);
    });
  }

  /** A project that a user shares. */
  sharedBy(account: string, userId: string, project: string): MaybePromise<ProjectRecord | undefined> {
    return andThen(this.of(account), (known) => {
      if (!known.has(project)) return undefined;
      return andThen(this.of(account, true), (now) => {
        const record = now.get(project);
        return record !== undefined && isMember(record, userId) ? record : undefined;
      });
    });
  }

  #read(account: string, version: number): MaybePromise<Records> {
    return andThen(this.#store.readProjects(account), (all) => {
      const records = new Map(all.map((record) => [record.project, record]));
      if (version === this.#version) this.#cache.set(account, records);
      return records;
    });
  }
}

/** The view of a call, with what is shared in its project where its user shares it. */
export function viewFor(
  { projects, clock }: { readonly projects: SharedProjects; readonly clock: Clock },
  account: string,
  person: Person,
): MaybePromise<View> {
  const view = viewOf(account, person, clock.now());
  if (person.project === undefined) return view;
  const [project] = person.project.split("/") as [string];
  return andThen(projects.sharedBy(account, person.userId, project), (record) =>
    record === undefined ? view : { ...view, places: withShared(view.places, project), shared: { project } },
  );
}
