/**
 * The commands of docs/TEAM.md, in its order and as they are written there: with a service, a home folder and a clone for each
 * person, and a key of their own.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fieldsOf } from "../fixtures/fields.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { type Host, makeHost } from "./host.ts";

const PAGE = readFileSync(join(packageFolder, "docs", "TEAM.md"), "utf8");
const BLOCKS = [...PAGE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
const ADDRESS = "https://memory.example.com";
const KEY = /sb_live_\w{36}/g;

/** The block that holds a text, which is run as it is. */
function block(text: string): string {
  const found = BLOCKS.filter((block) => block.includes(text));
  assert.equal(found.length, 1, text);
  return found[0];
}

interface Service {
  readonly url: string;
  readonly settings: Record<string, string>;
}

async function serve(t: TestContext, { home }: Host): Promise<Service> {
  const settings = { SIDEBAND_DATA: join(home, "data") };
  const env = { ...process.env, ...settings, HOME: home, SIDEBAND_PORT: "0", SIDEBAND_LOG_LEVEL: "silent" };
  const service: ChildProcess = spawn(process.execPath, [builtSideband(), "serve"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    service.kill("SIGTERM");
    if (service.exitCode === null) await once(service, "exit");
  });
  let said = "";
  for await (const text of service.stdout!) {
    said += text;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
    if (url !== undefined) return { url, settings };
  }
  throw new Error(`the service has ended: ${said}`);
}

test("every block of docs/TEAM.md is run here", () => {
  assert.equal(BLOCKS.length, RUN_HERE.length, BLOCKS.join("\n"));
  for (const text of RUN_HERE) block(text);
});

const RUN_HERE = [
  "for person in",
  '--note "shares projects"',
  "sideband connect",
  "project share",
  "sideband project\n",
  "--own\nsideband remember",
  "forget PROJ.stack --own",
  "members add",
  "members remove",
  "keys revoke",
];

test("a team works as docs/TEAM.md says, from the first key to the last day of a member", async (t) => {
  const operator = makeHost(t);
  const { url, settings } = await serve(t, operator);
  const operate = async (line: string) => {
    const { status, stdout, stderr } = await operator.shell(`set -e\n${line}`, { env: settings });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const names = ["ada", "grace", "hedy", "kay", "lin"];
  const keys = Object.fromEntries(
    (await operate(block("for person in"))).match(KEY)!.map((key, i) => [names[i], key]),
  );
  const [account] = (await operate(block('--note "shares projects"'))).match(KEY)!;
  [keys.mary] = (await operate("sideband keys create --account acme --user mary")).match(KEY)!;

  const homes = Object.fromEntries(["ada", "grace", "kay", "mary"].map((name) => [name, makeHost(t)]));
  const run = async (name: string, line: string, env: Record<string, string> = {}) => {
    const { home, shell } = homes[name];
    const folder = join(home, "loom");
    mkdirSync(folder, { recursive: true });
    const clone = `git init -q . && { git remote add origin git@example.com:acme/loom.git || true; } 2>&-`;
    const text = line.replaceAll(ADDRESS, url).replaceAll("sb_live_…", account);
    return shell(`set -e\ncd "${folder}"\n${clone}\n${text}`, { env: { USER: name, ...env } });
  };
  const printed = async (name: string, line: string, env?: Record<string, string>) => {
    const { status, stdout, stderr } = await run(name, line, env);
    assert.equal(status, 0, `${line}\n${stderr}`);
    return stdout;
  };
  const withAccountKey = block("project share").split("\n")[0];
  const join_ = (name: string) => printed(name, block("sideband connect"), { SIDEBAND_API_KEY: keys[name] });

  await printed(
    "ada",
    "sideband remember PROJ.stack 'TypeScript, Node 20'\nsideband remember TASK.next weave",
  );
  for (const name of ["ada", "grace", "kay"])
    assert.match(await join_(name), new RegExp(`connected: the memory of ${name} is at ${url}`));
  assert.equal(await printed("grace", "sideband facts"), "");
  assert.match(
    await printed("ada", block("project share")),
    /shared by ada, grace, hedy, kay and lin, who read and write; 1 fact/,
  );

  const seen = await printed("grace", block("sideband project\n"));
  assert.match(
    seen,
    /shared by its members[\s\S]*written by ada, connect\nPROJ\.stack=TypeScript, Node 20\n$/,
  );
  assert.doesNotMatch(seen, /weave/);
  await printed("grace", block("--own\nsideband remember"));
  assert.match(
    await printed("grace", "sideband facts"),
    /# hides what is shared by ada, connect: "TypeScript, Node 20"\nPROJ\.stack=Zig, in my branch/,
  );
  assert.match(await printed("ada", "sideband facts"), /NOTE\.deploy=Thursdays, after the review/);
  await printed("grace", block("forget PROJ.stack --own"));
  assert.match(await printed("grace", "sideband facts"), /PROJ\.stack=TypeScript, Node 20/);
  const start = `echo '{"hook_event_name":"SessionStart","source":"startup"}' | sideband hook`;
  const section = await printed("kay", start);
  assert.match(section, /Shared with the user's team.*PROJ\.stack=TypeScript, Node 20/);
  assert.doesNotMatch(section, /NOTE\.deploy/);
  await printed("ada", "sideband project groups add NOTE");
  assert.match(await printed("kay", start), /NOTE\.deploy=Thursdays/);

  await join_("mary");
  assert.equal(await printed("mary", "sideband facts"), "");
  await printed("ada", `${withAccountKey}\n${block("members add")}`);
  assert.match(await printed("mary", "sideband facts"), /PROJ\.stack=TypeScript, Node 20/);

  await printed("kay", "sideband remember PROJ.goal 'Ship it'");
  await printed("ada", `${withAccountKey}\n${block("members remove")}`);
  assert.equal(await printed("kay", "sideband facts"), "");
  const [id] = (await operate("sideband keys list --account acme")).match(/^\w+(?=.*user "kay")/m)!;
  await operate(block("keys revoke").replace("ID", id));
  assert.match((await run("kay", "sideband facts")).stderr, /This API key has been revoked/);
  assert.match(await printed("ada", "sideband facts"), /written by kay, cli\nPROJ\.goal=Ship it/);

  const erased = await fetch(`${url}/users?user_id=kay&details=true`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${account}` },
  });
  const { left } = (await erased.json()) as { left: { values: number }[] };
  assert.deepEqual(fieldsOf(left, "values"), [1]);
  assert.match(await printed("ada", "sideband facts"), /written by cli\nPROJ\.goal=Ship it/);
  await printed("ada", `${withAccountKey}\nsideband project unshare --give-to ada --yes --user ada`);
  assert.match(await printed("ada", "sideband facts"), /PROJ\.goal=Ship it/);
  assert.equal(await printed("grace", "sideband facts"), "");
});
