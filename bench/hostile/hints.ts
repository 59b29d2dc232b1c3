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

export async function addLabels(port: number, key: string): Promise<void> {
  const letters = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
  for (let i = 0; i < LABELS; i++) {
    const group = `${"G".repeat(PADDING)}${letters(i).toUpperCase()}`;
    const label = `${group}.${"n".repeat(PADDING)}${letters(i)}`;
    const answer = await fetch(`http://127.0.0.1:${port}/channels`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ label, description: "A label" }),
    });
    if (answer.status !== 201) throw new Error(`POST /channels was answered ${answer.status}`);
    await answer.arrayBuffer();
  }
}
