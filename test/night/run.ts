/**
 * npm run test:night [-- embedded|postgres]: a night of an operator, on each store: deploy, back up, restore elsewhere, rotate
 * every secret, lose a node, lose the database, a full disk, an upgrade, an erasure with its receipt. A client writes meanwhile. At the end
 * nothing that was acknowledged is lost, nobody who was erased is back, and every line that nodes printed says what to do.
 * Each step prints what was done, and which page says so. It needs Linux; the full disk also the right to mount.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { firstKey } from "../fault/server-process.ts";
import { until } from "../fixtures/waiting.ts";
import { Ledger } from "./ledger.ts";
import { makeNextRelease } from "./next-release.ts";
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
    else told(await loseFolder(site, ledger), "OPERATIONS.md, One owner; Backup and restore");
    told(await fullDisk(store), "OPERATIONS.md, When something is wrong");
    if (site.postgres !== undefined)
      await during(() => upgradeNodes(site, ledger), "CLUSTER.md, Rolling upgrade");
    else await during(() => upgradeFolder(site, ledger), "OPERATIONS.md, Upgrading");
    await during(() => erase(site, ledger), "OPERATIONS.md, Forgetting");
    console.log(await site.sideband("verify", "--deep").then((text) => `- ${text.trim()}`));
    console.log(
      `- ${site.checkLines()} lines were printed, and a page or the line says what to do about each`,
    );
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
  const made = await ledger.insist("POST", "/tokens", { user_id: "kept", access: "read", ttl_s: 3600 });
  const asAda = await operator(site, "ada");
  const oldKey = site.settings.SIDEBAND_MASTER_KEY;
  const fresh = `2:${"b2".repeat(32)}`;
  const token = "token-of-the-night-1";
  const tokenFile = join(site.folder, "admin-token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const reads = (given: string) => asBearer(ledger, "/context?user_id=kept&include=index", given);
  const steps = [
    { SIDEBAND_MASTER_KEY: `${fresh},${oldKey}`, SIDEBAND_ADMIN_TOKEN: `${ADMIN_TOKEN},${token}` },
    { SIDEBAND_MASTER_KEY: `${oldKey},${fresh}`, SIDEBAND_ADMIN_TOKEN: `${ADMIN_TOKEN},${token}` },
    { SIDEBAND_MASTER_KEY: `${oldKey}:blocks,${fresh}`, SIDEBAND_ADMIN_TOKEN_FILE: tokenFile },
  ];
  for (const step of steps) {
    assert.equal(
      await reads(made.json.token),
      200,
      "what was made under the old secret counts until the last step",
    );
    if ("SIDEBAND_ADMIN_TOKEN_FILE" in step) delete site.settings.SIDEBAND_ADMIN_TOKEN;
    Object.assign(site.settings, step);
    if (step === steps[1] && site.postgres !== undefined) await site.changeLogin();
    await restartAll(site, ledger);
  }
  await site.endOldLogin();
  assert.equal(await reads(made.json.token), 401, "and no longer");
  const asAdmin = (given: string) => asBearer(ledger, "/admin/status", given);
  assert.equal(await asAdmin(token), 200);
  assert.equal(await asAdmin(ADMIN_TOKEN), 401, "the old admin token has ended");
  const asAda2 = await operator(site, "ada-2");
  await site.sideband("operators", "remove", "ada");
  assert.equal(await asAdmin(asAda2), 200);
  await until(async () => (await asAdmin(asAda)) === 401);
  const read = await ledger.insist("POST", "/read", { user_id: "kept", block: json.fdm_block });
  assert.equal(read.json.facts?.[0]?.value, "was there", "an old block is still read");
  const old = ledger.key;
  ledger.key = await newKey(site);
  const keys = JSON.parse(await site.sideband("keys", "list", "--json")).keys as {
    id: string;
    prefix: string;
  }[];
  await site.sideband("keys", "revoke", keys.find(({ prefix }) => old.startsWith(prefix))!.id);
  const login = site.postgres === undefined ? "" : ", the login of the database";
  return `rotated the master key, the admin token, an operator's token${login} and the account's key`;
}

async function operator(site: Site, name: string): Promise<string> {
  return JSON.parse(await site.sideband("operators", "add", name, "--json")).token;
}

async function asBearer(ledger: Ledger, path: string, given: string): Promise<number> {
  const answer = await fetch(`${ledger.urls[0]}${path}`, { headers: { authorization: `Bearer ${given}` } });
  await answer.arrayBuffer();
  return answer.status;
}

/** One after the other, so that of several nodes the others answer. */
async function restartAll(site: Site, ledger: Ledger, count = site.nodes.length): Promise<void> {
  for (const node of site.nodes.slice(0, count)) {
    await site.stop(node);
    await restarted(site, ledger);
  }
}

