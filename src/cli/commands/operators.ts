/** sideband operators add, list and remove: people who operate the service by name, each with a token of their own. */

import { OPERATOR_MAY } from "../../base/accounts.ts";
import { type OwnerClient, withOwner } from "../../main/owner.ts";
import { type Command, defineCommand, EXIT_OK, oneOf } from "../command.ts";
import { localTime } from "../moments.ts";
import { table } from "../printed.ts";
import { configOf, DATA_HELP, JSON_HELP } from "../shared-options.ts";

interface OperatorView {
  readonly name: string;
  readonly access: "read" | "write";
  readonly created_at: string;
}

const failures = "1 if it failed";
const options = [JSON_HELP, DATA_HELP].join("\n");

export const operatorsAdd: Command = defineCommand(
  {
    name: "operators add",
    summary: "give a person a token of their own for the console and /admin; it is shown once",
    words: ["NAME"],
    about: `Adds an operator. What they change is noted under their name. NAME is of a-z, 0-9, dot, underscore and hyphen. Works
beside a running service.`,
    options: `  --access WHAT   read (looks at everything, changes nothing) or write (default write)
${options}`,
    failures,
  },
  async ({ words: [name], texts, print }) => {
    const access = oneOf("access", ["read", "write"], texts.access);
    const added = await withOwner(configOf({ data: texts.data }), { create: true }, (owner) =>
      owner.json<{ token: string } & OperatorView>("POST", "/admin/operators", { name, access }),
    );
    print(
      `operator "${added.name}" (${OPERATOR_MAY[added.access]}), token shown this once:\n${added.token}`,
      added,
    );
    return EXIT_OK;
  },
);

export const operatorsList: Command = defineCommand(
  {
    name: "operators list",
    summary: "list the operators and their rights",
    about: "Lists the operators. Whoever has the admin token, or may open the data folder, is none of them.",
    options,
    failures,
  },
  async ({ texts: { data }, print }) => {
    const operators = await withOwner(configOf({ data }), { create: false }, fetchOperators);
    const rows = operators.map(({ name, access, created_at }) => [
      name,
      OPERATOR_MAY[access],
      localTime(created_at).slice(0, 10),
    ]);
    print(table(["operator", "may", "since"], rows), { operators });
    return EXIT_OK;
  },
);

export const operatorsRemove: Command = defineCommand(
  {
    name: "operators remove",
    summary: "remove an operator: the token counts no more, and its sessions end",
    words: ["NAME"],
    about: "Removes an operator, at once on this node and within five seconds on others.",
    options,
    failures: "1 if there is no such operator",
  },
  async ({ words: [name], texts: { data }, print }) => {
    await withOwner(configOf({ data }), { create: false }, (owner) =>
      owner.json("DELETE", `/admin/operators/${encodeURIComponent(name)}`),
    );
    print(`removed the operator "${name}"`, { name });
    return EXIT_OK;
  },
);

async function fetchOperators(owner: OwnerClient): Promise<OperatorView[]> {
  return (await owner.json<{ operators: OperatorView[] }>("GET", "/admin/operators")).operators;
}
