/** /demo/*: the public state that everyone shares. The access check has made sure that there is a demo. */

import {
  decodeAnswer,
  encodeAnswer,
  flushAnswer,
  modelDecodeAnswer,
  readAnswer,
} from "../../contract/answer-mapping.ts";
import { readContext } from "../../memory/context.ts";
import { decodeFact, decodeThroughModel } from "../../memory/decode.ts";
import { DEMO_ACCOUNT, DEMO_ASKER, DEMO_USER } from "../../memory/demo.ts";
import { flushUser } from "../../memory/flush.ts";
import { readPresentedBlock } from "../../memory/reading.ts";
import { askerOf } from "../request/call.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";
import type { ContextAnswers } from "./context-answers.ts";
import { asksForModel } from "./recall.ts";

type DemoOperation =
  | "demoEncode"
  | "demoContext"
  | "demoDecode"
  | "demoFlush"
  | "demoRead"
  | "demoReset"
  | "demoKey";

/** The format version that every reader knows. */
const PLAIN_VERSION = 1;

export function demoRoutes(
  { memory, demo }: HttpServices,
  contexts: ContextAnswers,
): Handlers<DemoOperation> {
  return {
    async demoEncode(call) {
      const { label, value } = call.body;
      return encodeAnswer(await demo!.encode(label, value));
    },

    async demoContext(call) {
      return contexts.answerOf(call, await readContext(memory, askerOf(call, DEMO_ASKER), DEMO_USER));
    },

    async demoDecode(call) {
      const { label, use_model: useModel } = call.query;
      const input = { userId: DEMO_USER, label };
      if (!asksForModel(useModel)) return decodeAnswer(await decodeFact(memory, DEMO_ACCOUNT, input));
      return modelDecodeAnswer(await decodeThroughModel(memory, askerOf(call, DEMO_ASKER), input));
    },

    async demoFlush(call) {
      return flushAnswer(await flushUser(memory, askerOf(call, DEMO_ASKER), { userId: DEMO_USER }));
    },

    async demoRead(call) {
      const input = { userId: DEMO_USER, block: call.body.block };
      return readAnswer(DEMO_USER, await readPresentedBlock(memory, askerOf(call, DEMO_ASKER), input));
    },

    async demoReset() {
      await demo!.reset();
      return { status: "ok", channel_count: 0 };
    },

    /** The demo's key and no other: the account is a constant, and nothing of the request comes into it. */
    demoKey() {
      const keys = memory.keyRing.reading(DEMO_ACCOUNT).map(({ id, material }) => ({
        key_id: id,
        material: Buffer.from(material).toString("base64"),
      }));
      return { user_id: DEMO_USER, keys, versions: [...new Set([memory.blockWork.version, PLAIN_VERSION])] };
    },
  };
}
