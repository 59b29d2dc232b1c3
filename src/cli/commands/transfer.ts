/** sideband export and import: keys and facts as JSON lines, the whole service or one account. */

import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { parseArgs } from "node:util";
import { exportFrom, importInto, withCore, withNewCore } from "../../main.ts";
import { type Command, CommandError, EXIT_OK, UsageError } from "../command.ts";
import { configWith, DATA_HELP, DATA_OPTION } from "../data-option.ts";
import { Progress } from "../progress.ts";

/** Lines that are written together, so that they share commits. */
const IMPORT_AT_ONCE = 256;

export const exportCommand: Command = {
  name: "export",
  summary: "write keys and facts as JSON lines",
  help: `usage: sideband export [--account NAME] [--out FILE]

Writes a line for each key (its hash, never the key) and for each user with all facts. Works beside a running server.

  --account NAME  only this account
  --out FILE      instead of standard output; readable for you only
${DATA_HELP}

Exit status: 0; 1 if it failed; 2 for a wrong call.`,

  async run(args) {
    const options = { account: { type: "string" }, out: { type: "string" }, ...DATA_OPTION } as const;
    const { values } = parseArgs({ args, options });
    const out = values.out === undefined ? process.stdout : createWriteStream(values.out, { mode: 0o600 });
    const progress = new Progress("lines");
    await withCore(configWith(values.data), async (core) => {
      for await (const line of exportFrom(core, values.account)) {
        if (!out.write(`${JSON.stringify(line)}\n`))
          await new Promise<void>((resolve) => out.once("drain", () => resolve()));
        progress.step();
      }
    });
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
exists is overwritten, a key that exists stays. Nothing counts against a limit. Works beside a running server.

  --json   print one JSON object: lines, facts
${DATA_HELP}

Exit status: 0; 1 if a line cannot be imported (those before it are); 2 for a wrong call.`,

  async run(args) {
    const options = { json: { type: "boolean", default: false }, ...DATA_OPTION } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length > 1) throw new UsageError("one FILE at most");
    const input = positionals[0] === undefined ? process.stdin : createReadStream(positionals[0]);
    const progress = new Progress("lines");
    let lines = 0;
    let facts = 0;
    await withNewCore(configWith(values.data), async (core) => {
      const one = async ({ text, number }: { text: string; number: number }) => {
        try {
          return await importInto(core, text);
        } catch (error) {
          throw new CommandError(`line ${number}: ${(error as Error).message}`);
        } finally {
          progress.step();
        }
      };
      let page: { text: string; number: number }[] = [];
      const writePage = async () => {
        for (const count of await Promise.all(page.map(one))) facts += count;
        page = [];
      };
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        lines += 1;
        if (text.trim() !== "") page.push({ text, number: lines });
        if (page.length >= IMPORT_AT_ONCE) await writePage();
      }
      await writePage();
    });
    progress.end();
    console.log(
      values.json ? JSON.stringify({ lines, facts }) : `imported ${facts} facts from ${lines} lines`,
    );
    return EXIT_OK;
  },
};
