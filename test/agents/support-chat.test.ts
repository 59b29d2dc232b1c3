/**
 * examples/support-chat as a person starts it, on a service of its own: many customers at once, what each may write, an
 * erasure with its receipt, and the nightly job in Python. Its page is tried in test/e2e/support-chat.test.ts.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { Sideband } from "../../src/sdk/index.ts";
import { builtSideband, packageFolder } from "./built.ts";
import { makeHost } from "./host.ts";

const FOLDER = join(packageFolder, "examples", "support-chat");
const SECRET = "secret of the payment service";

interface Chat {
  readonly url: string;
  readonly data: string;
  readonly service: { readonly baseUrl: string; readonly apiKey: string };
  /** Of its service. */
  readonly folder: string;
  end(): Promise<void>;
}

async function startChat(home: string): Promise<Chat> {
  builtSideband();
  const data = join(home, "support-data");
  const env = { PATH: process.env.PATH, TMPDIR: home, PORT: "0", SUPPORT_DATA: data, PAYMENT_SECRET: SECRET };
  const child = spawn(process.execPath, [join(FOLDER, "server.mjs")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      if (said.includes("first.key")) resolve();
    });
    child.once("exit", () => reject(new Error(`the example ended: ${said}`)));
  });
  const [, url] = /support chat: (\S+)/.exec(said)!;
  const [, baseUrl, keyFile] = /SIDEBAND_API_URL=(\S+) SIDEBAND_API_KEY=\$\(cat (\S+)\)/.exec(said)!;
  const apiKey = readFileSync(keyFile, "utf8").trim();
  return {
    ...{ url, data, service: { baseUrl, apiKey }, folder: dirname(keyFile) },
    end: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

interface Reply {
  readonly status: number;
  readonly json: Record<string, unknown> & { did: string[]; reply: string; token: string };
}

/** A customer's session. */
async function signIn({ url }: Chat, name: string) {
  let cookie = "";
  const post = async (path: string, body: object = {}): Promise<Reply> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { cookie },
      body: JSON.stringify(body),
    });
    cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return { status: answer.status, json: await answer.json() };
  };
  assert.equal((await post("/sign-in", { name })).status, 200);
  return { post, says: async (message: string) => (await post("/chat", { message })).json };
}

async function startedChat(t: TestContext) {
  // Ended before its folder is removed.
  let chat: Chat | undefined;
  t.after(() => chat?.end());
  const host = makeHost(t);
  chat = await startChat(host.home);
  return { host, chat, account: new Sideband<string>(chat.service) };
}

test("the support chat knows each of many customers, and only the shop writes what is paid for", async (t) => {
  const { chat, account } = await startedChat(t);
  const names = Array.from({ length: 24 }, (_, i) => `customer-${i}`);
  const talks = names.map(async (name, i) => {
    const customer = await signIn(chat, name);
    await customer.says(`My name is No. ${i}x. I speak Dutch.`);
    await customer.says(`My order A-${i} came damaged.`);
    const { reply } = await customer.says("What do you know?");
    const known = new RegExp(
      `^I know: CUSTOMER\\.name=No; CUSTOMER\\.language=Dutch; ORDER\\.problems=A-${i} came damaged; PLAN\\.tier \\(until .*\\)=trial$`,
    );
    assert.match(reply, known);
  });
  await Promise.all(talks);
  assert.equal((await account.users()).users.length, names.length);

  const ada = await signIn(chat, "customer-0");
  const { did } = await ada.says("Make me gold");
  assert.match(did.join(), /^not done: label_not_allowed: .*PLAN\.tier/);
  const forged = await ada.post("/paid", { customer: "customer-0", tier: "gold", secret: "guessed" });
  assert.equal(forged.status, 403);
  // The page's token is for one customer, and for some labels.
  const { token } = (await ada.post("/access")).json;
  const page = new Sideband<string>({ ...chat.service, apiKey: token });
  await page.encode("customer-0", "CUSTOMER.language", "Frisian");
  for (const [user, label, code] of [
    ["customer-0", "PLAN.tier", "label_not_allowed"],
    ["customer-0", "TICKET.open", "label_not_allowed"],
    ["customer-1", "CUSTOMER.language", "user_not_allowed"],
  ] as const)
    await assert.rejects(page.encode(user, label, "gold"), { code });
  assert.equal((await account.decode("customer-0", "PLAN.tier")).value, "trial");
  assert.equal(
    (await ada.post("/paid", { customer: "customer-0", tier: "gold", secret: SECRET })).status,
    200,
  );
  assert.equal((await page.decode("customer-0", "PLAN.tier")).value, "gold");
  // Coming back is no new trial.
  await signIn(chat, "customer-0");
  assert.equal((await page.decode("customer-0", "PLAN.tier")).value, "gold");
});

test("a customer is erased with a receipt that verify-receipt knows, and leaves the exports of the nightly job", async (t) => {
  const { host, chat, account } = await startedChat(t);
  for (const name of ["ada", "grace"]) await (await signIn(chat, name)).says(`My name is ${name}.`);
  await account.encode("grace", "ORDER.last", "A-17", { ttlS: 3 * 86_400 });
  const nightly = async () => {
    const env = {
      SIDEBAND_API_URL: chat.service.baseUrl,
      SIDEBAND_API_KEY: chat.service.apiKey,
      SUPPORT_DATA: chat.data,
      PYTHONPATH: join(packageFolder, "python"),
      PYTHONDONTWRITEBYTECODE: "1",
    };
    const { status, stdout, stderr } = await host.shell(`python3 "${join(FOLDER, "nightly.py")}"`, { env });
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
  const said = await nightly();
  const [, exports] = /^2 customers exported to (.*)$/m.exec(said)!;
  assert.match(said, /^\d{4}-\d\d-\d\d: 5 facts written$/m);
  assert.match(said, /^grace: ORDER\.last=A-17 ends \d{4}-.*Z$/m);
  assert.doesNotMatch(said, /PLAN\.tier/, "the trial ends later than in a week");
  assert.deepEqual(readdirSync(exports).sort(), ["ada.jsonl", "grace.jsonl"]);
  assert.match(readFileSync(join(exports, "grace.jsonl"), "utf8"), /"CUSTOMER\.name".*"grace"/);

  const ada = await signIn(chat, "ada");
  const { json } = await ada.post("/erase");
  assert.equal((json.receipt as { facts: number }).facts, 2);
  assert.equal((await ada.post("/chat", { message: "Hello" })).status, 401, "her sessions have ended");
  const receipts = join(chat.data, "receipts");
  const [name] = readdirSync(receipts);
  assert.match(name, /^\d{4}-\d\d-\d\dT[\d-]+\.\d+Z-ada\.json$/);
  const verify = (file: string) => host.sideband(`verify-receipt ${file} --data ${chat.folder}`);
  const genuine = await verify(join(receipts, name));
  assert.match(genuine.stdout, /^genuine: 2 facts and 0 earlier values, .* of ada \(default\) were erased/);
  const changed = join(host.home, "changed.json");
  writeFileSync(changed, JSON.stringify({ ...(json.receipt as object), facts: 1 }));
  assert.equal((await verify(changed)).status, 1);

  assert.match(await nightly(), /^1 customers exported/);
  assert.deepEqual(readdirSync(exports), ["grace.jsonl"]);
});
