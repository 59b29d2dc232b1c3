/** `sideband open`, attacked: other users of the machine, other origins, other names, links used twice, ports guessed. */

import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { OwnerClient } from "../../src/door-client/owner-client.ts";
import { builtSideband } from "./built.ts";
import { type Home, withHome } from "./home.ts";

interface Opened {
  readonly child: ChildProcess;
  readonly link: URL;
  readonly lines: string[];
  /** Ends it as Ctrl-C does; resolves to the exit status. */
  end(): Promise<number>;
}

async function open({ env, data }: Home, ...args: string[]): Promise<Opened> {
  const child = spawn(process.execPath, [builtSideband(), "open", "--data", data, "--user", "ada", ...args], {
    env,
    cwd: dirname(data),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout! });
  const link = await new Promise<URL>((resolve, reject) => {
    reader.on("line", (line) => {
      lines.push(line);
      if (line.trim().startsWith("http://")) resolve(new URL(line.trim()));
    });
    child.once("exit", (status) => reject(new Error(`it ended with ${status}: ${lines.join("\n")}`)));
  });
  return {
    child,
    link,
    lines,
    end: async () => {
      const exit = once(child, "exit");
      child.kill("SIGINT");
      return (await exit)[0];
    },
  };
}

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request as any program can make it: with every header as it likes. */
function ask(
  { port }: URL,
  path: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, headers: { connection: "close", ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What a browser has once it was let in. */
interface Pass {
  readonly base: string;
  readonly cookie: string;
}

async function enter(link: URL): Promise<Pass> {
  const { status, headers } = await ask(link, link.pathname);
  assert.equal(status, 303);
  const [, base] = /^(\/[\w-]{43})\/memory#/.exec(String(headers.location)) ?? [];
  const [cookie] = String(headers["set-cookie"]).split(";");
  return { base, cookie };
}

const FACTS = "/facts?user_id=ada";
const JSON_BODY = { "content-type": "application/json" };

async function remembered(home: Home): Promise<void> {
  const { status, err } = await home.run(
    "remember",
    "USER.name",
    "Ada Lovelace",
    "--user",
    "ada",
    "--person",
  );
  assert.equal(status, 0, err);
}

test("one browser is let in by the link, once, with a cookie for that port and path alone", async () => {
  await withHome(async (home) => {
    await remembered(home);
    const { link, end } = await open(home, "--no-browser");
    assert.match(link.href, /^http:\/\/127\.0\.0\.1:\d+\/open\/[\w-]{43}$/);
    // A browser that only prepares for the visit does not use it up.
    assert.equal((await ask(link, link.pathname, { headers: { "sec-purpose": "prefetch" } })).status, 403);
    assert.equal((await ask(link, link.pathname, { method: "HEAD" })).status, 404);
    const first = await ask(link, link.pathname);
    assert.equal(first.status, 303);
    const [, base] = /^(\/[\w-]{43})\/memory#user=ada$/.exec(String(first.headers.location)) ?? [];
    assert.deepEqual(
      String(first.headers["set-cookie"]).replace(/=[\w-]{43};/, "=…;"),
      `sideband_open_${link.port}=…; Path=${base}; HttpOnly; SameSite=Strict`,
    );
    const [cookie] = String(first.headers["set-cookie"]).split(";");
    const again = await ask(link, link.pathname);
    assert.deepEqual([again.status, again.headers["set-cookie"]], [403, undefined]);
    assert.match(again.text, /used already/);
    // With the cookie, too.
    assert.equal((await ask(link, link.pathname, { headers: { cookie } })).status, 403);

    const facts = await ask(link, base + FACTS, { headers: { cookie } });
    assert.match(facts.text, /Ada Lovelace/);
    const body = JSON.stringify({ user_id: "ada", label: "USER.os", value: "Debian" });
    const headers = { cookie, ...JSON_BODY, origin: link.origin, "sec-fetch-site": "same-origin" };
    assert.equal((await ask(link, `${base}/encode`, { method: "POST", headers, body })).status, 200);
    const page = await ask(link, `${base}/memory`);
    assert.match(page.text, /<html class="local"/);
    assert.match(String(page.headers["content-security-policy"]), /default-src 'none'/);
    assert.doesNotMatch(page.text, /Ada Lovelace/);
    const [asset] = /\/assets\/memory-[^"]+\.js/.exec(page.text)!;
    assert.equal((await ask(link, asset)).status, 200);
    assert.equal(await end(), 0);
    await assert.rejects(ask(link, `${base}/memory`), /ECONNREFUSED/);
  });
});

test("without the cookie, the path, the own origin and the address itself there is nothing", async () => {
  await withHome(async (home) => {
    await remembered(home);
    const opened = await open(home, "--no-browser");
    const { link } = opened;
    const { base, cookie } = await enter(link);
    const refused = async (
      path: string,
      options: Parameters<typeof ask>[2],
      why: string,
      expected: number,
    ) => {
      const { status, text, headers } = await ask(link, path, options);
      assert.deepEqual([status, /Ada|Lovelace/.test(text)], [expected, false], why);
      assert.equal(headers["access-control-allow-origin"], undefined, why);
    };
    const inside = base + FACTS;
    await refused("/", {}, "the port alone", 404);
    for (const path of [
      "/memory",
      FACTS,
      "/users",
      "/console",
      "/admin/keys",
      "/operator/export",
      "/mcp",
      "/metrics",
    ])
      await refused(path, { headers: { cookie } }, `a guessed address: ${path}`, 404);
    await refused(inside, {}, "no cookie", 403);
    await refused(inside, { headers: { cookie: `${cookie.slice(0, -1)}_` } }, "another cookie", 403);
    await refused(inside, { headers: { cookie: cookie.split("=")[1] } }, "a cookie without its name", 403);
    await refused(`${base.slice(0, -1)}_${FACTS}`, { headers: { cookie } }, "another path", 404);
    for (const host of [
      `evil.example:${link.port}`,
      `localhost:${link.port}`,
      "127.0.0.1",
      `127.0.0.1.evil.example:${link.port}`,
    ])
      await refused(inside, { headers: { cookie, host } }, `DNS rebinding: ${host}`, 403);
    await refused(
      link.pathname,
      { headers: { host: `evil.example:${link.port}` } },
      "the link by another name",
      403,
    );
    for (const origin of [
      "https://evil.example",
      "null",
      `http://127.0.0.1:${Number(link.port) + 1}`,
      `http://localhost:${link.port}`,
    ])
      await refused(inside, { headers: { cookie, origin } }, `another origin: ${origin}`, 403);
    for (const site of ["cross-site", "same-site", "none"])
      await refused(inside, { headers: { cookie, "sec-fetch-site": site } }, `not this page: ${site}`, 403);
    const body = JSON.stringify({ user_id: "ada", label: "USER.name", value: "Eve" });
    const write = { method: "POST", headers: { cookie, ...JSON_BODY }, body };
    await refused(`${base}/encode`, write, "a write that does not say where it comes from", 403);
    // What a form of another site could send.
    const form = { cookie, "content-type": "text/plain", "sec-fetch-site": "cross-site", origin: "null" };
    await refused(`${base}/encode`, { ...write, headers: form }, "a form of another site", 403);

    // The operator's calls go through the same door, and are not handed on.
    const own = { cookie, "sec-fetch-site": "same-origin" };
    const admin = Object.values(OPERATIONS).filter(({ access }) => access === "admin");
    for (const { method, path } of admin)
      await refused(
        base + path.replace(/:\w+/, "x"),
        { method, headers: own },
        `the operator's: ${path}`,
        404,
      );
    for (const path of [
      "/operator/owner",
      "/operator/export",
      "/operator/end",
      "/console/session",
      "/mcp",
      "/docs",
    ])
      for (const method of ["GET", "POST"])
        await refused(base + path, { method, headers: own }, `${method} ${path}`, 404);
    for (const path of [
      "/../operator/export",
      "/channels/../operator/export",
      "//operator/export",
      "/%6fperator/export",
      "/v1/admin/keys",
      "/facts/..%2f..%2fadmin%2fkeys",
    ])
      await refused(base + path, { headers: own }, `a way around: ${path}`, 404);
    await refused("/assets/../operator/export", {}, "a way around, by the assets", 404);
    const long = { method: "POST", headers: { ...own, ...JSON_BODY }, body: "x".repeat(70_000) };
    await refused(`${base}/encode`, long, "a body without a limit", 413);
    // It names its account itself.
    const foreign = await ask(link, inside, { headers: { cookie, "sideband-account": "other" } });
    assert.match(foreign.text, /Ada Lovelace/);

    // Of two such pages, neither takes what the other gave.
    const second = await open(home, "--no-browser");
    const theirs = await enter(second.link);
    assert.notEqual(theirs.base, base);
    const renamed = cookie.replace(link.port, second.link.port);
    assert.equal((await ask(second.link, base + FACTS, { headers: { cookie } })).status, 404);
    for (const wrong of [cookie, renamed, `${cookie}; ${renamed}`])
      assert.equal((await ask(second.link, theirs.base + FACTS, { headers: { cookie: wrong } })).status, 403);
    const both = await ask(second.link, theirs.base + FACTS, {
      headers: { cookie: `${cookie}; ${theirs.cookie}` },
    });
    assert.equal(both.status, 200);
    assert.deepEqual([await opened.end(), await second.end()], [0, 0]);
  });
});

/** What a program of another user finds out: all arguments, all new files of the temporary folder, and the port itself. */
const SPY = `
const { readdirSync, readFileSync, statSync } = require("node:fs");
const { join } = require("node:path");
const read = (file) => { try { return readFileSync(file, "utf8"); } catch { return ""; } };
const list = (folder) => { try { return readdirSync(folder, { withFileTypes: true }); } catch { return []; } };
// Folders of other tests come and go meanwhile.
const changedMs = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const seen = [];
for (const { name } of list("/proc")) if (/^\\d+$/.test(name)) for (const file of ["cmdline", "environ"]) seen.push(read(join("/proc", name, file)));
const walk = (folder, depth) => {
  for (const entry of list(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 0) walk(path, depth - 1);
    else if (entry.isFile()) seen.push(read(path));
  }
};
const [data, tmp, port, sinceMs] = process.argv.slice(1);
for (const { name } of list(tmp))
  if (name.startsWith("sideband-") && changedMs(join(tmp, name)) >= sinceMs) walk(join(tmp, name), 3);
walk(data, 3);
const tries = ["/", "/memory", "/open/", "/facts?user_id=ada", "/admin/keys"].map(async (path) => {
  const answer = await fetch("http://127.0.0.1:" + port + path);
  return answer.status + " " + (await answer.text());
});
const door = new Promise((resolve) => {
  const socket = require("node:net").connect(join(data, "door.sock"), () => resolve("OPEN")).on("error", ({ code }) => resolve(code));
  socket.unref();
});
Promise.all([...tries, door]).then((answers) => {
  process.stdout.write(JSON.stringify({ seen: seen.join("\\n"), answers }), () => process.exit(0));
});
`;

test("other users of the machine learn nothing: not by arguments, not by files, not at the port", async () => {
  await withHome(async (home) => {
    await remembered(home);
    // A desktop whose browser takes what it is given.
    const bin = join(dirname(home.data), "bin");
    const taken = join(dirname(home.data), "taken");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "xdg-open"),
      `#!/bin/sh\nprintf '%s' "$*" > "${taken}.new" && mv "${taken}.new" "${taken}"\nsleep 60\n`,
    );
    chmodSync(join(bin, "xdg-open"), 0o755);
    // What is older has nothing of this link, and other tests have left much there.
    const sinceMs = statSync(bin).mtimeMs;
    const { link, end } = await open({ ...home, env: { ...home.env, PATH: `${bin}:${home.env.PATH}` } });
    while (!existsSync(taken)) await new Promise((resolve) => setTimeout(resolve, 20));
    const page = readFileSync(taken, "utf8");
    const code = link.pathname.slice("/open/".length);
    assert.ok(!page.includes(code), "the browser's arguments do not have the link");
    assert.ok(readFileSync(page, "utf8").includes(`url=${link.href}`));
    for (const path of [page, dirname(page)]) assert.equal(statSync(path).mode & 0o077, 0, path);

    const isRoot = process.getuid?.() === 0;
    // Not "nobody", as whom the databases of other tests run: it would read all of their files.
    const other = isRoot ? { uid: 61_000, gid: 61_000 } : {};
    const { seen, answers } = await new Promise<{ seen: string; answers: string[] }>((resolve, reject) =>
      execFile(
        process.execPath,
        ["-e", SPY, home.data, dirname(dirname(page)), link.port, String(sinceMs)],
        { ...other, cwd: "/", env: { PATH: "/usr/bin:/bin" }, maxBuffer: 1 << 28 },
        (error, out) => (error === null ? resolve(JSON.parse(out)) : reject(error)),
      ),
    );
    assert.ok(
      seen.includes("--no-browser") || seen.includes("sideband"),
      "it saw the arguments of processes",
    );
    // As the same user it reads the files, which are that user's own.
    if (isRoot) assert.ok(!seen.includes(code));
    assert.deepEqual(
      answers.slice(0, -1).map((answer) => answer.slice(0, 3)),
      ["404", "404", "403", "404", "404"],
    );
    if (isRoot) assert.match(answers.at(-1)!, /EACCES|EPERM|ENOENT/);
    assert.doesNotMatch(answers.join("\n"), /Ada|Lovelace/);
    const { base, cookie } = await enter(link);
    assert.match((await ask(link, base + FACTS, { headers: { cookie } })).text, /Ada Lovelace/);
    assert.ok(!existsSync(page), "the page is gone once the link was used");
    assert.equal(await end(), 0);
  });
});

test("it ends when nobody has used the page for a while, though the page listens", async () => {
  await withHome(async (home) => {
    await remembered(home);
    const { child, link, lines } = await open(home, "--no-browser", "--idle-s", "8");
    const { base, cookie } = await enter(link);
    const close = once(child, "close");
    const stream = ask(link, `${base}/users/events?user_id=ada`, { headers: { cookie } });
    await assert.rejects(stream, /ECONNRESET|aborted|socket hang up/);
    assert.deepEqual(await close, [0, null]);
    assert.match(lines.at(-1)!, /^closed: nobody has used the page for 8 seconds$/);
  });
});

test("an empty memory opens, an owner that has ended is started again; for a service it says what to do", async () => {
  await withHome(async (home) => {
    const service = await home.run("open", "--url", "https://sideband.example");
    assert.equal(service.status, 1);
    assert.match(service.err, /open https:\/\/sideband\.example\/memory and sign in with its key/);
    assert.equal((await home.run("open", "--idle-s", "0")).status, 2);
    mkdirSync(dirname(home.data));
    const empty = await open(home, "--no-browser");
    const page = await enter(empty.link);
    const first = await ask(empty.link, `${page.base}/facts?user_id=ada`, {
      headers: { cookie: page.cookie },
    });
    assert.equal(first.status, 200);
    await empty.end();
    await remembered(home);
    const { link, end } = await open(home, "--no-browser");
    const { base, cookie } = await enter(link);
    const { pid } = JSON.parse(readFileSync(join(home.data, "owner.json"), "utf8"));
    process.kill(pid, "SIGKILL");
    while (await OwnerClient.of(home.data).hasOwner(10_000)) await pause(20);
    assert.match((await ask(link, base + FACTS, { headers: { cookie } })).text, /Ada Lovelace/);
    assert.equal(await end(), 0);
  });
});
