/** /demo/*: the public state that everyone shares, and the sandboxes. The access check has made sure that there is a demo. */

import { readContext } from "../../memory/context.ts";
import { decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { DEMO_ACCOUNT, DEMO_REQUESTER } from "../../memory/demo.ts";
import { forgetFact } from "../../memory/facts.ts";
import { flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import { withDemoReset } from "../request/answer.ts";
import { type Call, requesterOf } from "../request/call.ts";
import { isTrue } from "../request/preferences.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import {
  decodeAnswer,
  encodeAnswer,
  flushAnswer,
  forgetAnswer,
  modelDecodeAnswer,
  readAnswer,
} from "./answer-mapping.ts";
import type { ContextAnswers } from "./recall.ts";

/** The format version that every reader knows. */
const PLAIN_VERSION = 1;

const asDemo = (call: Pick<Call, "signal">) => requesterOf(call, DEMO_REQUESTER);

export function demoRoutes({ memory, demo }: HttpServices, contexts: ContextAnswers) {
  /** The user that a call is about. A sandbox has a reset of its own. */
  const userOf = async (call: Pick<Call, "headers"> & { readonly query: { readonly sandbox?: string } }) => {
    const { sandbox } = call.query;
    const userId = await demo!.userOf(sandbox);
    if (sandbox !== undefined) call.headers = withDemoReset(call.headers, await demo!.endsInS(sandbox));
    return userId;
  };
  return {
    async demoEncode(call) {
      const { label, value } = call.body;
      return encodeAnswer(await demo!.encode(label, value, await userOf(call)));
    },

    async demoContext(call) {
      const context = await readContext(memory, asDemo(call), { userId: await userOf(call) });
      return contexts.answerOf(call, context);
    },

    async demoDecode(call) {
      const { label, use_model: useModel } = call.query;
      const input = { userId: await userOf(call), label };
      if (!isTrue(useModel)) return decodeAnswer(await decodeFact(memory, DEMO_ACCOUNT, input));
      return modelDecodeAnswer(await decodeThroughModel(memory, asDemo(call), input));
    },

    async demoFlush(call) {
      return flushAnswer(await flushUser(memory, asDemo(call), { userId: await userOf(call) }));
    },

    async demoRead(call) {
      const input = { userId: await userOf(call), block: call.body.block };
      return readAnswer(input.userId, await readPresentedBlock(memory, asDemo(call), input));
    },

    async demoForget(call) {
      const input = { userId: await userOf(call), label: call.query.label };
      return forgetAnswer(await forgetFact(memory, DEMO_ACCOUNT, input));
    },

    async demoReset(call) {
      await demo!.reset(await userOf(call));
      return { status: "ok", channel_count: 0 };
    },

    /** The demo's key and no other: the account is a constant, and nothing of the request comes into it. */
    async demoKey(call) {
      const keys = memory.keyRing.reading(DEMO_ACCOUNT).map(({ id, material }) => ({
        key_id: id,
        material: Buffer.from(material).toString("base64"),
      }));
      const versions = [...new Set([memory.blockWork.version, PLAIN_VERSION])];
      return { user_id: await userOf(call), keys, versions };
    },
  } satisfies Partial<Handlers>;
}
