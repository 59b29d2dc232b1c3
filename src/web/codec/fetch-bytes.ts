/** Fetches a large file and reports its progress. */

export type OnProgress = (loadedBytes: number, totalBytes: number) => void;

export async function fetchBytes(url: string, onProgress: OnProgress): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) {
    throw new Error(`The reader model could not be loaded (${response.status}).`);
  }
  // The file is served without compression, so content-length is the number of bytes.
  const totalBytes = Number(response.headers.get("content-length") ?? 0);
  const chunks: Uint8Array[] = [];
  let loadedBytes = 0;
  const stream = response.body.getReader();
  for (let part = await stream.read(); !part.done; part = await stream.read()) {
    chunks.push(part.value);
    loadedBytes += part.value.length;
    onProgress(loadedBytes, totalBytes);
  }
  const bytes = new Uint8Array(loadedBytes);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
