/** GET /users/events: what happens to users, as server-sent events. */

import { PassThrough } from "node:stream";
import type { EventMessage, NumberedEvent, UserEvent } from "../../memory/events.ts";
import { checkIdentifier } from "../../memory/identifiers.ts";
import { innermost, isInside, OWN_PLACE, placesOf } from "../../memory/places.ts";
import type { Place } from "../../memory/records.ts";
import { projectOfPlace } from "../../memory/shared-places.ts";
import { Answer } from "../request/answer.ts";
import type { ByteBudget } from "../request/byte-budget.ts";
import type { Handlers } from "../request/route.ts";
import type { HttpServices } from "../services.ts";

/** Keeps proxies from taking the stream for a dead one. */
const HEARTBEAT_MS = 5_000;
/** What may wait for a slow reader. */
const WAITING_BYTES_MAX = 1 << 20;

export function eventRoutes({ authentication }: HttpServices, answers: ByteBudget): Handlers<"events"> {
  return {
    async events(call) {
      const { user_id: userId, project } = call.query;
      if (userId !== undefined) checkIdentifier(userId, "user_id");
      const outer = project === undefined ? undefined : innermost(placesOf(project));
      const { caller } = call;
      const stream = new PassThrough();
      /** Whether there is room for what waits for the reader, on both sides of the stream. */
      const hasRoom = () => {
        const waiting = stream.readableLength + stream.writableLength;
        try {
          call.holdAnswer(answers, waiting);
          return waiting <= WAITING_BYTES_MAX;
        } catch {
          return false;
        }
      };
      const send = (text: string | Buffer) => {
        if (stream.writableEnded) return;
        stream.write(text);
        // It comes back with its Last-Event-ID.
        if (!hasRoom()) stream.destroy();
      };
      const tell = (message: EventMessage) => {
        if (message === "end") stream.end();
        else if (message === "reset") send("event: reset\ndata: {}\n\n");
        else if (outer === undefined || concerns(message.event, outer)) send(eventBytes(message));
      };
      const { ready, stop } = call.memory.events.listen(
        caller.account,
        userId,
        tell,
        call.header("last-event-id"),
      );
      await ready.catch((error: unknown) => {
        stop();
        throw error;
      });
      const beat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS);
      const endWatch = authentication.watch(caller, () => {
        stop();
        stream.end();
      });
      stream.once("close", () => {
        clearInterval(beat);
        endWatch();
        stop();
      });
      if (call.isGone) stream.destroy();
      send(": listening\n\n");
      return new Answer(stream, {
        type: "text/event-stream; charset=utf-8",
        headers: ["cache-control", "no-store"],
      });
    },
  };
}

/** Whether an event is one of a place, or of those inside it; the place goes with all that it is in. */
function concerns({ place, label }: Pick<UserEvent, "place" | "label">, outer: Place): boolean {
  const isWhole = label === undefined;
  const shared = projectOfPlace(place);
  if (shared !== undefined) return isInside(outer, shared);
  return isInside(place, outer) || (isWhole && (place === OWN_PLACE || isInside(outer, place)));
}

/** An event as it goes over the wire; made once for all streams that tell of it. */
const encoded = new WeakMap<NumberedEvent, Buffer>();

function eventBytes(told: NumberedEvent): Buffer {
  let bytes = encoded.get(told);
  if (bytes === undefined) {
    bytes = Buffer.from(eventText(told));
    encoded.set(told, bytes);
  }
  return bytes;
}

function eventText({ id, event }: NumberedEvent): string {
  const { userId, place, label, revision, kind, writtenBy, atMs } = event;
  const shared = projectOfPlace(place);
  const data = {
    // Of what is shared, who wrote it: nobody where it has ended, or was erased.
    user_id: shared === undefined ? userId : userId || null,
    project: shared ?? (place === "" ? null : place),
    ...(shared === undefined ? {} : { place: "shared" }),
    label: label ?? null,
    revision,
    kind,
    written_by: writtenBy,
    at: new Date(atMs).toISOString(),
  };
  return `id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
}
