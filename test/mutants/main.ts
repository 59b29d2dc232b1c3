/** Faults around the stores: secrets, settings, the door, and the operator's commands. */

import type { Mutant } from "./mutant.ts";

const SECRETS = ["test/unit/main/secrets.test.ts"];
const CONFIG = ["test/unit/config.test.ts"];
const UPKEEP = ["test/unit/main/upkeep.test.ts"];

export const MAIN_MUTANTS: readonly Mutant[] = [
  {
    name: "master-keys-in-wrong-order",
    fault: "After a rotation the oldest master key still writes.",
    file: "src/main/secrets.ts",
    find: "  return keys;",
    replace: "  return keys.reverse();",
    tests: SECRETS,
    quick: true,
  },
  {
    name: "master-key-in-message",
    fault: "A master key that is refused is shown in the message.",
    file: "src/main/secrets.ts",
    find: "`${source} takes keys as id (0 to 255) and 64 hexadecimal digits`",
    replace: "`${source} takes keys as id (0 to 255) and 64 hexadecimal digits, not ${entry}`",
    tests: SECRETS,
  },
  {
    name: "environment-before-option",
    fault: "A command's option is overruled by the environment.",
    file: "src/config.ts",
    find: "{ ...process.env, ...overrides }",
    replace: "{ ...overrides, ...process.env }",
    tests: CONFIG,
  },
  {
    name: "database-password-in-message",
    fault: "A database address that is refused is shown with its password.",
    file: "src/setting-values.ts",
    find: '"takes a postgres:// address"',
    replace: "`takes a postgres:// address, not ${value}`",
    tests: CONFIG,
  },
  {
    name: "restore-from-open-folder",
    fault: "A restore copies a folder that somebody writes to.",
    file: "src/main/backup.ts",
    find: "source = lockBackup(backup);",
    replace: "",
    tests: UPKEEP,
    only: "is not restored from",
  },
  {
    name: "restore-keeps-lock",
    fault: "A restore that is refused leaves its target locked.",
    file: "src/main/backup.ts",
    find: "    source?.release();\n    lock.release();\n",
    replace: "",
    tests: UPKEEP,
    only: "is not restored from",
  },
];
