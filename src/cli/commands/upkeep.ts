/** sideband backup, restore, verify, compact: looking after a data folder. */

import { parseArgs } from "node:util";
import { backUp, restore, verify, withCore } from "../../main.ts";
import { type Command, EXIT_FAILED, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { Progress } from "../progress.ts";

export const backup: Command = {
  name: "backup",
  summary: "copy the data folder, consistently, while the server runs",
  help: `usage: sideband backup FOLDER [--without-master-key]

FOLDER must be empty or new. The copy is a data folder: "sideband restore", or serve it as it is.

  --without-master-key  leave master.key out; without it blocks handed out so far cannot be read
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = { "without-master-key": { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [target] = positionals;
    if (positionals.length !== 1) throw new UsageError("one FOLDER is needed");
    const config = configWith(values.data);
    await withCore(config, (core) => backUp(core, config, target, !values["without-master-key"]));
    console.log(`backed up ${config.dataFolder} to ${target}`);
    return EXIT_OK;
  },
};

export const restoreCommand: Command = {
  name: "restore",
  summary: "make a data folder out of a backup",
  help: `usage: sideband restore BACKUP

The data folder must be empty or new; no server may run on it.
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const { values, positionals } = parseArgs({ args, options: DATA_OPTION, allowPositionals: true });
    if (positionals.length !== 1) throw new UsageError("one BACKUP is needed");
    const { dataFolder } = configWith(values.data);
    restore(positionals[0], dataFolder);
    console.log(`restored ${positionals[0]} to ${dataFolder}`);
    return EXIT_OK;
  },
};

export const verifyCommand: Command = {
  name: "verify",
  summary: "rebuild and read back every block, and compare",
  help: `usage: sideband verify [--account NAME] [--json]

Walks the store, builds every user's block, reads it back through the reader and compares every fact. Works beside a
running server.

  --account NAME  only this account
  --json          print one JSON object
${DATA_HELP}

Exit status: 0 if all is well; 1 if something is not; 2 for a wrong call.`,

  async run(args) {
    const options = {
      account: { type: "string" },
      json: { type: "boolean", default: false },
      ...DATA_OPTION,
    } as const;
    const { values } = parseArgs({ args, options });
    const { account } = values;
    const report = await withCore(configWith(values.data), async (core) => {
      const progress = new Progress(
        "users",
        account === undefined ? (await core.store.statistics()).users : undefined,
      );
      const step = () => progress.step();
      const result = await verify(core, { step, ...(account === undefined ? {} : { account }) });
      progress.end();
      return result;
    });
    const { users, facts, overflowed, findings } = report;
    if (values.json) console.log(JSON.stringify({ users, facts, overflowed, findings }));
    else {
      for (const finding of findings) console.log(`${finding.account} ${finding.userId}: ${finding.fault}`);
      const verdict =
        findings.length === 0 ? "all read back exactly" : `${findings.length} users with faults`;
      console.log(
        `${users} users, ${facts} facts, ${overflowed} not in their block for want of room: ${verdict}`,
      );
    }
    return findings.length === 0 ? EXIT_OK : EXIT_FAILED;
  },
};

export const compact: Command = {
  name: "compact",
  summary: "rewrite the store without a byte of what was forgotten",
  help: `usage: sideband compact [--json]

Writes all that is live into a new file and removes the old one. Safe while the server runs: it goes on answering and
moves over by itself.

  --json   print one JSON object
${DATA_HELP}

Exit status: 0; 1 if it failed or one is running already; 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    const report = await withCore(configWith(values.data), async (core) => {
      const { facts, users } = await core.store.statistics();
      const progress = new Progress("entries", facts + users);
      let last = 0;
      return core
        .compact((done) => {
          progress.step(done - last);
          last = done;
        })
        .finally(() => progress.end());
    });
    const { entries, beforeBytes, afterBytes, durationMs } = report;
    if (values.json)
      console.log(
        JSON.stringify({
          entries,
          before_bytes: beforeBytes,
          after_bytes: afterBytes,
          duration_ms: durationMs,
        }),
      );
    else
      console.log(`${entries} entries, ${beforeBytes} bytes before, ${afterBytes} after, ${durationMs} ms`);
    return EXIT_OK;
  },
};
