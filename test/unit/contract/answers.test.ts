/**
 * The interfaces of the client (contract/answers.ts) and the schemas of the service (contract/schemas.ts) say the
 * same. The compiler checks it: a field that only one of them has, or has otherwise, does not compile here.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type * as answers from "../../../src/contract/answers.ts";
import type * as schemas from "../../../src/contract/schemas.ts";
import type { Static } from "../../../src/contract/type.ts";

/** True where two types are exactly the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** A type with its intersections and aliases resolved, so that only its fields count. */
type Plain<T> = T extends (infer E)[] ? Plain<E>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Equal<A, B> = Same<Plain<A>, Plain<B>>;

const equal: {
  encode: Equal<answers.EncodeAnswer & Partial<answers.WriteDetails>, Static<typeof schemas.EncodeAnswer>>;
  batch: Equal<answers.BatchAnswer, Static<typeof schemas.BatchAnswer>>;
  context: Equal<answers.ContextAnswer, Static<typeof schemas.ContextAnswer>>;
  decode: Equal<
    answers.DecodeAnswer & Partial<answers.FactDetails>,
    Omit<Static<typeof schemas.DecodeAnswer>, "verified">
  >;
  decodeModel: Equal<
    answers.ModelDecodeAnswer & Partial<answers.FactDetails>,
    Static<typeof schemas.DecodeAnswer> & { verified: boolean }
  >;
  flush: Equal<answers.FlushAnswer, Static<typeof schemas.FlushAnswer>>;
  facts: Equal<answers.FactsAnswer, Static<typeof schemas.FactsAnswer>>;
  read: Equal<answers.ReadAnswer, Static<typeof schemas.ReadAnswer>>;
  channels: Equal<answers.ChannelsAnswer, Static<typeof schemas.ChannelsAnswer>>;
  // The client names the tiers, the schema leaves room for an operator's own.
  token: Equal<answers.TokenAnswer, Static<typeof schemas.TokenAnswer>>;
  usage: Equal<Omit<answers.UsageAnswer, "tier">, Omit<Static<typeof schemas.UsageAnswer>, "tier">>;
} = {
  encode: true,
  batch: true,
  context: true,
  decode: true,
  decodeModel: true,
  flush: true,
  facts: true,
  read: true,
  channels: true,
  token: true,
  usage: true,
};

test("the client's answers are those of the schemas", () => {
  assert.ok(Object.values(equal).every((same) => same));
});
