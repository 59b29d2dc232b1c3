/** The memory for a person at a terminal: the built command, its default folder, and a service beside it. */

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { MODEL_TOOLS, runTool } from "../../src/agents/adapter.ts";
import { projectName } from "../../src/agents/project.ts";
import { sidebandCommand } from "../../src/cli/printed-commands.ts";
import { Sideband } from "../../src/sdk/index.ts";
import { endAfter } from "../fixtures/ends.ts";
import { startRunning } from "../http/running-service.ts";
import { caller, type TourClient } from "../mcp/tour.ts";
import { scriptedServer } from "../unit/sdk/scripted-server.ts";
import { builtSideband } from "./built.ts";
import { openHome, withHome } from "./home.ts";
import { callCommand } from "./loaded-command.ts";

/** For tests that need no empty folder, so that they share an owner. Each has users of its own. */
const home = openHome();
after(() => home.end());

test("a fact is remembered, recalled, listed and forgotten, and what is not there is said", async () => {
  const { run } = home;
  const ada = ["--user", "ada"];
  assert.deepEqual(await run("remember", "USER.gpu", "RTX  5090", ...ada), {
    status: 0,
    out: `USER.gpu: now "RTX  5090"; undo: ${sidebandCommand()} forget USER.gpu --user ada --person\n`,
    err: "",
  });
  assert.equal((await run("recall", "USER.gpu", ...ada)).out, "RTX  5090\n");
  assert.equal((await run("facts", ...ada)).out, "USER.gpu=RTX  5090\n");
  const { channel_count } = JSON.parse((await run("context", ...ada, "--json")).out);
  assert.equal(channel_count, 1);
  assert.match((await run("context", ...ada)).out, /\nUSER\.gpu=RTX {2}5090\n<\/sideband-memory>\n$/);
  assert.deepEqual(await run("facts", "--user", "eve"), { status: 0, out: "", err: "eve has no facts\n" });
  assert.match(
    (await run("forget", "USER.gpu", ...ada)).out,
    /^USER\.gpu: forgotten; undo: .* --user ada --person\n$/,
  );
  const none = { status: 1, out: "", err: "sideband forget: ada has no fact USER.gpu\n" };
  assert.deepEqual(await run("forget", "USER.gpu", ...ada), none);
  assert.match(
    (await run("recall", "USER.gpu", ...ada)).err,
    /USER\.gpu: it was forgotten \S+\nto get it back: /,
  );
  const unknown = await run("remember", "USER.nam", "Ada", ...ada);
  assert.equal(unknown.status, 1);
  assert.match(
    unknown.err,
    /^sideband remember: .*Did you mean USER\.name\?\nall labels: .* labels --user ada\nto make USER\.nam all .* --new\n$/,
  );
  assert.match((await run("remember", "USER.tone", "dry", ...ada)).err, /Did you mean PREF\.tone\?\n/);
  const missing = await run("recall", "USER.email", ...ada);
  assert.equal(missing.status, 1);
  assert.match(
    missing.err,
    /: nothing is remembered under USER\.email\nall facts: .* facts --user ada\nfacts by words: .* find USER\.email --user ada\n$/,
  );
  assert.equal((await run("remember", "USER.email", "ada@example.org", ...ada)).status, 0);
  assert.equal((await run("find", "E-mail", "adress", ...ada)).out, "USER.email=ada@example.org\n");
  assert.equal((await run("recall", "USER.email", ...ada)).out, "ada@example.org\n");
  for (const command of ["recall", "forget", "history"])
    assert.match(
      (await run(command, "USER.emial", ...ada)).err,
      /: nothing is remembered under USER\.emial\. Did you mean USER\.email\?\nall facts: /,
    );
  const misspelt = await run("remember", "nonsense", "x", ...ada);
  assert.equal(misspelt.status, 1);
  assert.match(
    misspelt.err,
    /: there is no label nonsense\na label is GROUP\.name, such as FAMILY\.wife: [^\n]*\nall /,
  );
});

