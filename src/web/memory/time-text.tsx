/** A time in words, with the exact one for those who point at it. */

import { useDesk } from "./desk.ts";
import { exactTime, timeAgo, timeUntil } from "./times.ts";

interface TimeTextProps {
  readonly at: string;
  /** It is the end of a fact. */
  readonly isEnd?: boolean;
}

export function TimeText({ at, isEnd = false }: TimeTextProps) {
  const { nowMs } = useDesk();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {isEnd ? timeUntil(at, nowMs) : timeAgo(at, nowMs)}
    </time>
  );
}
