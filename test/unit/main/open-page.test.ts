/** When the page of `sideband open` counts as used, so that the command ends when nobody uses it any more. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { test } from "node:test";
import { OwnerClient } from "../../../src/door-client/owner-client.ts";
import { LocalPage } from "../../../src/main/local-page.ts";
import { openerOf } from "../../../src/main/open-page.ts";
import { endAfter } from "../../fixtures/ends.ts";
import { startRunning } from "../../http/running-service.ts";

test("a call counts as use of the page, and its stream of events does not", async (context) => {
  const running = endAfter(context, await startRunning({}, undefined, { warm: false }));
  const client = OwnerClient.of(running.folder);
  const page = new LocalPage({ send: (sent) => client.send(sent), account: "acme", hash: "" });
  context.after(() => page.close());
  const link = new URL(await page.start());
  const ask = async (path: string, headers = {}): Promise<IncomingMessage> => {
    const sent = request({ host: link.hostname, port: link.port, path, agent: false, headers }).end();
    return (await once(sent, "response"))[0] as IncomingMessage;
  };
  const { headers } = await ask(link.pathname);
  const cookie = String(headers["set-cookie"]).split(";")[0];
  const base = String(headers.location).replace(/\/memory.*/, "");
  const call = async (path: string) => {
    const startMs = performance.now();
    const answer = await ask(base + path, { cookie });
    assert.equal(answer.statusCode, 200);
    return { isUse: performance.now() - page.idleMs >= startMs, answer };
  };
  const events = await call("/users/events?user_id=ada");
  assert.ok(!events.isUse, "it listens, and nobody uses it");
  assert.ok((await call("/facts?user_id=ada")).isUse);
  events.answer.destroy();
});

test("each platform opens the page by its own command, and Windows a path with spaces and & as one", () => {
  assert.deepEqual(openerOf("/tmp/a b/open.html", "linux"), {
    command: "xdg-open",
    args: ["/tmp/a b/open.html"],
  });
  assert.deepEqual(openerOf("/tmp/a b/open.html", "darwin"), {
    command: "open",
    args: ["/tmp/a b/open.html"],
  });
  const { command, args, options } = openerOf("C:\\Users\\R & D\\open.html", "win32");
  // cmd.exe with /s takes the outer quotes away, and runs what is between them.
  assert.equal([command, ...args].join(" "), 'cmd.exe /d /s /c "start "" "C:\\Users\\R & D\\open.html""');
  assert.equal(options?.windowsVerbatimArguments, true);
  assert.notEqual(options?.cwd ?? process.cwd(), process.cwd());
});
