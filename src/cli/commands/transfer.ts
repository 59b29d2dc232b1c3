/** sideband export and import: keys and facts as JSON lines, the whole service or one account. */

import { createReadStream, createWriteStream, openSync } from "node:fs";
import { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import { withOwner } from "../../main/owner.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { Progress } from "../progress.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "write keys and facts as JSON lines",
  help: `usage: sideband export [--account NAME] [--out FILE]

Writes a line for each key (its hash, never the key) and for each user with all facts. Works beside a running service.

  --account NAME  only this account
  --out FILE      a file instead of standard output; only you can read it
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = { account: { type: "string" }, out: { type: "string" }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    const out =
      values.out === undefined
        ? process.stdout
        : createWriteStream(values.out, { fd: openSync(values.out, "w", 0o600) });
    const progress = new Progress("lines");
    const query = values.account === undefined ? "" : `?account=${encodeURIComponent(values.account)}`;
    let whole = false;
    await withOwner(configWith(values.data), { create: false }, async (owner) => {
      for await (const line of owner.lines("GET", `/operator/export${query}`)) {
        if (line.kind === "end") {
          whole = true;
          break;
        }
        if (!out.write(`${JSON.stringify(line)}\n`))
          await new Promise<void>((resolve) => out.once("drain", () => resolve()));
        progress.step();
      }
    });
    if (!whole) throw new CommandError("the service ended before the export was whole");
    if (values.out !== undefined) {
      out.end();
      await finished(out);
    }
    progress.end();
    return EXIT_OK;
  },
};

export const importCommand: Command = {
  name: "import",
  summary: "read keys and facts from JSON lines",
  help: `usage: sideband import [FILE] [--json]

Reads what "sideband export" wrote, from FILE or standard input. Facts keep their times and their order; a fact that
exists is overwritten, a key that exists stays. Nothing counts against a limit. Works beside a running service.

  --json   print one JSON object: lines, facts
${DATA_HELP}

Exit status: 0; 1 if a line cannot be imported (those before it are); 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length > 1) throw new UsageError("one FILE at most");
    const input =
      positionals[0] === undefined
        ? process.stdin
        : createReadStream(positionals[0], { fd: openSync(positionals[0], "r") });
    const progress = new Progress("lines");
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        progress.step(chunk.toString("latin1").split("\n").length - 1);
        done(null, chunk);
      },
    });
    input.once("error", (error: Error) => counted.destroy(error));
    const body = input.pipe(counted);
    const { lines, facts } = await withOwner(configWith(values.data), { create: true }, (owner) =>
      owner.upload<{ lines: number; facts: number }>("/operator/import", body),
    );
    progress.end();
    console.log(
      values.json ? JSON.stringify({ lines, facts }) : `imported ${facts} facts from ${lines} lines`,
    );
    return EXIT_OK;
  },
};
