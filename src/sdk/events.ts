/**
 * The events of a user, as GET /users/events streams them (server-sent events, HTML Standard 9.2). A stream that ends, fails
 * or is silent is opened again, with the id of the last event: the service goes on after it, or says "reset".
 */

import { Deadline } from "./deadline.ts";
import { isOutage } from "./errors.ts";
import type { EventsOptions, UserEvent } from "./options.ts";

const PAUSES_MS = [500, 1000, 2000, 5000, 10_000];

export async function* followEvents(
  open: (headers: Record<string, string>) => Promise<AsyncIterable<string>>,
  { lastEventId, signal, onConnected = () => {} }: EventsOptions,
): AsyncGenerator<UserEvent> {
  let lastId = lastEventId;
  for (let failures = 0; ; failures++) {
    try {
      const lines = await open(lastId === undefined ? {} : { "last-event-id": lastId });
      onConnected(true);
      failures = 0;
      for await (const event of eventsIn(lines)) {
        if ("id" in event) lastId = event.id;
        yield event;
      }
    } catch (error) {
      // The caller's abort is his to know, and so is a refusal, which would come again.
      if (!isOutage(error)) throw error;
    } finally {
      onConnected(false);
    }
    const pause = new Deadline(Number.POSITIVE_INFINITY, signal);
    await pause.pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]).finally(() => pause.end());
  }
}

/** Comments, and fields and events that are not known, are passed over. */
async function* eventsIn(lines: AsyncIterable<string>): AsyncGenerator<UserEvent> {
  let fields: Record<string, string> = {};
  for await (const line of lines) {
    const [, name = "", value = ""] = /^(\w*): ?(.*?)\r?$/.exec(line) ?? [];
    if (name === "data" && fields.data !== undefined) fields.data += `\n${value}`;
    else if (name !== "") fields[name] = value;
    if (line !== "" && line !== "\r") continue;
    if (fields.event === "reset") yield { kind: "reset" };
    if (fields.event === "change") yield { id: fields.id, ...JSON.parse(fields.data) };
    fields = {};
  }
}
