/**
 * npm run test:night [-- embedded|postgres]: a night of an operator, on each store: deploy, back up, restore elsewhere, rotate
 * every secret, lose a node, lose the database, a full disk, an upgrade, an erasure. A client writes meanwhile. At the end
 * nothing that was acknowledged is lost, nobody who was erased is back, and every line that nodes printed says what to do.
 * Each step prints what was done, and which page says so. It needs Linux; the full disk also the right to mount.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { firstKey, type ServerProcess } from "../fault/server-process.ts";
import { until } from "../fixtures/waiting.ts";
import { Ledger } from "./ledger.ts";
import { ADMIN_TOKEN, openSite, type Site, type StoreName } from "./site.ts";

const LABELS = ["USER.name", "USER.role", "PREF.tone", "TASK.current"];
const USERS = 25;

/** A client that goes on writing, whatever the operator does. */
class Traffic {
  readonly #ledger: Ledger;
  #stopped = false;
  #count = 0;
  readonly #working: Promise<void>;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#working = this.#write();
    // Whoever waits for the end hears of a failure.
    this.#working.catch(() => {});
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const i = this.#count++;
      await this.#ledger.write(`user-${i % USERS}`, LABELS[i % LABELS.length], `value ${i}`);
    }
  }

  async end(): Promise<number> {
    this.#stopped = true;
    await this.#working;
    return this.#count;
  }
}

async function night(store: StoreName): Promise<void> {
  console.log(`\nA night on ${store === "postgres" ? "PostgreSQL, with two nodes" : "the embedded store"}`);
  const site = await openSite(store);
  const ledger = new Ledger();
  const told = (step: string, page: string) => console.log(`- ${step} (${page})`);
  try {
    await deploy(site, ledger);
    const during = async (work: () => Promise<string>, page: string) => {
      const traffic = new Traffic(ledger);
      const step = await work();
      const writes = await traffic.end();
      const seen = await ledger.check();
      told(`${step}; ${writes} writes meanwhile, ${seen} facts are as acknowledged`, page);
    };
    told("deployed, and the first key is in its file or made by a command", "OPERATIONS.md, Running");
    await during(() => backUp(site, ledger), "OPERATIONS.md, Backup and restore");
    await during(() => rotate(site, ledger), "OPERATIONS.md, Rotating secrets");
    await during(() => loseNode(site, ledger), "OPERATIONS.md, Running");
    if (site.postgres !== undefined)
      await during(() => loseDatabase(site, ledger), "CLUSTER.md, When the database is away");
    else told(await fullDisk(site), "OPERATIONS.md, When something is wrong");
    await during(() => upgrade(site, ledger), "OPERATIONS.md, Upgrading; CLUSTER.md, Rolling upgrade");
    await during(() => erase(ledger), "OPERATIONS.md, Forgetting");
    console.log(await site.sideband("verify", "--deep").then((text) => `- ${text.trim()}`));
    const refused = [...ledger.refused].map(([code, count]) => `${count} × ${code}`).join(", ");
    console.log(`Nothing was lost. Answers that were repeated: ${refused || "none"}`);
  } finally {
    await site.end();
  }
}

async function deploy(site: Site, ledger: Ledger): Promise<void> {
  const node = await site.start();
  ledger.key = site.store === "embedded" ? await firstKey(node) : await newKey(site);
  if (site.store === "postgres") await site.start();
  ledger.urls = site.nodes.map(({ url }) => url);
  assert.equal((await fetch(`${node.url}/readyz`)).status, 200);
}

async function newKey(site: Site): Promise<string> {
  const made = await site.sideband("keys", "create", "--account", "default", "--tier", "unlimited", "--json");
  return JSON.parse(made).key;
}

/** A restore beside the service has what was there, without whom was erased after the backup. */
async function backUp(site: Site, ledger: Ledger): Promise<string> {
  await ledger.write("gone", "USER.name", "to be erased");
  await ledger.write("kept", "USER.name", "was there");
  const since = new Date().toISOString();
  const [backup, restored] = [join(site.folder, "backup"), join(site.folder, "restored")];
  const own = site.settings;
  const elsewhere: Record<string, string> = { ...own, SIDEBAND_DATA: restored };
  if (site.store === "embedded") {
    await site.sideband("backup", "create", backup);
    const { SIDEBAND_DATA: _, ...others } = own;
    site.settings = { ...others, SIDEBAND_DATA: backup };
    assert.match(await site.sideband("backup", "verify", backup), /every record holds its checksum/);
    site.settings = own;
    await ledger.erase("gone");
    const said = await site.sideband("backup", "restore", backup, "--data", restored);
    assert.match(said, /1 erasure since/);
  } else {
    await site.sideband("accounts", "export", "--out", backup);
    await ledger.erase("gone");
    elsewhere.SIDEBAND_DATABASE_URL = await site.postgres!.createDatabase("restored");
    site.settings = elsewhere;
    await site.sideband("accounts", "import", backup, "--with-keys");
    const again = await site.sideband("backup", "erase-again", own.SIDEBAND_ERASURES, "--since", since);
    assert.match(again, /1 erased again/);
    site.settings = own;
  }
  const node = await site.start(elsewhere);
  try {
    const factsOf = async (user: string) =>
      (await ledger.insist("GET", `/facts?user_id=${user}`, undefined, node.url)).json.facts;
    assert.deepEqual(await factsOf("gone"), [], "whoever was erased after the backup stays erased");
    assert.equal((await factsOf("kept"))[0].value, "was there");
  } finally {
    await site.stop(node);
  }
  return "backed up, checked, restored elsewhere without whom was erased since";
}

