/** A data folder that the system does not let us use: the message names the folder and says what to do. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { folderError } from "../../../src/main/operator-errors.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: open 'd/starting.lock'`), { code, syscall: "open" });
}

test("an error of the system is one about the folder, with advice; another error stays as it is", () => {
  for (const [code, text] of [
    ["ENOTDIR", /^the data folder d is a file, or inside of one: choose another one with --data/],
    ["EACCES", /^no permission to use the data folder d: run it as the user it belongs to, or choose/],
    ["EPERM", /^no permission to use the data folder d: /],
    ["EROFS", /^the data folder d is on a read-only file system: choose another one/],
    ["EIO", /^cannot use the data folder d: EIO: open/],
  ] as const) {
    const error = folderError("d", systemError(code)) as Error;
    assert.equal(error.name, "ConfigError");
    assert.match(error.message, text);
  }
  const other = new Error("no answer in time");
  assert.equal(folderError("d", other), other);
});
