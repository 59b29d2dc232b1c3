/** A listener of GET /users/events, for tests. */

import assert from "node:assert/strict";
import { until } from "../fixtures/waiting.ts";

export interface HeardEvent {
  readonly id: string;
  readonly user_id: string;
  readonly project: string | null;
  readonly place?: string;
  readonly label: string | null;
  readonly kind: string;
  readonly written_by: string | null;
  readonly at: string;
}

export type Listener = Awaited<ReturnType<typeof listenTo>>;

/** Listens until its `end`; it is listening when this has resolved. */
export async function listenTo(
  url: string,
  query: string,
  key: string,
  headers: Record<string, string> = {},
) {
  const ended = new AbortController();
  const response = await fetch(`${url}/users/events${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: ended.signal,
  });
  assert.equal(response.status, 200);
  let text = "";
  let isEnded = false;
  const reading = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })()
    .catch(() => {})
    .finally(() => {
      isEnded = true;
    });
  const heard = (): HeardEvent[] =>
    [...text.matchAll(/^id: (.*)\nevent: change\ndata: (.*)$/gm)].map(([, id, data]) => ({
      id,
      ...JSON.parse(data),
    }));
  await until(() => text.includes(": listening"));
  return {
    heard,
    text: () => text,
    async until(count: number) {
      await until(() => heard().length >= count).catch(() => {});
      return heard();
    },
    /** Until the service has ended the stream. */
    async untilEnded() {
      await until(() => isEnded);
    },
    async end() {
      ended.abort();
      await reading;
    },
  };
}
