/**
 * sideband connect and disconnect: where a person's facts live, for all agents on this machine: at a service, which other
 * machines use too, or in the data folder. Facts are taken along as an import is: planned first, written in steps of which
 * each is done whole or not at all. What is done stays done, so that a call that broke off can be repeated.
 */

import { once } from "node:events";
import { isIP } from "node:net";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { writerName } from "../../agent-side/written-by.ts";
import { NoStoreError } from "../../base/errors.ts";
import { type AgentConfig, readAgentConfig, readPersonSettings, usesService } from "../../config.ts";
import { readFormat } from "../../import/formats.ts";
import { type ImportPlan, knownMemory, type PlannedFact, planImport } from "../../import/import-plan.ts";
import { writeImport } from "../../import/import-writes.ts";
import { exportedUser, memoryLocation, openAgentMemory } from "../../main/agent.ts";
import { endConnection, issuerAt, signIn } from "../../main/connected-service.ts";
import { changePersonSettings } from "../../main/person-settings.ts";
import { isSidebandError, type Sideband } from "../../sdk/index.ts";
import { named, serviceUrl } from "../../setting-values.ts";
import { type Call, type Command, CommandError, defineCommand, EXIT_FAILED, EXIT_OK } from "../command.ts";
import { planLines } from "../import/import-report.ts";
import { memoryError } from "../memory-command.ts";
import { ask, counted, ProgressLine } from "../printed.ts";
import { sidebandCommand } from "../printed-commands.ts";

const FACTS_HELP = `  --replace   write a fact also where another value is there; without it, that value stays
  --yes       do not ask`;
const failures = "1 if it failed, was not confirmed, or not all facts were written";

export const connect: Command = defineCommand(
  {
    name: "connect",
    summary: "keep the facts of all agents on this machine at a service",
    words: ["URL"],
    about: `Makes the service at URL the memory of all agents and commands of this user on this machine, so that several machines
share one memory. It asks for a key, which the operator of the service or its console makes; in a script it reads
the key from SIDEBAND_API_KEY or from standard input. It checks the key, shows which facts of this machine's data folder are
new there, which differ and which are the same, asks, writes them and keeps address and key in ~/.sideband/settings.json,
which only you can read. Where the service lets applications connect (SIDEBAND_OAUTH), Enter instead of a key, or --sign-in, signs
in in the browser: that gives an access of its own, which you end on the memory page of the service, or with "sideband disconnect". The data folder stays as it is. If it breaks off, run it again.
SIDEBAND_API_URL, SIDEBAND_API_KEY and SIDEBAND_DATA, where they are set, come before what is kept.`,
    options: `  --user ID   whose memory at the service (default the user of the key, else yours on this machine)
  --sign-in   sign in in the browser instead of with a key
  --no-facts  take no facts along
${FACTS_HELP}`,
    failures,
  },
  async (call) => {
    const url = checkedAddress(call.words[0]);
    const local = localConfig();
    const typed = call.flags["sign-in"] ? undefined : await keyFor(url);
    const { key: apiKey, signedIn } =
      typed === undefined ? await signInAt(url) : { key: typed, signedIn: undefined };
    const keyed = { ...local, apiUrl: url, apiKey, timeoutMs: local.personTimeoutMs };
    const { user, access } = await checkedKey(keyed, call.texts.user);
    const service = { ...keyed, userId: user };
    const takes = !call.flags["no-facts"];
    if (takes && access === "read" && (await exportOf(local)) !== undefined)
      throw new CommandError(
        "this key only reads, so that no facts can be taken along: connect with a key that writes, or add --no-facts",
      );
    const isDone = await copyFacts(call, takes ? local : undefined, service, `Connect to ${url}`);
    if (!isDone) return EXIT_FAILED;
    await changePersonSettings((present) => ({ ...present, service: { url, key: apiKey, user, signedIn } }));
    console.log(`connected: the memory of ${user} is at ${url}. To go back: ${sidebandCommand()} disconnect`);
    const { apiUrl = url, apiKey: usedKey } = readAgentConfig();
    if (apiUrl !== url || usedKey !== apiKey)
      console.log("in this shell SIDEBAND_API_URL, SIDEBAND_API_KEY or SIDEBAND_DATA come first: unset them");
    return EXIT_OK;
  },
);

