/** What the operator is told of a database, or of a data folder, that cannot be used. */

import assert from "node:assert/strict";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, Failure } from "../../../src/base/errors.ts";
import { DatabaseAwayError, databaseError, folderError, isAbout } from "../../../src/main/operator-errors.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";

const fault = (code: string, message: string) => Object.assign(new Error(message), { code });
const unavailable = (cause: Error) => new Failure("store_unavailable", "The database is away.", { cause });

test("a database that does not answer, starts or fails over can be waited for", () => {
  for (const cause of [
    fault("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432"),
    fault("ENOTFOUND", "getaddrinfo ENOTFOUND db.internal"),
    fault("CONNECT_TIMEOUT", "write CONNECT_TIMEOUT db.internal:5432"),
    fault("57P03", "the database system is starting up"),
    fault("53300", "sorry, too many clients already"),
    fault("25006", "cannot execute INSERT in a read-only transaction"),
  ]) {
    const told = databaseError(unavailable(cause));
    assert.ok(told instanceof DatabaseAwayError, cause.message);
    assert.equal(told.message, `the database of SIDEBAND_DATABASE_URL cannot be used: ${cause.message}`);
  }
});

test("what the operator must change is told with the remedy, and is not waited for", () => {
  const certificate = "check sslmode in SIDEBAND_DATABASE_URL, and the certificate of the server";
  for (const [error, remedy] of [
    [unavailable(fault("28P01", "password authentication failed")), "check the user and the password"],
    [unavailable(fault("3D000", 'database "x" does not exist')), "create it"],
    [fault("42704", 'unrecognized configuration parameter "x"'), "check the parameters"],
    [fault("42501", "permission denied for database x"), "the role must own the database"],
    [fault("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"), certificate],
    [fault("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain"), certificate],
    [fault("UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"), certificate],
    [fault("CERT_HAS_EXPIRED", "certificate has expired"), certificate],
    [fault("ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match certificate's altnames"), certificate],
    [
      unavailable(
        fault(
          "ECONNRESET",
          "Client network socket disconnected before secure TLS connection was established",
        ),
      ),
      certificate,
    ],
  ] as const) {
    const told = databaseError(error);
    assert.ok(told instanceof ConfigError && !(told instanceof DatabaseAwayError), error.message);
    assert.ok(told.message.includes(`; ${remedy}`), told.message);
  }
});

test("a parameter that a pooler refuses is told as it is, and is not waited for", () => {
  const told = databaseError(unavailable(fault("STARTUP_PARAMETER", "the pooler refuses x: set y")));
  assert.ok(told instanceof ConfigError && !(told instanceof DatabaseAwayError));
});

test("an address that is not well-formed is told without it: it holds a password", () => {
  for (const parse of [
    () => new URL("postgres://a:secret-word@b:99999/x"),
    () => decodeURIComponent("%zz"),
  ]) {
    let thrown: unknown;
    try {
      parse();
    } catch (error) {
      thrown = error;
    }
    const told = databaseError(thrown);
    assert.ok(told instanceof ConfigError);
    assert.equal(told.message, "SIDEBAND_DATABASE_URL is not a well-formed postgres:// address");
  }
});

test("other errors stay as they are", () => {
  for (const error of [
    new TypeError("x is not a function"),
    fault("ERR_ASSERTION", "it holds"),
    new ConfigError("master key 1 is not the one"),
    new Failure("conflict", "The store holds keys already."),
  ])
    assert.equal(databaseError(error), error);
});

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

test("a file of another user is named with its owner, and who must own the folder", (context) => {
  const folder = temporaryFolder(context);
  const isRoot = process.getuid!() === 0;
  const path = isRoot ? join(folder, "size") : "/etc/passwd";
  if (isRoot) {
    writeFileSync(path, "1");
    chownSync(path, 12345, 12345);
  }
  const denied = { code: "EACCES", syscall: "open", path };
  const error = Object.assign(new Error("EACCES: permission denied, open"), denied);
  const { message } = folderError(folder, error) as Error;
  const owner = isRoot ? "user 12345" : "root";
  assert.ok(message.includes(`${path} belongs to ${owner}, and this process runs as`), message);
  assert.match(message, /must belong to the user who runs it: run it as .*, after "chown -R \d+ /);
  assert.equal(isAbout(folder, error), isRoot);
  assert.equal(isAbout(folder, new Error("address in use")), false);
});
