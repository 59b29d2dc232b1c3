/** The public demo of a service: one state that everyone shares, no key, values of at most 128 bytes, regular resets. */

import type {
  ContextAnswer,
  DecodeAnswer,
  EncodeAnswer,
  FlushAnswer,
  ForgetAnswer,
} from "../contract/answers.ts";
import { CALL, checkOptions } from "./option-kinds.ts";
import type { LabelOf } from "./options.ts";
import type { CallOptions, SdkCall, Transport } from "./transport.ts";

export class DemoClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Everybody can read what is written here. */
  encode(label: LabelOf<never>, value: string, options: CallOptions = {}): Promise<EncodeAnswer> {
    // Without an idempotency key a late second arrival could overwrite what someone else has written since.
    return this.#call(options, {
      method: "POST",
      path: "/demo/encode",
      body: { label, value },
      retry: "refused",
    });
  }

  context(options: CallOptions = {}): Promise<ContextAnswer> {
    return this.#call(options, { method: "GET", path: "/demo/context", retry: "always" });
  }

  decode(label: LabelOf<never>, options: CallOptions = {}): Promise<DecodeAnswer> {
    return this.#call(options, { method: "GET", path: "/demo/decode", query: { label }, retry: "always" });
  }

  flush(options: CallOptions = {}): Promise<FlushAnswer> {
    return this.#call(options, { method: "POST", path: "/demo/flush", retry: "always" });
  }

  reset(options: CallOptions = {}): Promise<ForgetAnswer> {
    return this.#call(options, { method: "POST", path: "/demo/reset", retry: "refused" });
  }

  async #call<T>(options: CallOptions, call: SdkCall): Promise<T> {
    checkOptions(options, CALL);
    return (await this.#transport.send({ ...options, ...call, withoutKey: true })).body as T;
  }
}