async function loseNode(site: Site, ledger: Ledger): Promise<string> {
  await site.stop(site.nodes[0], "SIGKILL");
  await restarted(site, ledger);
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

/** The folder is gone beneath the service: it ends with a line, and the backup has what was acknowledged before it. */
async function loseFolder(site: Site, ledger: Ledger): Promise<string> {
  const backup = join(site.folder, "last-backup");
  await site.sideband("backup", "create", backup);
  const [node] = site.nodes;
  const data = site.settings.SIDEBAND_DATA;
  renameSync(data, `${data}-lost`);
  assert.equal(await node.ended, 1);
  site.nodes.splice(0, 1);
  await site.sideband("backup", "restore", backup, "--data", data);
  await restarted(site, ledger);
  return `lost the data folder, and restored the backup: ${await ledger.check()} facts are as acknowledged before it`;
}

async function restarted(site: Site, ledger: Ledger): Promise<void> {
  await site.start();
  ledger.urls = site.nodes.map(({ url }) => url);
}

/** A service on a small disk of its own: writes are refused with the cause in the log, and go on when there is room. */
async function fullDisk(store: StoreName): Promise<string> {
  const disk = mkdtempSync(join(tmpdir(), "sideband-disk-"));
  const size = store === "embedded" ? "12m" : "400m";
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=1777`, "tmpfs", disk]).status !== 0)
    return "no full disk was tried: mounting a small one is not allowed here";
  const site = await openSite(store, disk);
  try {
    const client = new Ledger();
    await deploy(site, client);
    await client.write("before", "USER.name", "Ada");
    const { bavail, bsize } = statfsSync(disk);
    const leftBytes = store === "embedded" ? 2 ** 21 : 2 ** 23;
    writeFileSync(join(disk, "ballast"), Buffer.alloc(bavail * bsize - leftBytes));
    const refused = await writeUntilRefused(client);
    assert.match(refused, /^503 (store_unavailable|outcome_unknown)$/);
    rmSync(join(disk, "ballast"));
    // A database that cannot write its log ends itself, and is started by what supervises it.
    await site.postgres?.pause("immediate");
    await site.postgres?.resume();
    await client.write("after", "USER.name", "Eve");
    await client.check();
    return `filled a disk: ${refused} with the cause in the log, and went on when there was room; ${site.checkLines()} lines`;
  } finally {
    await site.end();
    spawnSync("umount", [disk]);
    rmSync(disk, { recursive: true, force: true });
  }
}

async function writeUntilRefused(client: Ledger): Promise<string> {
  for (let i = 0; ; i++) {
    const facts = LABELS.map((label) => ({ label, value: "x".repeat(1_000) }));
    const { status, json } = await client.once("POST", "/encode/batch", { user_id: `full-${i}`, facts });
    if (status !== 200) return `${status} ${json.code}`;
  }
}

/** The folder gets the format of the next release, and the release before refuses it with a line; its backup is the way back. */
async function upgradeFolder(site: Site, ledger: Ledger): Promise<string> {
  const backup = join(site.folder, "before-upgrade");
  await site.sideband("backup", "create", backup);
  const before = site.release;
  site.release = makeNextRelease(join(site.folder, "next"));
  await restartAll(site, ledger);
  assert.match(site.nodes[0].output(), /the data in \S+ has format 2/);
  await ledger.check();
  const later = join(site.folder, "later");
  await site.sideband("backup", "create", later);
  const next = site.release;
  site.release = before;
  assert.match(
    await site.refused("backup", "verify", later),
    /has data format 2, this release knows formats up to 1/,
  );
  assert.match(await site.sideband("backup", "verify", backup), /every record holds its checksum/);
  site.release = next;
  return "upgraded to a release with another data format; the one before refuses it with a line, and reads the backup";
}

/** One node after the other, a step back in between, and then all again. */
async function upgradeNodes(site: Site, ledger: Ledger): Promise<string> {
  const before = site.release;
  const next = makeNextRelease(join(site.folder, "next"));
  for (const release of [next, before, next]) {
    site.release = release;
    await restartAll(site, ledger, 1);
    await ledger.check();
  }
  await restartAll(site, ledger);
  assert.match(await site.sideband("db", "status"), /0002-made-step/);
  return "upgraded to a release with a migration, one node after the other, with a step back";
}

/** The receipt verifies, and not when a word of it is changed. */
async function erase(site: Site, ledger: Ledger): Promise<string> {
  await ledger.write("person", "USER.name", "Grace");
  const answer = JSON.stringify(await ledger.erase("person"));
  const file = join(site.folder, "receipt.json");
  writeFileSync(file, answer);
  assert.match(await site.sideband("verify-receipt", file), /^genuine: 1 fact /);
  writeFileSync(file, answer.replace('"person"', '"nobody"'));
  assert.match(await site.refused("verify-receipt", file), /^not genuine: /);
  return "erased a person, with a receipt that verifies";
}

const { positionals } = parseArgs({ allowPositionals: true });
for (const name of positionals)
  assert.ok(name === "embedded" || name === "postgres", `there is no night on ${name}: embedded or postgres`);
for (const store of positionals.length === 0
  ? (["embedded", "postgres"] as const)
  : (positionals as StoreName[]))
  await night(store);
