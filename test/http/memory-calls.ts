/** The service of a file of tests, without a port and with a clock that the tests set, and the calls that most of them make. */

import assert from "node:assert/strict";
import { type Answer, sharedRunning, startPortless } from "./running-service.ts";

export interface Fact {
  readonly label: string;
  readonly value: string;
  readonly channel: number;
  readonly description?: string;
}

/** To be called where the tests are declared: the service starts before the first and ends after the last. */
export function memoryService(startMs = Date.UTC(2026, 10, 18, 12)) {
  const clock = { ms: startMs, now: () => clock.ms };
  const running = sharedRunning(() =>
    startPortless({ SIDEBAND_DEMO: "0" }, undefined, { warm: false, clock }),
  );

  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    running.call("POST", path, { body, headers });
  const withQuery = (method: string) => (path: string, query: Record<string, string>) =>
    running.call(method, `${path}?${new URLSearchParams(query)}`);
  const get = withQuery("GET");
  const encode = (user_id: string, label: string, value: string, more: object = {}) =>
    post("/encode", { user_id, label, value, ...more });
  return {
    clock,
    get running() {
      return running;
    },
    post,
    get,
    remove: withQuery("DELETE"),
    encode,
    /** Makes the label where nobody has it. */
    make: (user_id: string, label: string, value: string, more: object = {}) =>
      encode(user_id, label, value, { new_label: true, ...more }),
    factsOf: async (user_id: string, more: Record<string, string> = {}): Promise<Fact[]> =>
      ok(await get("/facts", { user_id, ...more })).facts,
  };
}

export function ok(answer: Answer): Answer["json"] {
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}
