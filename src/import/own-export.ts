/**
 * An export of Sideband (`sideband export`): the facts of one user with their places, ends and pins, what the user's own labels
 * are for, and the labels of the account. Keys, earlier values, writers and times stay where they are; "sideband accounts import"
 * moves a whole account.
 */

import { FACT_ORIGINS } from "../base/fact-origins.ts";
import type { LabelScope } from "../contract/answers.ts";
import { chosenUser, type FoundMemory } from "./findings.ts";
import { fieldOf, type LocatedValue, listIn, textField } from "./located-json.ts";

const NO_FACT = "it has no label or no value";

/** @param records the lines */
export function readOwnExport(records: readonly LocatedValue[], wanted: string): FoundMemory {
  const users = records.filter((record) => textField(record, "kind") === "user");
  const userId = chosenUser(new Set(users.map((user) => textField(user, "user_id") ?? "")), wanted);
  const accounts = new Set(
    users.filter((user) => textField(user, "user_id") === userId).map((user) => textField(user, "account")),
  );
  const found: FoundMemory = {
    facts: [],
    leftOut: [],
    labels: records.flatMap((record) =>
      textField(record, "kind") === "label" && accounts.has(textField(record, "account"))
        ? labelOf(fieldOf(record, "label"))
        : [],
    ),
    notRead: "keys, earlier values, and who wrote what when",
    ...(userId === undefined ? {} : { userId }),
  };
  for (const user of users) if (textField(user, "user_id") === userId) readUserFacts(user, found);
  return found;
}

function readUserFacts(user: LocatedValue, found: FoundMemory): void {
  const described = new Map(
    listIn(user, "labels").map((label) => [textField(label, "label"), textField(label, "description")]),
  );
  for (const fact of listIn(user, "facts")) {
    const [label, value, project] = ["label", "value", "place"].map((name) => textField(fact, name));
    const { line } = fact;
    if (label === undefined || value === undefined)
      found.leftOut.push({ line, text: label ?? "", why: NO_FACT });
    else
      found.facts.push({
        line,
        label,
        value,
        isExact: true,
        scope: project === undefined ? "person" : project.includes("/") ? "worktree" : "project",
        project,
        expiresAt: textField(fact, "expires_at"),
        origin: FACT_ORIGINS.find((one) => one === textField(fact, "origin")),
        pinned: fieldOf(fact, "pinned")?.value === true ? true : undefined,
        description: described.get(label),
      });
  }
}

/** The terms of an exported label; none of a standard one, which every account has. */
function labelOf(record: LocatedValue | undefined): NonNullable<FoundMemory["labels"]>[number][] {
  const label = textField(record, "label");
  const description = textField(record, "description");
  if (label === undefined || description === undefined) return [];
  const numberIn = (name: string) => {
    const value = fieldOf(record, name)?.value;
    return typeof value === "number" ? value : undefined;
  };
  const oneOf = listIn(record, "oneOf").flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  return [
    {
      label,
      description,
      example: textField(record, "example"),
      oneOf: oneOf.length === 0 ? undefined : oneOf,
      maxBytes: numberIn("maxBytes"),
      ttlS: numberIn("ttlS"),
      scope: textField(record, "scope") as LabelScope | undefined,
      hidden: fieldOf(record, "hidden")?.value === true,
    },
  ];
}