export const disconnect: Command = defineCommand(
  {
    name: "disconnect",
    summary: "go back from a service to the data folder of this machine",
    about: `Takes "sideband connect" back: agents and commands use this machine's data folder again. The facts at the service stay
there. With --take they are brought into the data folder first, after a plan; at a terminal it asks.`,
    options: `  --take      bring the service's facts into the data folder
${FACTS_HELP}`,
    failures,
  },
  async (call) => {
    const { service } = readPersonSettings();
    if (service === undefined) throw new CommandError("this machine is connected to no service");
    const local = localConfig();
    const remote = { ...local, apiUrl: service.url, apiKey: service.key, userId: service.user };
    const { take = false, yes = false } = call.flags;
    const takes = take || (!yes && process.stdin.isTTY && (await isYes("Bring the facts back here?")));
    if (takes && !(await copyFacts(call, remote, local, `Disconnect from ${service.url}`)))
      return EXIT_FAILED;
    await changePersonSettings(({ service: _, ...rest }) => rest);
    if (service.signedIn !== undefined) await endConnection(service);
    console.log(`disconnected: the memory of ${local.userId} is in ${local.dataFolder}`);
    return EXIT_OK;
  },
);

/** The data folder of this machine. */
function localConfig(): AgentConfig {
  const config = readAgentConfig(undefined, {});
  return { ...config, apiUrl: undefined, apiKey: undefined, timeoutMs: config.personTimeoutMs };
}

async function isYes(question: string): Promise<boolean> {
  return /^y(?:es)?$/.test(await ask(`${question} (y/N) `));
}

/** What the person is told while the browser is theirs. */
function signInAt(url: string) {
  return signIn(url, (link) => console.error(`sign in in your browser: ${link}`));
}

/** Undefined where a person would rather sign in. */
async function keyFor(url: string): Promise<string | undefined> {
  const { apiKey } = readAgentConfig(undefined, {});
  if (apiKey !== undefined) return apiKey;
  const isTerminal = process.stdin.isTTY;
  const canSignIn = isTerminal && (await issuerAt(url)) !== undefined;
  const or = canSignIn ? "; Enter alone signs in in the browser" : "";
  if (isTerminal) process.stderr.write(`Key for ${url} (it is not shown${or}): `);
  // A terminal shows nothing of what is typed.
  const output = new Writable({ write: (_, __, done) => done() });
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  const [line = ""] = await Promise.race([once(reader, "line"), once(reader, "close")]);
  reader.close();
  if (isTerminal) process.stderr.write("\n");
  const key = String(line).trim();
  if (key === "" && canSignIn) return undefined;
  if (key === "") throw new CommandError("a key is needed: type it, or set SIDEBAND_API_KEY");
  return key;
}

/** Whose facts the key is for, and whether it only reads. */
async function checkedKey(config: AgentConfig, wanted: string | undefined) {
  const memory = await openAgentMemory(config);
  const usage = await memory.usage().catch((error) => {
    if (isSidebandError(error, "invalid_key"))
      throw new CommandError(
        `${config.apiUrl} does not know this key: it may be mistyped, expired or revoked`,
      );
    throw error;
  });
  if (wanted !== undefined && usage.user !== undefined && usage.user !== wanted)
    throw new CommandError(`this key is for the user ${usage.user} alone: leave --user out`);
  return { user: usage.user ?? wanted ?? config.userId, access: usage.access };
}

/** Everything of the user as an export; undefined where nothing is remembered. */
async function exportOf(config: AgentConfig): Promise<string | undefined> {
  const lines: string[] = [];
  let hasFacts = false;
  try {
    for await (const line of exportedUser(config)) {
      lines.push(JSON.stringify(line));
      hasFacts ||= line.kind === "user" && (line.facts as unknown[]).length > 0;
    }
  } catch (error) {
    if (!(error instanceof NoStoreError) && !(error instanceof Error && error.cause instanceof NoStoreError))
      throw error;
  }
  return hasFacts ? lines.join("\n") : undefined;
}

