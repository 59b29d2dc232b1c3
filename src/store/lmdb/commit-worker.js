/**
 * The module of a thread that stores many changes in one transaction: to hand them to lmdb takes too long for the event
 * loop. It is JavaScript, because a thread has no loader for TypeScript in tests.
 */

import { parentPort, workerData } from "node:worker_threads";
import { open } from "lmdb";

const { options, tableOptions, tables } = workerData;
const root = open(options);
const databases = tables.map((name) => root.openDB({ name, ...tableOptions }));

/** The format is ChangeLog's. */
function putAll(changes) {
  for (let at = 0; at < changes.length; ) {
    const database = databases[changes[at]];
    const keyEnd = at + 7 + changes.readUInt16LE(at + 1);
    const end = keyEnd + changes.readUInt32LE(at + 3);
    const key = changes.subarray(at + 7, keyEnd);
    if (end === keyEnd) void database.remove(key);
    else void database.put(key, changes.subarray(keyEnd, end));
    at = end;
  }
}

parentPort.on("message", async (chunks) => {
  if (chunks === undefined) {
    await root.close();
    parentPort.close();
    return;
  }
  // Copies: lmdb cannot read memory that threads share.
  const copies = chunks.map(({ bytes, length }) => Buffer.from(bytes.slice(0, length).buffer));
  try {
    await root.batch(() => copies.forEach(putAll));
    parentPort.postMessage(undefined);
  } catch (error) {
    // A promise that rejects with what lmdb says.
    const cause = await Promise.resolve(error?.commitError).catch((specific) => specific);
    parentPort.postMessage(String((cause ?? error)?.message ?? error));
  }
});
