/** A time in words, with the exact one for those who point at it. */

import { useDesk } from "./desk.ts";
import { exactTime, relativeTime } from "./times.ts";

export function TimeText({ at }: { readonly at: string }) {
  const { nowMs } = useDesk();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, nowMs)}
    </time>
  );
}