/** Plans, asks and writes. Whether all that was confirmed is written. @param from undefined where nothing is taken along */
async function copyFacts(
  call: Call,
  from: AgentConfig | undefined,
  to: AgentConfig,
  question: string,
): Promise<boolean> {
  const { yes = false, replace = false } = call.flags;
  const text = from === undefined ? undefined : await exportOf(from);
  if (from === undefined || text === undefined) {
    if (from !== undefined) console.log(`no facts in ${memoryLocation(from)} to take along`);
    return yes || (await isConfirmed(question));
  }
  const memory = await openAgentMemory(to);
  const report = await planned(text, from, to, memory);
  const { plan, different } = replace ? { plan: report.plan, different: [] } : split(report.plan);
  console.log(planLines({ ...report, plan }, false).join("\n"));
  if (different.length > 0)
    console.log(
      `${counted(different.length, "fact")} with another value there, which stays (--replace writes them): ` +
        different.map(({ label }) => label).join(", "),
    );
  const what = `${question}${plan.writes.length > 0 ? ` and write ${counted(plan.writes.length, "fact")}` : ""}`;
  if (!yes && !(await isConfirmed(what))) return false;
  return await written(memory, to, plan);
}

async function isConfirmed(question: string): Promise<boolean> {
  if (process.stdin.isTTY) return isYes(`${question}?`);
  console.log("nothing was changed: --yes does it without a question");
  return false;
}

/** Those that would replace another value are kept back. */
function split(plan: ImportPlan): { plan: ImportPlan; different: readonly PlannedFact[] } {
  const writes = plan.writes.filter(({ present }) => present === undefined);
  return { plan: { ...plan, writes }, different: plan.writes.filter(({ present }) => present !== undefined) };
}

async function planned(text: string, from: AgentConfig, to: AgentConfig, memory: Sideband<string>) {
  const { channels } = await memory.channels();
  const { labels, presentAt } = await knownMemory(memory, channels, {
    userId: to.userId,
    project: undefined,
  });
  const { findings, format } = readFormat(text, "sideband", {
    name: memoryLocation(from),
    isOfProject: false,
    labels,
    userId: from.userId,
    origin: undefined,
  });
  const plan = await planImport(findings, {
    labels,
    presentAt,
    project: undefined,
    isPersonOnly: false,
    // They are kept already.
    allowSecrets: true,
    nowMs: Date.now(),
    step: () => {},
  });
  return { file: memoryLocation(from), format, userId: to.userId, findings, plan };
}

async function written(memory: Sideband<string>, to: AgentConfig, plan: ImportPlan): Promise<boolean> {
  if (plan.writes.length === 0) return true;
  const progress = new ProgressLine("facts written", plan.writes.length, true);
  const done = await writeImport(memory, to.userId, plan, writerName("connect", "connect"), (count) =>
    progress.step(count),
  ).finally(() => progress.end());
  console.log(`${counted(done.written.length, "fact")} written`);
  if (done.rollbackTo !== undefined)
    console.log(
      `to take them back, once ${usesService(to) ? "connected" : "disconnected"}: ${sidebandCommand()} rollback --to ${done.rollbackTo}`,
    );
  if (done.error === undefined) return true;
  const isWritten = new Set(done.written);
  const rest = plan.writes.filter((fact) => !isWritten.has(fact)).map(({ label }) => label);
  const cause = memoryError(done.error, [], to);
  console.error(
    `sideband: not written: ${rest.join(", ")}: ${cause instanceof Error ? cause.message : String(cause)}; nothing else was changed: run it again`,
  );
  return false;
}

/** Networks of one's own: loopback, private and link-local addresses, and names that no public server has. */
const PRIVATE =
  /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[(?:::1|f[cde][\da-f]{2}:))/i;

/** The address of a service as a person types it: what is wrong with it is said in one line. */
function checkedAddress(typed: string): string {
  const isBare = !/^[a-z]+:\/\//i.test(typed);
  if (isBare) throw new CommandError(`write the whole address: https://${typed.replace(/(?<!\/)\/+$/, "")}`);
  const address = named("the address", serviceUrl, typed);
  const { protocol, hostname, search, hash, username } = new URL(address);
  if (search !== "" || hash !== "" || username !== "")
    throw new CommandError("the address is that of the service alone, without ?, # or a name before @");
  const isOwn =
    PRIVATE.test(hostname) || (isIP(hostname) === 0 && /^[^.]+$|\.(?:local|internal)$/.test(hostname));
  if (protocol === "http:" && !isOwn)
    throw new CommandError(
      `http would send the key and the facts readable over the network: write ${address.replace("http:", "https:")}`,
    );
  return address;
}
