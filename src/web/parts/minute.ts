/** "2026-11-15T03:20:00.000Z" → "2026-11-15 03:20" */
export function minuteOf(time: string | null): string {
  return time === null ? "never" : time.slice(0, 16).replace("T", " ");
}
