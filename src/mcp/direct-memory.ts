/**
 * The memory layer as an agent's memory, without HTTP in between: for /mcp on the service, where the caller is
 * known by its key. The rules are the same, and so are the answers; what the key is not for is refused here, too.
 */

import type { AgentMemory, AgentWriteOptions, AgentWriterOptions } from "../agent-side/agent-memory.ts";
import type { Requester } from "../base/accounts.ts";
import { groupsOf } from "../base/groups.ts";
import { inSlices } from "../base/slices.ts";
import { channelsView } from "../http/routes/account.ts";
import {
  contextAnswer,
  decodeAnswer,
  detailedEncodeAnswer,
  factDetails,
  factsAnswer,
  flushAnswer,
  forgetAnswer,
  readAnswer,
  sectionFields,
} from "../http/routes/answer-mapping.ts";
import { fittedContext } from "../http/routes/context-budget.ts";
import { findAnswer, historyAnswer, labelAnswer } from "../http/routes/life-mapping.ts";
import type { McpVisit } from "../http/services.ts";
import { auditedMemory } from "../memory/audit.ts";
import type { Caller } from "../memory/authentication.ts";
import { readContext } from "../memory/context.ts";
import { decodeFact } from "../memory/decode.ts";
import { encodeFacts } from "../memory/encode.ts";
import { forgetFact, listFacts } from "../memory/facts.ts";
import { FOUND_DEFAULT, findUserFacts } from "../memory/find.ts";
import { flushUser } from "../memory/flush.ts";
import { seenBy } from "../memory/group-view.ts";
import { factHistory, restoreFact } from "../memory/history.ts";
import { addLabel } from "../memory/label-terms.ts";
import { changeList } from "../memory/lists.ts";
import { readPresentedBlock } from "../memory/reading.ts";
import { renameFact } from "../memory/rename.ts";
import {
  allowedUser,
  requireAllGroups,
  requireAllLabels,
  requireWholeAccount,
  requireWriteAccess,
} from "../memory/rights.ts";
import type { MemoryServices } from "../memory/services.ts";

/** A caller whose block work ends with its signal. */
type MemoryCaller = Caller & Pick<Requester, "signal">;

/** What a client is told of an error. */
type FailureOf = (error: unknown) => Error;

export function directMemory(
  services: MemoryServices,
  caller: MemoryCaller,
  failureOf: FailureOf,
  audit: McpVisit["audit"],
): AgentMemory {
  const { account } = caller;
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      // A request may have a hundred calls: each waits for its own turn.
      await services.turns.next(account);
      caller.signal?.throwIfAborted();
      return await work();
    } catch (error) {
      // Work that ended because its client has gone did not fail.
      throw caller.signal?.aborted ? error : failureOf(error);
    }
  };
  return {
    ...reads(services, caller, (named, work) => run(async () => work(allowedUser(caller, named)))),
    ...writes({ services, caller, audit }, (named, work) =>
      run(async () => {
        requireWriteAccess(caller);
        return work(allowedUser(caller, named));
      }),
    ),
    channels: () => run(async () => channelsView(await services.labels.of(account), caller)),
    addLabel: (label, terms, options) =>
      run(async () => {
        requireWriteAccess(caller);
        requireWholeAccount(caller);
        requireAllGroups(caller);
        requireAllLabels(caller);
        const { description, example = "", scope = null, hidden = false } = terms;
        const { oneOf = null, maxBytes = null, ttlS = null } = terms;
        const wanted = { label, description, example, oneOf, maxBytes, ttlS, scope, hidden };
        const author = { keyId: caller.keyId, writtenBy: options?.writtenBy };
        const noted = auditedMemory(services, audit("addLabel", { label }));
        return labelAnswer((await addLabel(noted, account, wanted, author)).terms);
      }),
  };
}

/** Does something for a user, by the name in a call. */
type ForUser = <T>(named: string, work: (userId: string) => Promise<T>) => Promise<T>;

