/** sideband labels add-set: labels for a purpose, shipped with the package. What an account has stays as it is. */

import { LABEL_SET_NAMES, LABEL_SETS } from "../../base/label-sets.ts";
import { type Command, UsageError } from "../command.ts";
import { memoryCommand, WRITER } from "../memory-command.ts";
import { counted, table } from "../printed.ts";
import { undoText } from "../undone-labels.ts";

const named = (name: string) => LABEL_SET_NAMES.find((known) => known === name);

export const labelsAddSet: Command = memoryCommand(
  {
    name: "labels add-set",
    summary: "add the labels of a set for a purpose",
    words: ["SET"],
    about: `Adds the labels of a set with their descriptions, for all users of the account. Those that the account has are left as
they are. Run twice, it adds what was left. "sideband labels remove" removes one that nothing uses. The sets:

${[...LABEL_SETS].map(([name, labels]) => `  ${name.padEnd(10)}${groupsOf(labels)}`).join("\n")}`,
    failures: "1 if it was refused",
    check({ words: [name] }) {
      if (named(name) === undefined) throw new UsageError(`SET is one of ${LABEL_SET_NAMES.join(", ")}`);
    },
  },
  async ({ memory, words: [name], sameMemory, print }) => {
    const { added } = await memory.addLabelSet(named(name)!, { writtenBy: WRITER });
    const rows = added.map(({ label, description }) => [label, description]);
    const lines = rows.length === 0 ? "" : `${table(["LABEL", "WHAT"], rows)}\n`;
    const labels = added.map(({ label }) => label);
    const undo = undoText(labels.length === 0 ? [] : [`remove ${labels.join(" ")}`], sameMemory);
    print(`${lines}added ${counted(rows.length, "label")}${undo}`, { added: labels });
  },
);

function groupsOf(labels: readonly { readonly label: string }[]): string {
  const groups = [...new Set(labels.map(({ label }) => label.split(".")[0]))];
  return `${counted(labels.length, "label")}: ${groups.join(", ")}`;
}
