/** TLS to a real server with a certificate of an authority of our own, and what the operator is told without it. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PostgresServer } from "../../bench/store/postgres-server.ts";
import type { Failure } from "../../src/base/errors.ts";
import { readConfig } from "../../src/config.ts";
import { readDatabaseStatus } from "../../src/main/database-upkeep.ts";
import { parseAddress, tlsWarning } from "../../src/store/postgres/connection/database-address.ts";
import { write } from "../conformance/store-under-test.ts";
import { viewOf } from "../fixtures/views.ts";
import { guideSample, guideShell } from "./cluster-guide.ts";
import { openStore } from "./server.ts";

/** An authority, and a certificate of it for "localhost" that the server's user can read. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  for (const name of ["ca", "other-ca"])
    openssl(
      "req",
      "-x509",
      ...newKey,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.pem`,
      "-subj",
      `/CN=${name}`,
    );
  openssl("req", ...newKey, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost\n");
  const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", ...signed);
  chmodSync(folder, 0o755);
  chmodSync(join(folder, "server.key"), 0o600);
  if (process.getuid?.() !== 0) return;
  const idOf = (option: string) => Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  chownSync(join(folder, "server.key"), idOf("-u"), idOf("-g"));
}

const reasonOf = (error: Failure) => String(error.extra.cause);

test("TLS: verify-full takes the server of the given authority and name, and no other", async (t) => {
  // Not in the temporary folder of the user, which others may not enter.
  const folder = mkdtempSync("/tmp/sideband-tls-");
  let server: PostgresServer | undefined;
  try {
    makeCertificates(folder);
    server = await PostgresServer.start([
      "ssl=on",
      `ssl_cert_file=${join(folder, "server.pem")}`,
      `ssl_key_file=${join(folder, "server.key")}`,
    ]);
    const [ca, otherCa] = ["ca", "other-ca"].map((name) => readFileSync(join(folder, `${name}.pem`), "utf8"));
    const url = await server.createDatabase("facts");
    const named = (mode: string) => `${url.replace("127.0.0.1", "localhost")}?sslmode=${mode}`;
    const byAddress = (mode: string) => `${url}?sslmode=${mode}`;

    const store = await openStore(named("verify-full"), { ca });
    await store.write(write("ada", [[0, "Ada"]]));
    assert.equal((await store.readFact(viewOf("ada"), "USER.name"))?.value, "Ada");
    await store.close();

    const refused = (reason: RegExp) => (error: Failure) => reason.test(reasonOf(error));
    await assert.rejects(openStore(named("verify-full"), { ca: otherCa }), refused(/cannot be trusted/));
    await assert.rejects(openStore(named("verify-full")), refused(/cannot be trusted/));
    await assert.rejects(
      openStore(byAddress("verify-full"), { ca }),
      refused(/cannot be trusted: .*127\.0\.0\.1/),
    );
    await assert.rejects(openStore(byAddress("verify-ca"), { ca: otherCa }), refused(/cannot be trusted/));
    for (const [address, options] of [
      [byAddress("verify-ca"), { ca }],
      [byAddress("require"), { ca: otherCa }],
    ] as const)
      await (await openStore(address, options)).close();

    // By the setting, as the operator gives it.
    const settings = { SIDEBAND_DATABASE_URL: named("verify-full") };
    const config = (file: string) => readConfig({ ...settings, SIDEBAND_DATABASE_CA: join(folder, file) });
    assert.match((await readDatabaseStatus(config("ca.pem"))).server, /^PostgreSQL/);
    const sample = guideSample("sh", "sslmode=verify-full")
      .replace("sideband:PASSWORD@db.internal:5432/sideband", `sideband@localhost:${server.port}/facts`)
      .replace("/etc/sideband/database-ca.pem", join(folder, "ca.pem"));
    const told = await guideShell(t).run(`${sample}sideband db status`, server);
    assert.deepEqual([told.status, told.stderr], [0, ""]);
    assert.match(told.stdout, /^PostgreSQL/);
    await assert.rejects(
      readDatabaseStatus(config("absent.pem")),
      /SIDEBAND_DATABASE_CA cannot be read: ENOENT/,
    );
    await assert.rejects(readDatabaseStatus(config("server.key")), /takes a file with certificates/);
    await assert.rejects(
      readDatabaseStatus(config("other-ca.pem")),
      /^ConfigError: the database of SIDEBAND_DATABASE_URL cannot be used: the certificate of localhost cannot be trusted/,
    );
  } finally {
    rmSync(folder, { recursive: true });
    await server?.remove();
  }
});

test("TLS: a server that has none is refused where the address asks for it", async () => {
  const server = await PostgresServer.start();
  try {
    const url = await server.createDatabase("facts");
    await assert.rejects(openStore(`${url}?sslmode=require`), (error: Failure) =>
      /127\.0\.0\.1 offers no TLS, and sslmode=require asks for it/.test(reasonOf(error)),
    );
  } finally {
    await server.remove();
  }
});

test("TLS: the operator is told of a connection that others can read or take over, except to this machine", () => {
  const warningOf = (address: string) => tlsWarning(parseAddress(`postgres://user:secret@${address}`));
  assert.match(warningOf("db.internal/facts") ?? "", /not encrypted.*sslmode=verify-full/);
  assert.match(warningOf("127.0.0.1,10.0.0.7/facts?sslmode=disable") ?? "", /not encrypted/);
  assert.match(
    warningOf("db.internal/facts?sslmode=require") ?? "",
    /checks no certificate.*sslmode=verify-full/,
  );
  for (const safe of [
    "db.internal/facts?sslmode=verify-full",
    "db.internal/facts?sslmode=verify-ca",
    "127.0.0.1:5432/facts",
    "localhost/facts",
    "[::1]:5433/facts",
    "%2Fvar%2Frun%2Fpostgresql/facts",
    "/facts?host=/var/run/postgresql",
  ])
    assert.equal(warningOf(safe), undefined, safe);
});

test("addresses are taken apart as PostgreSQL's own clients do, and never repeated in an error", () => {
  assert.deepEqual(
    parseAddress(
      "postgresql://us%40er:p%3Aw:x@db1:5433,[fe80::1]:5434,db3/fa%20cts?sslmode=require&search_path=a",
    ),
    {
      hosts: [
        { host: "db1", port: 5433 },
        { host: "fe80::1", port: 5434 },
        { host: "db3", port: 5432 },
      ],
      user: "us@er",
      password: "p:w:x",
      database: "fa cts",
      tls: "require",
      parameters: { search_path: "a" },
    },
  );
  for (const [bad, reason] of [
    ["postgres://user:secret@db:port/facts", /takes hosts as name:port/],
    ["postgres://user:secret@db/facts?sslmode=on", /sslmode .* takes one of disable, require/],
    ["postgres://user:secret@db/facts?sslrootcert=x", /set SIDEBAND_DATABASE_CA instead/],
    ["postgres://user:secret@db/facts?target_session_attrs=any", /always look for the primary/],
    ["postgres://user:secret%@db/facts", /two hexadecimal digits/],
  ] as const) {
    assert.throws(
      () => parseAddress(bad),
      (error: Error) => reason.test(error.message) && !error.message.includes("secret"),
    );
  }
});