function reads(services: MemoryServices, caller: MemoryCaller, read: ForUser) {
  const { account } = caller;
  return {
    decode: (user, label, { project } = {}) =>
      read(user, async (userId) => {
        const decoded = await decodeFact(services, account, { userId, label, project });
        return { ...decodeAnswer(decoded), ...factDetails(decoded) };
      }),
    facts: (user, { project } = {}) =>
      read(user, async (userId) => {
        const facts = await listFacts(services, account, { userId, project });
        return inSlices(factsAnswer(userId, facts, project), () => services.turns.next(account));
      }),
    find: (user, query, { project, limit = FOUND_DEFAULT, everywhere } = {}) =>
      read(user, async (userId) => {
        const input = { userId, query, project, limit, everywhere };
        return findAnswer(userId, query, await findUserFacts(services, account, input));
      }),
    context: (user, { project, include, maxTokens, groups } = {}) =>
      read(user, async (userId) => {
        const seen = seenBy(services, groupsOf(groups));
        const whole = await readContext(seen, caller, { userId, project }, include);
        const nowMs = services.clock.now();
        const form = { account, include, nowMs };
        const context =
          maxTokens === undefined ? whole : await fittedContext(services, whole, { ...form, maxTokens });
        return { ...contextAnswer(context, include), ...sectionFields(context, nowMs) };
      }),
    flush: (user, { project } = {}) =>
      read(user, async (userId) => flushAnswer(await flushUser(services, caller, { userId, project }))),
    read: (user, block, { project } = {}) =>
      read(user, async (userId) =>
        readAnswer(userId, await readPresentedBlock(services, caller, { userId, project, block })),
      ),
    history: (user, label, { project, scope } = {}) =>
      read(user, async (userId) =>
        historyAnswer(userId, await factHistory(services, account, { userId, label, project, scope })),
      ),
  } satisfies Partial<AgentMemory>;
}

interface WriteParts {
  readonly services: MemoryServices;
  readonly caller: MemoryCaller;
  readonly audit: McpVisit["audit"];
}

function writes({ services, caller, audit }: WriteParts, write: ForUser) {
  return {
    encode: (user, label, value, options) =>
      write(user, async (userId) => {
        const facts = [{ label, value, ...termsOf(options) }];
        const input = { ...writerOf(userId, options), facts, operation: "encode" } as const;
        return detailedEncodeAnswer(await encodeFacts(services, caller, input));
      }),
    append: (user, label, item, options) =>
      write(user, async (userId) => {
        const input = { ...writerOf(userId, options), label, item, ...termsOf(options) };
        return detailedEncodeAnswer(await changeList(services, caller, "append", input));
      }),
    forget: (user, label, { project, scope, keepHistory } = {}) =>
      write(user, async (userId) => {
        const input = { userId, label, project, scope, keepHistory };
        const of = { user: userId, label, ...(project && { project }) };
        const noted = keepHistory ? services : auditedMemory(services, audit("forgetFact", of));
        return forgetAnswer(await forgetFact(noted, caller.account, input));
      }),
    restore: (user, label, revision, options = {}) =>
      write(user, async (userId) => {
        const { ifRevision, scope } = options;
        const input = { ...writerOf(userId, options), label, revision, ifRevision, scope };
        return detailedEncodeAnswer(await restoreFact(services, caller, input));
      }),
    rename: (user, label, to, options = {}) =>
      write(user, async (userId) => {
        const { merge, ifRevision } = options;
        const input = { ...writerOf(userId, options), label, to, merge, ifRevision };
        return detailedEncodeAnswer(await renameFact(services, caller, input));
      }),
  } satisfies Partial<AgentMemory>;
}

function writerOf(userId: string, { project, writtenBy, sessionId }: AgentWriterOptions = {}) {
  return { userId, project, writtenBy, sessionId };
}

function termsOf({ scope, ttlS, expiresAt, newLabel, ifRevision, origin, pinned }: AgentWriteOptions = {}) {
  return { scope, ttlS, expiresAt, newLabel, ifRevision, origin, pinned };
}
