/** What belongs to an account: its labels (POST, PATCH and DELETE /channels), tokens, and what a key has used. */

import { invalidRequest } from "../../base/errors.ts";
import { TOKEN_TTL_S_MAX, TOKEN_TTL_S_MIN } from "../../base/limits.ts";
import type { Caller } from "../../memory/authentication.ts";
import { addLabel, addLabelSet, changeLabel, changeStrict, removeLabel } from "../../memory/label-terms.ts";
import type { AccountLabels, LabelTerms } from "../../memory/labels.ts";
import { mayAddLabels, mayWrite } from "../../memory/rights.ts";
import { readUsage } from "../../memory/usage.ts";
import { Answer } from "../request/answer.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import { usageAnswer } from "./answer-mapping.ts";
import { labelAnswer } from "./life-mapping.ts";

export function accountRoutes({ authentication, keys }: HttpServices) {
  return {
    async addLabel(call) {
      const { label, description, example = "", scope = null, hidden = false } = call.body;
      const { one_of: oneOf = null, max_bytes: maxBytes = null, ttl_s: ttlS = null } = call.body;
      const writers = writersOf(call.body.writers);
      const wanted = { label, description, example, oneOf, maxBytes, ttlS, scope, hidden, ...writers };
      const { account, keyId } = call.caller;
      const author = { keyId, writtenBy: call.body.written_by };
      const { isNew, terms } = await addLabel(call.memory, account, wanted, author);
      return Answer.json(labelAnswer(terms), { status: isNew ? 201 : 200 });
    },

    async addLabelSet(call) {
      const { account, keyId } = call.caller;
      const { set, written_by: writtenBy } = call.body;
      const added = await addLabelSet(call.memory, account, set, { keyId, writtenBy });
      return { set, added: added.map(labelAnswer) };
    },

    async changeStrict(call) {
      const { account, keyId } = call.caller;
      const { strict } = call.body;
      await changeStrict(call.memory, account, strict, { keyId });
      return { status: "ok", strict } as const;
    },

    async changeLabel(call) {
      const { description, example, one_of: oneOf, max_bytes: maxBytes, ttl_s: ttlS, hidden } = call.body;
      const change = given({ description, example, oneOf, maxBytes, ttlS, hidden, scope: call.body.scope });
      const writers =
        call.body.writers === undefined ? {} : { writers: writersOf(call.body.writers).writers };
      const { account, keyId } = call.caller;
      return labelAnswer(
        await changeLabel(call.memory, account, call.params.label, { ...change, ...writers }, { keyId }),
      );
    },

    async removeLabel(call) {
      const { account, keyId } = call.caller;
      await removeLabel(call.memory, account, call.params.label, { keyId });
      return { status: "ok" } as const;
    },

    createToken(call) {
      const { user_id: user, access, ttl_s: ttlS, groups, write } = call.body;
      if (ttlS < TOKEN_TTL_S_MIN || ttlS > TOKEN_TTL_S_MAX)
        throw invalidRequest("ttl_s", `ttl_s must be from ${TOKEN_TTL_S_MIN} to ${TOKEN_TTL_S_MAX}.`);
      const wanted = { user, access, ttlS, groups, write };
      const { token, expiresAtMs } = authentication.newToken(call.caller, wanted);
      const answer = { token, expires_at: new Date(expiresAtMs).toISOString() };
      return Answer.json(answer, { headers: ["cache-control", "no-store"] });
    },

    async usage(call) {
      return usageAnswer(await readUsage(call.memory, call.caller));
    },

    async usageDays(call) {
      const { from, to } = keys.recentDays();
      return { from, to, days: await call.memory.store.readDailyUsage(call.caller.keyId, from, to) };
    },
  } satisfies Partial<Handlers>;
}

/** The labels of an account as a caller sees them: who added one is told to keys of the whole account. */
export function channelsView({ all, free, isStrict }: AccountLabels, caller: Caller) {
  const seen = ({ createdAtMs: _at, createdBy: _by, createdKey: _key, ...terms }: LabelTerms) => terms;
  return {
    channels: (caller.user === null ? all : all.map(seen)).map((terms) => ({
      ...labelAnswer(terms),
      ...(mayWrite(caller, terms) ? {} : { read_only: true as const }),
    })),
    ...(caller.write && { write: [...caller.write.list] }),
    free: mayAddLabels(caller) ? free : 0,
    ...(isStrict ? { strict: true } : {}),
  };
}

/** What a label keeps of who may write it: nothing where everyone may. */
function writersOf(writers: "account" | "everyone" | undefined): { writers?: "account" } {
  return writers === "account" ? { writers } : {};
}

/** Only what was sent. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
