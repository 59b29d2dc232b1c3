/** Nothing acknowledged is lost: a port in use, a full disk, an orderly end. Kills are in crash.test.ts and test/property. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { problemCode, send } from "../http/running-service.ts";
import { firstKey, startServerProcess } from "./server-process.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-fault-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a port in use: one line that says what to do, and the first key comes with the next start", () =>
  withFolder(async (folder) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const settings = { SIDEBAND_DATA: folder, SIDEBAND_PORT: String(port) };
    await assert.rejects(startServerProcess(settings), ({ message }: Error) => {
      assert.match(
        message,
        new RegExp(`ended with 1: sideband serve: port ${port} .* is in use: choose another`),
      );
      assert.equal(message.trim().split("\n").length, 1);
      return true;
    });
    other.close();
    const server = await startServerProcess(settings);
    const key = await firstKey(server);
    assert.equal((await send(server.url, "GET", "/usage", { key })).status, 200);
    const second = startServerProcess({ SIDEBAND_DATA: folder });
    await assert.rejects(
      second,
      new RegExp(`is in use by process ${server.process.pid}, which answers at ${server.url}`),
    );
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
  }));

test("a folder that is removed under a service: it ends with one line, and does not touch the next owner's", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    const settings = { SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "silent" };
    const first = await startServerProcess(settings);
    const key = await firstKey(first);
    rmSync(data, { recursive: true });
    const body = { user_id: "ada", label: "USER.name", value: "Ada" };
    const answer = await send(first.url, "POST", "/encode", { key, body }).catch(() => undefined);
    assert.notEqual(answer?.status, 200);
    const second = await startServerProcess(settings);
    assert.equal(await first.ended, 1);
    const lines = first.output().trim().split("\n");
    assert.match(lines.at(-1)!, /^sideband: the data folder .* is no longer this process's/);
    assert.equal(lines.filter((line) => line.startsWith("sideband:")).length, 1);
    const owner = await OwnerClient.of(data).json<{ pid: number }>("GET", "/operator/owner");
    assert.equal(owner.pid, second.process.pid, "the second's door is open");
    second.process.kill("SIGTERM");
    assert.equal(await second.ended, 0);
  }));

test("a folder that is swapped for a copy, with a compaction due: what the next owner acknowledged stays", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    const settings = { SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "silent", SIDEBAND_COMPACT_AFTER_S: "1" };
    const first = await startServerProcess(settings);
    const key = await firstKey(first);
    const body = { user_id: "ada", label: "USER.name", value: "Ada" };
    assert.equal((await send(first.url, "POST", "/encode", { key, body })).status, 200);
    // Stopped, so that it finds everything due at once when it goes on: touching keys, sweeping, compacting.
    await send(first.url, "DELETE", "/users?user_id=nobody", { key });
    await send(first.url, "DELETE", "/users?user_id=ada", { key });
    first.process.kill("SIGSTOP");
    renameSync(data, join(folder, "aside"));
    cpSync(join(folder, "aside"), data, { recursive: true, filter: (path) => !path.endsWith(".sock") });
    const second = await startServerProcess({ ...settings, SIDEBAND_COMPACT_AFTER_S: "0" });
    const kept = { ...body, user_id: "bob" };
    assert.equal((await send(second.url, "POST", "/encode", { key, body: kept })).status, 200);
    const names = () => readdirSync(data, { recursive: true, encoding: "utf8" }).sort();
    const before = names();
    first.process.kill("SIGCONT");
    assert.equal(await first.ended, 1);
    assert.deepEqual(names(), before);
    second.process.kill("SIGTERM");
    assert.equal(await second.ended, 0);
    const third = await startServerProcess(settings);
    const { json } = await send(third.url, "GET", "/decode?user_id=bob&label=USER.name", { key });
    assert.equal(json.value, "Ada");
    third.process.kill("SIGTERM");
    assert.equal(await third.ended, 0);
  }));

test("first start: secrets and a key with mode 600, and a curl line; SIGTERM ends it in order with status 0", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    const server = await startServerProcess({ SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "silent" });
    const key = await firstKey(server);
    for (const file of ["master.key", "admin.token", "first.key"])
      assert.equal(statSync(join(data, file)).mode & 0o777, 0o600);
    const bearer = `"Authorization: Bearer \\$\\(cat ${join(data, "first.key")}\\)"`;
    assert.match(server.output(), new RegExp(`curl -s ${server.url}/encode -H ${bearer}`));
    assert.ok(!server.output().includes(key), "what is printed is kept: the key is not in it");
    const pending = Array.from({ length: 20 }, (_, i) =>
      send(server.url, "POST", "/encode", {
        key,
        body: { user_id: `u${i}`, label: "USER.name", value: "x" },
      }),
    );
    await pending[0];
    server.process.kill("SIGTERM");
    const answers = await Promise.allSettled(pending);
    assert.equal(await server.ended, 0);
    const again = await startServerProcess({ SIDEBAND_DATA: data, SIDEBAND_LOG_LEVEL: "silent" });
    assert.ok(!again.output().includes("first.key"), "the key is made once");
    for (const [i, answer] of answers.entries()) {
      if (answer.status !== "fulfilled" || answer.value.status !== 200) continue;
      assert.equal(
        (await send(again.url, "GET", `/decode?user_id=u${i}&label=USER.name`, { key })).json.value,
        "x",
      );
    }
    again.process.kill("SIGTERM");
    assert.equal(await again.ended, 0);
  }));

test("a log that cannot be written holds nothing up, and the end is an orderly one", () =>
  withFolder(async (folder) => {
    const server = await startServerProcess({ SIDEBAND_DATA: folder }, "exec 2>/dev/full;");
    for (let i = 0; i < 200; i++)
      assert.equal(problemCode(await send(server.url, "GET", "/facts?user_id=ada", {})), "401 missing_key");
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
  }));

test("a full disk: 503 and not a word stored, earlier data intact, ready again when there is room", () =>
  withFolder(async (folder) => {
    // No file may grow beyond 384 KiB: to the store it is a disk that is full.
    const starved = await startServerProcess({ SIDEBAND_DATA: folder }, "ulimit -f 384;");
    const key = await firstKey(starved);
    const stored: string[] = [];
    let refused: Awaited<ReturnType<typeof send>> | undefined;
    for (let i = 0; i < 4000 && refused === undefined; i += 20) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, j) => {
          const body = { user_id: `u${i + j}`, label: "USER.name", value: `${i + j}`.padEnd(1000, ".") };
          return send(starved.url, "POST", "/encode", { key, body });
        }),
      );
      for (const [j, answer] of answers.entries()) {
        if (answer.status === 200) stored.push(`u${i + j}`);
        else refused = answer;
      }
    }
    assert.ok(refused !== undefined, "the disk became full");
    assert.equal(problemCode(refused), "503 store_unavailable");
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.equal((await send(starved.url, "GET", "/healthz", {})).status, 200);
    assert.equal(problemCode(await send(starved.url, "GET", "/readyz", {})), "503 store_unavailable");
    assert.equal(
      (await send(starved.url, "GET", `/decode?user_id=${stored[0]}&label=USER.name`, { key })).status,
      200,
    );
    starved.process.kill("SIGTERM");
    await starved.ended;
    const roomy = await startServerProcess({ SIDEBAND_DATA: folder });
    assert.equal((await send(roomy.url, "GET", "/readyz", {})).status, 200);
    for (const user of stored) {
      const { json } = await send(roomy.url, "GET", `/decode?user_id=${user}&label=USER.name`, { key });
      assert.equal(json.value, user.slice(1).padEnd(1000, "."), user);
    }
    assert.equal((await send(roomy.url, "GET", "/usage", { key })).json.used, stored.length);
    roomy.process.kill("SIGTERM");
    assert.equal(await roomy.ended, 0);
  }));

test("a disk that fails at lmdb's last page: the service ends with a line, and the next start has all that was acknowledged", () =>
  withFolder(async (folder) => {
    const settings = { SIDEBAND_DATA: folder, SIDEBAND_LOG_LEVEL: "silent" };
    const fault = new URL("../fixtures/failing-meta-page.mjs", import.meta.url).href;
    const failing = await startServerProcess({ ...settings, NODE_OPTIONS: `--import ${fault}` });
    const key = await firstKey(failing);
    const encode = (url: string, user: string) =>
      send(url, "POST", "/encode", { key, body: { user_id: user, label: "USER.name", value: user } });
    assert.equal((await encode(failing.url, "before")).status, 200);
    failing.process.kill("SIGUSR2");
    while (!failing.output().includes("the meta page fails from now on: 1")) await new Promise(setImmediate);
    const reading = Array.from({ length: 20 }, () =>
      send(failing.url, "GET", "/context?user_id=before", { key }).catch(() => undefined),
    );
    const answers = await Promise.allSettled(["u1", "u2", "u3"].map((user) => encode(failing.url, user)));
    for (const answer of answers) assert.notEqual(answer.status === "fulfilled" && answer.value.status, 200);
    await Promise.all(reading);
    assert.equal(await failing.ended, 1);
    const told = failing.output().match(/^sideband: the disk failed while the store .* start it again$/gm);
    assert.equal(told?.length, 1, failing.output());
    const again = await startServerProcess(settings);
    const { json } = await send(again.url, "GET", "/decode?user_id=before&label=USER.name", { key });
    assert.equal(json.value, "before");
    assert.equal((await encode(again.url, "after")).status, 200);
    again.process.kill("SIGTERM");
    assert.equal(await again.ended, 0);
  }));

test("a start that cannot be: an unwritable folder, a newer format, an unknown setting, each with a clear line", () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, "file"), "");
    const cases: [Record<string, string>, RegExp][] = [
      [{ SIDEBAND_DATA: join(folder, "file", "data") }, /cannot write to the data folder/],
      [{ SIDEBAND_DATA: folder, SIDEBAND_PROT: "1" }, /unknown setting SIDEBAND_PROT/],
      [{ SIDEBAND_DATA: folder, SIDEBAND_MASTER_KEY: "abc" }, /SIDEBAND_MASTER_KEY takes/],
    ];
    for (const [settings, message] of cases) await assert.rejects(startServerProcess(settings), message);
  }));

test("a block written by one process is read by another, after a restart, with another number of threads", () =>
  withFolder(async (folder) => {
    const data = join(folder, "data");
    const settings = (threads: string) => ({
      SIDEBAND_DATA: data,
      SIDEBAND_LOG_LEVEL: "silent",
      SIDEBAND_BLOCK_WORKERS: threads,
    });
    const facts = [
      { label: "USER.name", value: "Ada Okafor" },
      { label: "TASK.current", value: "Group commit for the embedded store" },
      { label: "PROJ.goal", value: "No fact lost when a context is compacted" },
      { label: "PREF.tone", value: "Добрый и краткий 🙂" },
    ];
    const writer = await startServerProcess(settings("1"));
    const key = await firstKey(writer);
    await send(writer.url, "POST", "/encode/batch", { key, body: { user_id: "ada", facts } });
    const written = (await send(writer.url, "GET", "/context?user_id=ada", { key })).json.fdm_block;
    writer.process.kill("SIGTERM");
    assert.equal(await writer.ended, 0);

    const reader = await startServerProcess(settings("3"));
    const again = (await send(reader.url, "GET", "/context?user_id=ada", { key })).json.fdm_block;
    assert.equal(again, written, "the block is the same, byte for byte");
    const cut = written.split(" ").slice(0, 300).join(" ");
    for (const block of [written, cut]) {
      const { json } = await send(reader.url, "POST", "/read", { key, body: { user_id: "ada", block } });
      assert.deepEqual(
        json.facts.map(({ label, value }: { label: string; value: string }) => ({ label, value })),
        [facts[0], facts[3], facts[1], facts[2]],
      );
    }
    const { json } = await send(reader.url, "GET", "/decode/model?user_id=ada&label=PREF.tone", { key });
    assert.deepEqual([json.value, json.source, json.verified], [facts[3].value, "model", true]);
    reader.process.kill("SIGTERM");
    assert.equal(await reader.ended, 0);
  }));
