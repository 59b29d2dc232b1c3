/**
 * Refused requests that ask for a hint: an account with 216 labels in 216 groups, which is all that there can be, and
 * writes of a label that is near to all of them.
 */

const LABELS = 216;
const PADDING = 12;

/** The request of a client that writes an unknown label again and again. */
export function hintRequest(key: string): string {
  const label = `${"G".repeat(PADDING + 2)}.${"n".repeat(PADDING + 2)}`;
  const body = JSON.stringify({ user_id: "x", label, value: "x" });
  const head = `POST /encode HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}`;
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

export function hintLabels(): string[] {
  const letters = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
  return Array.from({ length: LABELS }, (_, i) => {
    const group = `${"G".repeat(PADDING)}${letters(i).toUpperCase()}`;
    return `${group}.${"n".repeat(PADDING)}${letters(i)}`;
  });
}
