/** /demo/*: the public state that everyone shares. The access hook has made sure that there is a demo. */

import type { FastifyReply, FastifyRequest } from "fastify";
import type {
  DecodeAnswer,
  DemoEncodeBody,
  EncodeAnswer,
  FlushAnswer,
  LabelQuery,
} from "../../contract/schemas.ts";
import { readContext } from "../../memory/context.ts";
import { decodeFact } from "../../memory/decode.ts";
import { DEMO_ACCOUNT, DEMO_USER } from "../../memory/demo.ts";
import { flushUser } from "../../memory/flush.ts";
import type { HttpParts } from "../parts.ts";
import { flushAnswer } from "./blocks.ts";
import { sendContext } from "./recall.ts";

export function demoRoutes({ memory, demo }: HttpParts) {
  return {
    async demoEncode(request: FastifyRequest): Promise<EncodeAnswer> {
      const { label, value } = request.body as DemoEncodeBody;
      const result = await demo!.encode(label, value);
      return { status: "ok", ...result.facts[0], channel_count: result.channelCount };
    },

    async demoContext(request: FastifyRequest, reply: FastifyReply) {
      return sendContext(request, reply, await readContext(memory, DEMO_ACCOUNT, DEMO_USER));
    },

    async demoDecode(request: FastifyRequest): Promise<DecodeAnswer> {
      const { label } = request.query as LabelQuery;
      return decodeFact(memory, DEMO_ACCOUNT, { userId: DEMO_USER, label });
    },

    async demoFlush(): Promise<FlushAnswer> {
      return flushAnswer(await flushUser(memory, DEMO_ACCOUNT, { userId: DEMO_USER }));
    },

    async demoReset() {
      await demo!.reset();
      return { status: "ok", channel_count: 0 };
    },
  };
}
