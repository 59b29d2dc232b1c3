/** sideband measure: what the blocks of a file of profiles carry, and whether all of it comes back exactly. */

import { createReadStream, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { findProfileProblem, openMeasure } from "../../measure/measure.ts";
import { type Command, CommandError, defineCommand, EXIT_FAILED, EXIT_OK } from "../command.ts";
import { ProgressLine } from "../printed.ts";

export const measure: Command = defineCommand(
  {
    name: "measure",
    summary: "build and read back the block of every profile in a file, and count",
    words: ["FILE.jsonl"],
    about: `Reads lines of {"profile": [{"label": …, "value": …}, …]}, at most 256 facts each ("-" reads standard input).
Labels outside the 40 standard channels are put on those of them that are free, then on channels 40 to 255. Later facts
count as written later.
Each profile's block is built, read back and compared byte for byte. Progress is on standard error: a line that is
rewritten at a terminal, a line every ten seconds elsewhere.`,
    options: `  --json   print one JSON object: profiles, facts, carried, exact, chars, bits, bits_per_char,
           carriers (mean in use), lossless_profiles, tokens`,
    failures: "1 if a carried fact did not come back exactly or the file is bad",
  },
  async ({ words: [file], print }) => {
    const result = await measureFile(file);
    const { profiles, lossless_profiles, facts, carried, exact, chars, bits } = result;
    const rows = {
      profiles: `${profiles}, ${lossless_profiles} of them carried whole and exact`,
      facts: `${facts}, ${carried} carried, ${exact} read back byte for byte`,
      characters: `${chars} carried in ${bits} bits: ${result.bits_per_char.toFixed(3)} a character`,
      carriers: `${result.carriers.toFixed(1)} of 512 in use on average`,
      tokens: `${result.tokens} a block`,
    };
    const lines = Object.entries(rows).map(([name, text]) => `${name.padEnd(12)}${text}`);
    print(lines.join("\n"), result);
    return exact === carried ? EXIT_OK : EXIT_FAILED;
  },
);

async function measureFile(path: string) {
  const input = path === "-" ? process.stdin : createReadStream(path, "utf8");
  const measured = openMeasure();
  const progress = new ProgressLine("profiles", await profileCount(path), true);
  let line = 0;
  try {
    for await (const text of profileLines(input)) {
      line++;
      if (text.trim() === "") continue;
      measured.add(profileOf(text, `${path}:${line}`));
      progress.step();
    }
  } catch (error) {
    if (error instanceof Error && "syscall" in error)
      throw new CommandError(`cannot read ${path}: ${error.message}`);
    throw error;
  } finally {
    progress.end();
  }
  const result = measured.result();
  if (result.profiles === 0)
    throw new CommandError(
      `${path} holds no profile: give it lines of {"profile": [{"label": …, "value": …}]}`,
    );
  return result;
}

/** How many lines have a profile, where the file can be read twice. */
async function profileCount(path: string): Promise<number | undefined> {
  if (path === "-" || !statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  let count = 0;
  for await (const text of profileLines(createReadStream(path, "utf8"))) if (text.trim() !== "") count++;
  return count;
}

function profileLines(input: NodeJS.ReadableStream): AsyncIterable<string> {
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
}

function profileOf(text: string, where: string) {
  let parsed: { profile?: unknown };
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CommandError(`${where} is not JSON`);
  }
  const problem = findProfileProblem(parsed?.profile);
  if (problem !== undefined) throw new CommandError(`${where}: ${problem}`);
  return parsed.profile as { label: string; value: string }[];
}
