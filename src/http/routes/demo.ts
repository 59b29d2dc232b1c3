/** /demo/*: the public state that everyone shares. The access hook has made sure that there is a demo. */

import type { FastifyRequest } from "fastify";
import type {
  DecodeAnswer,
  DemoEncodeBody,
  EncodeAnswer,
  FlushAnswer,
  LabelQuery,
} from "../../contract/schemas.ts";
import { readContext } from "../../memory/context.ts";
import { decodeFact } from "../../memory/decode.ts";
import { DEMO_ACCOUNT, DEMO_ASKER, DEMO_USER } from "../../memory/demo.ts";
import { flushUser } from "../../memory/flush.ts";
import type { HttpParts } from "../parts.ts";
import { whileConnected } from "../while-connected.ts";
import { flushAnswer } from "./blocks.ts";
import { sendContext } from "./recall.ts";

export function demoRoutes({ memory, demo }: HttpParts) {
  return {
    async demoEncode(request: FastifyRequest): Promise<EncodeAnswer> {
      const { label, value } = request.body as DemoEncodeBody;
      const result = await demo!.encode(label, value);
      return { status: "ok", ...result.facts[0], channel_count: result.channelCount };
    },

    demoContext: whileConnected(async (request, reply, signal) => {
      const asker = { ...DEMO_ASKER, signal };
      return sendContext(request, reply, await readContext(memory, asker, DEMO_USER));
    }),

    async demoDecode(request: FastifyRequest): Promise<DecodeAnswer> {
      const { label } = request.query as LabelQuery;
      return decodeFact(memory, DEMO_ACCOUNT, { userId: DEMO_USER, label });
    },

    demoFlush: whileConnected(async (_request, _reply, signal): Promise<FlushAnswer> => {
      return flushAnswer(await flushUser(memory, { ...DEMO_ASKER, signal }, { userId: DEMO_USER }));
    }),

    async demoReset() {
      await demo!.reset();
      return { status: "ok", channel_count: 0 };
    },
  };
}
