/** sideband export --as markdown: facts as a section for CLAUDE.md or AGENTS.md. */

import { chmodSync, readFileSync, statSync } from "node:fs";
import { writeWhole } from "../../main/export-file.ts";
import { type Command, UsageError } from "../command.ts";
import { markdownSection, withMarkdownSection } from "../import/markdown-section.ts";
import { memoryCommand } from "../memory-command.ts";
import { counted } from "../printed.ts";

const MARKDOWN = "markdown";

export const exportMarkdown: Command = memoryCommand(
  {
    name: "export",
    summary: "",
    words: [],
    options: { as: { type: "string" }, out: { type: "string" } },
    usage: "--as markdown [--out FILE]",
    optionHelp: `  --out FILE      put the section into FILE, in the place of an earlier one or at its end; the rest of FILE stays`,
    about: `Writes the facts that an agent here sees as a section for CLAUDE.md or AGENTS.md. "sideband import --from FILE" reads
them back exactly.`,
    failures: "1 if it failed",
    check(_words, { as, json }) {
      if (as !== MARKDOWN) throw new UsageError(`--as takes ${MARKDOWN}`);
      if (json === true) throw new UsageError('--json is for "sideband facts"');
    },
  },
  async ({ memory, config: { userId }, project, values, print }) => {
    const { facts } = await memory.facts(userId, { project });
    const section = markdownSection(facts);
    if (facts.length === 0) console.error(`${userId} has no facts`);
    if (typeof values.out !== "string") return print(section, {});
    await writeSection(section, values.out);
    print(`wrote ${counted(facts.length, "fact")} to ${values.out}`, {});
  },
);

/** The file keeps its mode, and stays as it is until the new one is whole. */
async function writeSection(section: string, path: string): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  const present = found?.isFile() ? readFileSync(path, "utf8") : "";
  const text = withMarkdownSection(present, section);
  if (text === present) return;
  await writeWhole(once(text), path);
  if (found?.isFile()) chmodSync(path, found.mode & 0o7777);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

export function isExportMarkdown(args: readonly string[]): boolean {
  return args.some((arg) => /^--as(?:=|$)/.test(arg));
}