test("facts are found by words, with a slip, in any project if asked, and what is not found is said", async () => {
  const { run } = home;
  const finder = ["--user", "finder"];
  await run("remember", "FAMILY.wife_birthday", "14 May", ...finder);
  await run("remember", "FAMILY.wife", "Grace", ...finder);
  await run("remember", "PROJ.goal", "a birthday card", ...finder, "--project", "loom");
  const found = await run("find", "wife", "birtday", ...finder, "--person");
  assert.equal(found.out, "FAMILY.wife_birthday=14 May\nFAMILY.wife=Grace\n");
  const card = await run("find", "birthday card", "--everywhere", "--limit", "1", ...finder, "--person");
  assert.equal(card.out, "# in loom\nPROJ.goal=a birthday card\n");
  const { facts, by } = JSON.parse((await run("find", "grace", ...finder, "--json")).out);
  assert.deepEqual([by, facts.length, facts[0].place], ["words", 1, "person"]);
  assert.deepEqual(await run("find", "zebra", ...finder), {
    status: 1,
    out: "",
    err: "sideband find: finder has no fact with these words\n",
  });
  const advice = "another project has one: --everywhere looks in all projects\n";
  assert.equal(
    (await run("find", "card", ...finder, "--person")).err,
    `sideband find: finder has no fact with these words; ${advice}`,
  );
  assert.equal(
    (await run("find", "wifi", ...finder)).out,
    "# perhaps\nFAMILY.wife=Grace\n# perhaps\nFAMILY.wife_birthday=14 May\n",
  );
  const carf = await run("find", "wifi", "goal", "card", ...finder, "--person");
  assert.equal(carf.out, `# perhaps\nFAMILY.wife=Grace\n# perhaps\nFAMILY.wife_birthday=14 May\n# ${advice}`);
  assert.deepEqual(JSON.parse((await run("find", "zebra", ...finder, "--json")).out).facts, []);
  assert.equal(
    (await run("find", "", ...finder)).err,
    "sideband find: WORDS must have at least 1 character.\n",
  );
  for (const wrong of [["find"], ["find", "x", "--limit", "51"], ["find", "x", "--limit", "ten"]])
    assert.equal((await run(...wrong, ...finder)).status, 2);
});

