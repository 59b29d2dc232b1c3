/** sideband labels add-set: labels for a purpose, shipped with the package. What an account has stays as it is. */

import { LABEL_SETS } from "../../base/label-sets.ts";
import { type Command, UsageError } from "../command.ts";
import { memoryCommand, WRITER } from "../memory-command.ts";
import { counted, table } from "../printed.ts";
import { undoText } from "../undone-labels.ts";

const NAMES = [...LABEL_SETS.keys()];

export const labelsAddSet: Command = memoryCommand(
  {
    name: "labels add-set",
    summary: "add the labels of a set for a purpose",
    words: ["SET"],
    about: `Adds the labels of a set with their descriptions, for all users of the account. Those that the account has are left as
they are. Run twice, it adds what was left. "sideband labels remove" removes one that nothing uses. The sets:

${[...LABEL_SETS].map(([name, labels]) => `  ${name.padEnd(10)}${groupsOf(labels)}`).join("\n")}`,
    failures: "1 if one was refused: those before it were added",
    check({ words: [name] }) {
      if (!LABEL_SETS.has(name)) throw new UsageError(`SET is one of ${NAMES.join(", ")}`);
    },
  },
  async ({ memory, words: [name], sameMemory, print }) => {
    const { channels } = await memory.channels();
    const known = new Set(channels.map(({ label }) => label));
    const missing = LABEL_SETS.get(name)!.filter(({ label }) => !known.has(label));
    for (const { label, ...terms } of missing) await memory.addLabel(label, terms, { writtenBy: WRITER });
    const added = missing.map(({ label, description }) => [label, description]);
    const lines = added.length === 0 ? "" : `${table(["LABEL", "WHAT"], added)}\n`;
    const labels = missing.map(({ label }) => label);
    const undo = undoText(labels.length === 0 ? [] : [`remove ${labels.join(" ")}`], sameMemory);
    print(`${lines}added ${counted(added.length, "label")}${undo}`, { added: labels });
  },
);

function groupsOf(labels: readonly { readonly label: string }[]): string {
  const groups = [...new Set(labels.map(({ label }) => label.split(".")[0]))];
  return `${counted(labels.length, "label")}: ${groups.join(", ")}`;
}
