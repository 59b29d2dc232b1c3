/**
 * Server-sent events over fetch: EventSource cannot send a key. The stream is opened again when it ends, fails or is
 * silent for too long, with the id of the last event; the service then goes on where it was, or says "reset".
 */

import { createParser } from "eventsource-parser";
import { ApiError } from "./request.ts";

export interface ServerEvent {
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

export interface FollowOptions {
  readonly open: (lastId: string | undefined, signal: AbortSignal) => Promise<Response>;
  readonly onEvent: (event: ServerEvent) => void;
  /** Whether events come, from now on. */
  readonly onLive: (isLive: boolean) => void;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/** The service sends something every 5 seconds. */
const SILENT_MS = 20_000;
/** In characters; an event of the service has about a hundred. */
const EVENT_LENGTH_MAX = 65_536;
const PAUSES_MS = [500, 1000, 2000, 5000, 10_000];

/** Resolves when `signal` fires, or the service refuses the key. */
export async function followEvents({ open, onEvent, onLive, signal }: FollowOptions): Promise<void> {
  let lastId: string | undefined;
  for (let failures = 0; !signal.aborted; failures++) {
    const connection = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      connection.abort();
    };
    signal.addEventListener("abort", end);
    timer = setTimeout(end, SILENT_MS);
    try {
      const response = await open(lastId, connection.signal);
      onLive(true);
      failures = 0;
      for await (const event of serverEvents(response.body!, () => {
        clearTimeout(timer);
        timer = setTimeout(end, SILENT_MS);
      })) {
        if (event.id !== "") lastId = event.id;
        onEvent(event);
      }
    } catch (error) {
      const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403);
      if (isRefused) return onLive(false);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      connection.abort();
    }
    onLive(false);
    if (!signal.aborted) await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)], signal);
  }
}

/** The events of a stream. Throws where one of them is too long. */
export async function* serverEvents(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void = () => {},
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let found: ServerEvent[] = [];
  let fault: Error | undefined;
  const parser = createParser({
    maxBufferSize: EVENT_LENGTH_MAX,
    onEvent: ({ id = "", event = "message", data }) => found.push({ id, name: event, data }),
    onError: (error) => {
      // Fields that are not known are passed over, as the standard says.
      if (error.type === "max-buffer-size-exceeded") fault = error;
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onChunk();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* found;
      found = [];
      if (fault !== undefined) throw fault;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
