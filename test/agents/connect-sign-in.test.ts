/** `sideband connect --sign-in`, with a person whose browser answers: the token is kept like a key, followed by the next, and ended. */

import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { PersonSettings } from "../../src/config.ts";
import { type Running, startRunning } from "../http/running-service.ts";
import { type Host, makeHost } from "./host.ts";

let running: Running;
let key: string;
before(async () => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  running = await startRunning({
    SIDEBAND_OAUTH: "on",
    SIDEBAND_PUBLIC_URL: url,
    SIDEBAND_PORT: String(port),
  });
  key = (await running.service.core.keys.create({ account: "acme", tier: "unlimited", user: "ada" })).key;
});
after(() => running?.end());

/** What stands in for the browser, and for the person in front of it. */
const BROWSER = `#!${process.execPath}
const [page] = process.argv.slice(2);
const read = (text) => text.replace(/&#(\\d+);/g, (_, code) => String.fromCharCode(code));
const next = (html) => read(/http-equiv="refresh" content="0;url=([^"]+)"/.exec(html)[1]);
(async () => {
  const link = next(require("node:fs").readFileSync(page, "utf8"));
  const send = async (fields) => {
    const headers = { origin: new URL(link).origin };
    return (await fetch(link, { method: "POST", headers, body: new URLSearchParams(fields) })).text();
  };
  if (process.env.PERSON_KEY === "") return fetch(next(await send({ step: "deny" })));
  const question = await send({ step: "sign-in", key: process.env.PERSON_KEY });
  const ticket = read(/name="ticket" value="([^"]+)"/.exec(question)[1]);
  const groups = ["USER", "PREF", "TASK", "PROJ"].map((group) => ["group", group]);
  const allowed = Object.entries({ step: "allow", ticket, access: "write", others: "1", days: "90" });
  await fetch(next(await send([...allowed, ...groups])));
})();
`;

function withBrowser(host: Host): Host {
  const path = join(host.home, "bin", "xdg-open");
  writeFileSync(path, BROWSER);
  chmodSync(path, 0o755);
  return host;
}

const fileOf = ({ home }: Host) => join(home, ".sideband", "settings.json");
const serviceOf = (host: Host) => (JSON.parse(readFileSync(fileOf(host), "utf8")) as PersonSettings).service!;
const grants = async () => (await running.call("GET", "/grants?user_id=ada")).json.grants;

test("a person signs in in the browser, and the machine's memory is at the service until they disconnect", async (t) => {
  const host = withBrowser(makeHost(t));
  const line = `sideband connect ${running.url} --sign-in --yes --no-facts`;
  const connected = await host.shell(line, { env: { PERSON_KEY: key } });
  assert.equal(connected.status, 0, connected.stderr);
  assert.match(connected.stderr, /sign in in your browser: http:\/\/127\.0\.0\.1:\d+\/authorize\?/);
  assert.match(connected.stdout, /connected: the memory of ada is at http/);
  assert.equal(statSync(fileOf(host)).mode & 0o777, 0o600);
  const { key: token, signedIn } = serviceOf(host);
  assert.match(token, /^sba_/);
  assert.ok(!readFileSync(fileOf(host), "utf8").includes(key), "the key itself is not kept");
  assert.match((await grants())[0].application, /^sideband on /);

  const kept = await host.shell("sideband remember USER.name Ada");
  assert.equal(kept.status, 0, kept.stderr);
  assert.equal((await running.call("GET", "/decode?user_id=ada&label=USER.name")).json.value, "Ada");

  // Near its end a token is followed by the next one, once for all processes.
  const service = { ...serviceOf(host), signedIn: { ...signedIn!, endsAtMs: Date.now() + 60_000 } };
  writeFileSync(fileOf(host), JSON.stringify({ service }), { mode: 0o600 });
  const listed = await Promise.all(Array.from({ length: 3 }, () => host.shell("sideband facts")));
  for (const { status, stdout, stderr } of listed) {
    assert.equal(status, 0, stderr);
    assert.match(stdout, /USER\.name=Ada/);
  }
  const next = serviceOf(host);
  assert.notEqual(next.key, token);
  assert.ok(next.signedIn!.endsAtMs > Date.now() + 80_000_000);
  assert.equal((await grants()).length, 1);

  const gone = await host.shell("sideband disconnect --yes");
  assert.equal(gone.status, 0, gone.stderr);
  assert.deepEqual(await grants(), []);
  assert.equal((await running.call("GET", "/usage", { key: next.key })).status, 401);
});

test("at a terminal Enter instead of a key signs in, where the service has it", async (t) => {
  const host = withBrowser(makeHost(t));
  const line = `sideband connect ${running.url} --yes --no-facts`;
  const typed = `echo | script -qec "${line}" /dev/null`;
  const { stdout, status } = await host.shell(typed, { env: { PERSON_KEY: key } });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /it is not shown; Enter alone signs in in the browser/);
  assert.match(stdout, /connected: the memory of ada is at http/);
  assert.equal((await host.shell("sideband disconnect --yes")).status, 0);
});

test("who does not allow it, or has a service without sign-in, is told so, and nothing is kept", async (t) => {
  const host = withBrowser(makeHost(t));
  const denied = await host.shell(`sideband connect ${running.url} --sign-in --yes`, {
    env: { PERSON_KEY: "" },
  });
  assert.equal(denied.status, 1);
  assert.match(denied.stderr, /the connection was not allowed/);
  const plain = await startRunning();
  try {
    const none = await host.shell(`sideband connect ${plain.url} --sign-in --yes`);
    assert.equal(none.status, 1);
    assert.match(none.stderr, /nobody can sign in at .*: connect with a key/);
  } finally {
    await plain.end();
  }
  assert.throws(() => statSync(fileOf(host)), /ENOENT/);
});
