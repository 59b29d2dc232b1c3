/** A fact under another label. The law moves it with its history in one step (law/renames.ts). It does not count as a write. */

import { Failure, invalidRequest } from "../base/errors.ts";
import type { Caller } from "./authentication.ts";
import { type EncodeResult, type WriteInput, writeFacts } from "./encode.ts";
import { namedLabel, writtenLabel } from "./free-labels.ts";
import type { MemoryServices } from "./services.ts";
import { viewFor } from "./shared-projects.ts";

export interface RenameInput extends WriteInput {
  readonly label: string;
  readonly to: string;
  /** Makes a list of both where the other label has a fact. */
  readonly merge?: "append" | undefined;
  readonly ifRevision?: number | undefined;
}

export async function renameFact(
  services: MemoryServices,
  caller: Caller,
  input: RenameInput,
): Promise<EncodeResult> {
  const { userId, project, label, to, merge, ifRevision } = input;
  const view = await viewFor(services, caller.account, input);
  if (label === to) throw invalidRequest("to", "to must be another label.");
  const { free } = await namedLabel(services, view, label);
  const target = await targetOf(() => writtenLabel(services, view, { label: to, newLabel: "certain" }));
  const { places } = view;
  const { terms, free: toFree } = target;
  return writeFacts(services, caller, input, view, {
    changes: [
      { kind: "rename", label, places, free, to, terms, toFree, merge: merge === "append", ifRevision },
    ],
    label: to,
    isCounted: false,
    fingerprinted: ["rename", userId, [label, to, merge, ifRevision], project ?? null],
  });
}

/** What is wrong with the other label is said of the field `to`. */
async function targetOf<T>(find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Failure) || error.extra.param !== "label") throw error;
    throw new Failure(error.code, error.message, { ...error.extra, param: "to" });
  }
}