/** Each step on every node before the next begins. */
async function rotate(site: Site, ledger: Ledger): Promise<string> {
  const { json } = await ledger.insist("GET", "/context?user_id=kept");
  const [oldKey] = [site.settings.SIDEBAND_MASTER_KEY];
  const fresh = `2:${"b2".repeat(32)}`;
  const token = "token-of-the-night-1";
  const steps = [
    { SIDEBAND_MASTER_KEY: `${fresh},${oldKey}`, SIDEBAND_ADMIN_TOKEN: `${ADMIN_TOKEN},${token}` },
    { SIDEBAND_MASTER_KEY: `${oldKey},${fresh}`, SIDEBAND_ADMIN_TOKEN: `${ADMIN_TOKEN},${token}` },
    { SIDEBAND_MASTER_KEY: `${oldKey}:blocks,${fresh}`, SIDEBAND_ADMIN_TOKEN: token },
  ];
  for (const step of steps) {
    Object.assign(site.settings, step);
    await restartAll(site, ledger);
  }
  const asAdmin = (given: string) =>
    fetch(`${ledger.urls[0]}/admin/status`, { headers: { authorization: `Bearer ${given}` } });
  assert.equal((await asAdmin(token)).status, 200);
  assert.equal((await asAdmin(ADMIN_TOKEN)).status, 401, "the old admin token has ended");
  const read = await ledger.insist("POST", "/read", { user_id: "kept", block: json.fdm_block });
  assert.equal(read.json.facts?.[0]?.value, "was there", "an old block is still read");
  const old = ledger.key;
  ledger.key = await newKey(site);
  const keys = JSON.parse(await site.sideband("keys", "list", "--json")).keys as {
    id: string;
    prefix: string;
  }[];
  await site.sideband("keys", "revoke", keys.find(({ prefix }) => old.startsWith(prefix))!.id);
  return "rotated the master key, the admin token and the account's key";
}

/** One after the other, so that of several nodes the others answer. */
async function restartAll(site: Site, ledger: Ledger): Promise<void> {
  for (const node of [...site.nodes]) {
    await site.stop(node);
    await site.start();
    ledger.urls = site.nodes.map(({ url }) => url);
  }
}

async function loseNode(site: Site, ledger: Ledger): Promise<string> {
  await site.stop(site.nodes[0], "SIGKILL");
  await site.start();
  ledger.urls = site.nodes.map(({ url }) => url);
  return "killed a node with its writes under way and started it again";
}

async function loseDatabase(site: Site, ledger: Ledger): Promise<string> {
  await site.postgres!.pause("immediate");
  const ready = async () => (await fetch(`${ledger.urls[0]}/readyz`)).status;
  while ((await ready()) !== 503) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await fetch(`${ledger.urls[0]}/healthz`)).status, 200);
  await site.postgres!.resume();
  return "crashed the database and started it again, without a restart of a node";
}

/** On a small disk of its own: writes are refused with the folder in the log, and go on when there is room. */
async function fullDisk(site: Site): Promise<string> {
  const disk = join(site.folder, "disk");
  mkdirSync(disk);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk]).status !== 0)
    return "no full disk was tried: mounting a small one is not allowed here";
  let node: ServerProcess | undefined;
  try {
    node = await site.start({
      SIDEBAND_DATA: join(disk, "data"),
      SIDEBAND_ERASURES: join(disk, "erasures.list"),
    });
    const client = new Ledger();
    client.key = await firstKey(node);
    client.urls = [node.url];
    await client.write("before", "USER.name", "Ada");
    writeFileSync(join(disk, "ballast"), Buffer.alloc(6 * 2 ** 20));
    let refused: string | undefined;
    for (let i = 0; refused === undefined; i++) {
      const facts = LABELS.map((label) => ({ label, value: "x".repeat(1_000) }));
      const { status, json } = await client.once("POST", "/encode/batch", { user_id: `full-${i}`, facts });
      if (status !== 200) refused = `${status} ${json.code}`;
    }
    assert.equal(refused, "503 store_unavailable");
    const full = `the disk of the data folder ${join(disk, "data")} is nearly full`;
    await until(() => node!.output().includes(`"reason":"${full}`));
    rmSync(join(disk, "ballast"));
    await client.write("after", "USER.name", "Eve");
    await client.check();
    return "filled a disk: refused with the folder in the log, and went on when there was room";
  } finally {
    if (node !== undefined) await site.stop(node);
    spawnSync("umount", [disk]);
  }
}

async function upgrade(site: Site, ledger: Ledger): Promise<string> {
  if (site.store === "embedded") await site.sideband("backup", "create", join(site.folder, "before-upgrade"));
  await restartAll(site, ledger);
  return "put a release in place of the other, one node after the other";
}

/** With a receipt where the answer has one. */
async function erase(ledger: Ledger): Promise<string> {
  await ledger.write("person", "USER.name", "Grace");
  const answer = await ledger.erase("person");
  const receipt = "receipt" in answer ? "with a receipt" : "answered";
  return `erased a person, ${receipt}`;
}

const { positionals } = parseArgs({ allowPositionals: true });
for (const name of positionals)
  assert.ok(name === "embedded" || name === "postgres", `there is no night on ${name}: embedded or postgres`);
for (const store of positionals.length === 0
  ? (["embedded", "postgres"] as const)
  : (positionals as StoreName[]))
  await night(store);