test("a wrong call of these commands is refused with status 2 before a memory is opened", () =>
  withHome(async ({ data, run }) => {
    const calls: [RegExp, ...string[]][] = [
      [
        /takes LABEL and \[VALUE\]; put a VALUE with spaces in quotes/,
        "remember",
        "USER.name",
        "Ada",
        "Lovelace",
      ],
      [/takes LABEL and VALUE; only --until, /, "remember", "USER.name"],
      [/takes LABEL \(/, "recall"],
      [/takes no arguments, but was given "now"/, "context", "now"],
      [/--data must not be empty/, "facts", "--data", ""],
      [/--url takes an http\(s\) address such as http:/, "facts", "--url", "nonsense"],
      [/--url takes an http\(s\) address/, "facts", "--url", ""],
      [/give one of them/, "facts", "--url", "http://127.0.0.1:9", "--data", data],
      [/--account is for a data folder/, "facts", "--url", "http://127.0.0.1:9", "--account", "acme"],
    ];
    for (const [message, ...call] of calls) {
      const { status, err } = await run(...call);
      assert.equal(status, 2, call.join(" "));
      assert.match(err, message);
    }
    assert.ok(!existsSync(data));
  }));

test("a command that reads makes nothing where there is no store, and says how one begins", () =>
  withHome(async ({ data, env, run }) => {
    const typo = join(env.HOME ?? "", "typo", "path");
    for (const [folder, ...option] of [[data], [typo, "--data", typo]]) {
      for (const call of [["facts"], ["context"], ["recall", "USER.name"], ["forget", "USER.name"]]) {
        assert.deepEqual(await run(...call, ...option), {
          status: 1,
          out: "",
          err:
            `sideband ${call[0]}: there is no store in ${folder}: nothing is remembered there yet; ` +
            `a first fact begins one, and so does: ${[sidebandCommand(), "open", ...option].join(" ")}\n`,
        });
      }
    }
    const { status, out } = await run("agents", "status");
    assert.equal(status, 0, "what is not begun is not broken");
    assert.match(out, /memory of .*: there is no store in .*nothing is remembered there yet/);
    const blank = await run("remember", "USER.name", "  \t ");
    assert.equal(blank.status, 1);
    assert.match(blank.err, /^sideband remember: the VALUE is empty or spaces alone: [^\n]*\n$/);
    assert.deepEqual(readdirSync(env.HOME ?? ""), []);
  }));

test("in a repository the terminal has the facts of an agent there, and in another one it has not", async () => {
  const { env, runIn } = home;
  const repositories = ["loom", "mill"].map((name) => join(env.HOME ?? "", name));
  for (const folder of repositories) mkdirSync(join(folder, ".git"), { recursive: true });
  const [loom, mill] = repositories;
  const client = new Client({ name: "test", version: "1.0.0" });
  const launch = { command: process.execPath, args: [builtSideband(), "mcp", "--user", "weaver"], cwd: loom };
  await client.connect(new StdioClientTransport({ ...launch, env: env as Record<string, string> }));
  const agent = caller(client as unknown as TourClient);
  await agent("remember", { label: "TASK.next", value: "weave" });
  await agent("remember", { label: "USER.name", value: "Ada" });
  await client.close();
  const factsIn = async (cwd: string, ...more: string[]) =>
    (await runIn(cwd, "facts", "--user", "weaver", ...more)).out;
  const project = projectName(realpathSync(loom));
  assert.equal(
    await factsIn(loom),
    `# weaver\nUSER.name=Ada\n# weaver, for the project ${project}\nTASK.next=weave\n`,
  );
  assert.equal(await factsIn(mill), "USER.name=Ada\n");
  assert.equal(await factsIn(loom, "--person"), "USER.name=Ada\n");
  // A goal that is told outside of all repositories is that folder's, and nobody else's.
  const notes = join(env.HOME ?? "", "notes-of-weaver");
  mkdirSync(notes);
  const goal = await runIn(notes, "remember", "PROJ.goal", "write a book", "--user", "weaver");
  assert.match(goal.out, /^PROJ\.goal for the folder ~\/notes-of-weaver: now "write a book"; undo: /);
  assert.equal(
    await factsIn(notes),
    "# weaver\nUSER.name=Ada\n# weaver, for the folder ~/notes-of-weaver\nPROJ.goal=write a book\n",
  );
  assert.equal(await factsIn(env.HOME ?? ""), "USER.name=Ada\n");
  const sessionIn = async (cwd: string) => {
    const input = JSON.stringify({ hook_event_name: "SessionStart", source: "startup", cwd });
    const hook = [builtSideband(), "hook", "--user", "weaver"];
    return execFileSync(process.execPath, hook, { env, cwd: notes, input, encoding: "utf8" });
  };
  assert.match(await sessionIn(notes), /PROJ\.goal=write a book/);
  assert.match(await sessionIn(loom), /TASK\.next=weave/);
  for (const folder of [loom, mill]) assert.doesNotMatch(await sessionIn(folder), /PROJ\.goal/);
  const cloth = await runIn(loom, "remember", "PROJ.goal", "cloth", "--user", "weaver");
  assert.match(cloth.out, new RegExp(`project ${project}: now "cloth"; undo: .* --project ${project}$`, "m"));
  const branch = ["remember", "PROJ.branch", "x", "--user", "weaver", "--project", "mill/side"];
  assert.match((await runIn(loom, ...branch)).out, /^PROJ\.branch for the worktree mill\/side: now "x"; /);
  const elsewhere = await factsIn(mill, "--project", project);
  assert.equal(
    elsewhere,
    `# weaver\nUSER.name=Ada\n# weaver, for the project ${project}\nTASK.next=weave\nPROJ.goal=cloth\n`,
  );
  assert.equal((await runIn(loom, "forget", "TASK.next", "--user", "weaver")).status, 0);
  assert.equal(
    await factsIn(loom),
    `# weaver\nUSER.name=Ada\n# weaver, for the project ${project}\nPROJ.goal=cloth\n`,
  );
  const { out } = await runIn(loom, "context", "--user", "weaver", "--json");
  assert.equal(JSON.parse(out).plain_index, "USER.name=Ada\nPROJ.goal=cloth");
});

test("a service prints its lines before those of its log, and on a relative folder it names the whole path", () =>
  withHome(async ({ env }) => {
    const path = join(env.HOME ?? "", "said");
    const file = openSync(path, "w");
    const args = [builtSideband(), "serve", "--port", "0", "--data", "notes"];
    const service = spawn(process.execPath, args, { env, cwd: env.HOME, stdio: ["ignore", file, file] });
    closeSync(file);
    try {
      while (!readFileSync(path, "utf8").includes('"msg":"listening"'))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const said = readFileSync(path, "utf8");
      assert.match(
        said,
        /^listening on http.*\nadmin token [^{]*\n {2}[^\n]*\/first\.key\n[^{]*\n {2}curl [^\n]*\n\n[^{]*\n {2}[^\n]* facts --data [^\n]*\n\n\{"level":30,/,
      );
      // So that its advice works in every folder.
      const folder = join(env.HOME ?? "", "notes");
      assert.ok(said.includes(`admin token in ${join(folder, "admin.token")};`), said);
      assert.ok(said.includes(` --data ${folder}\n`), said);
      assert.ok(said.includes(`${folder} had no account yet.`), said);
    } finally {
      service.kill("SIGTERM");
      await once(service, "exit");
    }
  }));

/** As a shell passes it: Node.js itself can pass valid UTF-8 alone. */
function shell(env: NodeJS.ProcessEnv, line: string): Promise<{ status: number; err: string }> {
  return new Promise((resolve) => {
    execFile(
      "/bin/sh",
      ["-c", line],
      { env: { ...env, NODE: process.execPath, CLI: builtSideband() } },
      (error, _, err) => resolve({ status: error === null ? 0 : Number(error.code), err }),
    );
  });
}

test("a value that is not valid UTF-8 is refused where its bytes can be told; a typed U+FFFD is kept", async () => {
  const { env, run } = home;
  if (existsSync("/proc/self/cmdline")) {
    const { status, err } = await shell(env, `"$NODE" "$CLI" remember USER.name "$(printf 'a\\377\\376b')"`);
    assert.equal(status, 2, err);
    assert.match(err, /is not valid UTF-8: pass text in UTF-8/);
  }
  assert.match((await run("remember", "USER.name", "a\uFFFDb")).out, /^USER\.name: now "a\uFFFDb"; /);
});

/** Runs a service, and hands what it said at its first start over. */
async function whileServing(env: NodeJS.ProcessEnv, work: (said: string) => Promise<void>) {
  const service = spawn(process.execPath, [builtSideband(), "serve", "--port", "0"], { env });
  try {
    let said = "";
    for await (const chunk of service.stdout) {
      said += chunk;
      if (said.includes("/encode")) break;
    }
    await work(said);
  } finally {
    service.kill("SIGTERM");
    await once(service, "exit");
  }
}

test("the service, the operator's commands and the terminal use one default folder; the user is the one who runs it", () =>
  withHome(({ data, env, run }) =>
    whileServing(env, async (said) => {
      const [, url] = /^listening on (http:\S+)/.exec(said)!;
      const [, file] = /^ {2}(\S+\/first\.key)$/m.exec(said)!;
      const key = readFileSync(file, "utf8").trim();
      assert.equal((await run("remember", "USER.name", "Ada", "--json")).status, 0);
      const user = (await run("facts", "--json")).out;
      const { user_id } = JSON.parse(user) as { user_id: string };
      const answer = await fetch(`${url}/decode?label=USER.name&user_id=${encodeURIComponent(user_id)}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      assert.equal(((await answer.json()) as { value: string }).value, "Ada");
      assert.match((await run("keys", "list")).out, new RegExp(key.slice(0, 12)));
      assert.ok(existsSync(join(data, "sideband.json")));
    }),
  ));

test("--url and SIDEBAND_API_KEY use that service; --data names another folder, also relative to the working directory", async (t) => {
  const running = endAfter(t, await startRunning());
  await withHome(
    async ({ data, env, run }) => {
      assert.equal(
        (await run("remember", "USER.os", "Plan 9", "--user", "ada", "--url", running.url)).status,
        0,
      );
      const { json } = await running.call("GET", "/decode?user_id=ada&label=USER.os");
      assert.equal(json.value, "Plan 9");
      const refused = await run("facts", "--url", "http://127.0.0.1:9");
      assert.equal(refused.status, 1);
      assert.match(refused.err, /^sideband facts: cannot reach http:\/\/127\.0\.0\.1:9\n$/);
      const foreign = await run("facts", "--account", "acme");
      assert.equal(foreign.status, 2, "the key in the environment has its own account");
      assert.match(foreign.err, /--account is for a data folder/);
      const folder = join(env.HOME ?? "", "notes");
      mkdirSync(folder);
      assert.equal((await run("remember", "USER.os", "Inferno", "--data", "./notes")).status, 0);
      assert.ok(existsSync(join(folder, "sideband.json")));
      // As "--data=~/notes" comes from a shell.
      assert.equal((await run("recall", "USER.os", "--data", "~/notes")).out, "Inferno\n");
      assert.ok(!existsSync(data));
    },
    { SIDEBAND_API_KEY: running.key },
  );
});

test("sideband export --user asks the service that is set, and a data folder only where it is named", async (t) => {
  const running = endAfter(t, await startRunning());
  await running.call("POST", "/encode", { body: { user_id: "ada", label: "USER.os", value: "Plan 9" } });
  await withHome(
    async ({ run, env, data }) => {
      const file = join(env.HOME ?? "", "ada.jsonl");
      const { out, err } = await run("export", "--user", "ada", "--out", file);
      assert.equal(err + out, `wrote 0 keys and 1 user with 1 fact to ${file}\n`);
      assert.match(readFileSync(file, "utf8"), /"user_id":"ada".*"Plan 9"/);
      assert.ok(!existsSync(data));
      const local = await run("export", "--user", "ada", "--data", data);
      assert.deepEqual([local.status, local.out], [1, ""]);
      const away = await run("export", "--user", "ada", "--url", "http://127.0.0.1:9", "--out", file);
      assert.equal(away.err, "sideband export: cannot reach http://127.0.0.1:9\n");
      assert.match(readFileSync(file, "utf8"), /Plan 9/);
      assert.equal((await run("export", "--url", running.url)).status, 0, "of the user who runs it");
      assert.equal((await run("export", "--user", "ada", "--account", "acme")).status, 2);
    },
    { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: running.key },
  );
});

test("a key of another user than the one who runs it leads to the user's setting, at a terminal and over MCP", async (t) => {
  const running = endAfter(t, await startRunning());
  const { json } = await running.call("POST", "/tokens", {
    body: { user_id: "ada", access: "write", ttl_s: 600 },
  });
  const other = `this key is for another user than "${userInfo().username}": name its user with --user or SIDEBAND_USER_ID`;
  const settings = { SIDEBAND_API_URL: running.url, SIDEBAND_API_KEY: json.token };
  await withHome(async ({ run, env }) => {
    assert.deepEqual(await run("facts"), { status: 1, out: "", err: `sideband facts: ${other}\n` });
    assert.equal((await run("facts", "--user", "ada")).status, 0);
    const client = new Client({ name: "test", version: "1.0.0" });
    const launch = { command: process.execPath, args: [builtSideband(), "mcp"] };
    await client.connect(new StdioClientTransport({ ...launch, env: env as Record<string, string> }));
    const { content } = await client.callTool({ name: "recall", arguments: {} });
    assert.deepEqual(content, [{ type: "text", text: `user_not_allowed: ${other}` }]);
    await assert.rejects(client.getPrompt({ name: "context" }), /name its user with --user/);
    await client.close();
  }, settings);
});

test("a service that wants a key, and an address that is none, lead to the setting", async (t) => {
  const running = endAfter(t, await startRunning());
  await withHome(async ({ run }) => {
    assert.deepEqual(await run("facts", "--url", running.url), {
      status: 1,
      out: "",
      err: "sideband facts: the service asks for a key: set SIDEBAND_API_KEY to one\n",
    });
  });
  await withHome(
    async ({ run }) => {
      const { status, err } = await run("facts");
      assert.equal(status, 1);
      assert.match(
        err,
        /^sideband facts: SIDEBAND_API_URL takes an http\(s\) address such as http:[^\n]*\n$/,
      );
    },
    { SIDEBAND_API_URL: "127.0.0.1:8787" },
  );
});

test("what looks like a secret is refused as from an agent, and SIDEBAND_ALLOW_SECRETS=1 lets it be stored", async () => {
  const { env, run } = home;
  const call = ["remember", "USER.role", "sk-ant-api03-AAAAAAAAAAAAAAAA", "--user", "keeper"];
  const { status, err } = await run(...call);
  assert.equal(status, 1);
  assert.match(
    err,
    /^sideband remember: This looks like an API key: .* SIDEBAND_ALLOW_SECRETS=1 lets it be stored\.\n$/,
  );
  assert.equal((await run("facts", "--user", "keeper")).err, "keeper has no facts\n");
  assert.match(
    (await run("remember", "USER.name", "Ada <private>Lovelace</private>", "--user", "keeper")).out,
    /^USER\.name: now "Ada"; /,
  );
  const allowed = { ...env, SIDEBAND_ALLOW_SECRETS: "1" };
  const { out } = await callCommand({ args: call, env: allowed, cwd: env.HOME ?? "" });
  assert.ok(out.startsWith(`USER.role: now "${call[2]}"; undo: `), out);
});

test("SIDEBAND_TIMEOUT_MS is how long a command waits", async (t) => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  await withHome(
    async ({ run }) => {
      assert.deepEqual(await run("facts", "--url", `http://127.0.0.1:${port}`), {
        status: 1,
        out: "",
        err: "sideband facts: no answer within 300 ms\n",
      });
    },
    { SIDEBAND_TIMEOUT_MS: "300" },
  );
});

test("a forget whose answer is lost may have happened, and the terminal and an agent's tool say so", async (t) => {
  const { url } = await scriptedServer(t, ({ method }) =>
    method === "DELETE" ? "drop" : { body: { revisions: [] } },
  );
  const lost = await home.run("forget", "USER.name", "--user", "ada", "--person", "--url", url);
  assert.equal(lost.status, 1);
  assert.match(
    lost.err,
    /^sideband forget: the connection to .* was lost before the answer: .*may have been done/,
  );
  const memory = new Sideband({ baseUrl: url });
  const forget = MODEL_TOOLS.find(({ name }) => name === "forget")!;
  const said = await runTool(forget, { memory, userId: "ada" }, { label: "USER.name" });
  assert.match(String(said.error), /^outcome_unknown: .*may have been done/);
});
