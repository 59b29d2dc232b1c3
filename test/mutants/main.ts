/** Faults around the stores: secrets, settings, the door, and the operator's commands. */

import type { Mutant } from "./mutant.ts";

const SECRETS = ["test/unit/main/secrets.test.ts"];
const CONFIG = ["test/unit/config.test.ts"];
const OPERATOR = ["test/unit/cli/operator.test.ts"];

export const MAIN_MUTANTS: readonly Mutant[] = [
  {
    name: "oldest-master-key-writes",
    fault: "After a rotation the oldest master key still writes.",
    file: "src/main/secrets.ts",
    find: "  return keys;",
    replace: "  return keys.reverse();",
    tests: SECRETS,
    quick: true,
  },
  {
    name: "master-keys-sorted",
    fault: "The master key with the highest number writes, not the one that stands last.",
    file: "src/main/secrets.ts",
    find: "  return keys;",
    replace: "  return keys.sort((a, b) => a.id - b.id);",
    tests: SECRETS,
  },
  {
    name: "secrets-readable",
    fault: "The files of the secrets can be read by everybody on the machine.",
    file: "src/main/secrets.ts",
    find: "make(), { mode: 0o600 });",
    replace: "make());",
    tests: SECRETS,
  },
  {
    name: "master-key-in-message",
    fault: "A master key that is refused is shown in the message.",
    file: "src/main/secrets.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a part of the code.
    find: "`${source} takes keys as id and 64 hexadecimal digits`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a part of the code.
    replace: "`${source} takes keys as id and 64 hexadecimal digits, not ${entry}`",
    tests: SECRETS,
  },
  {
    name: "other-master-key-accepted",
    fault: "A node with another master key than the others starts, and cannot read what they wrote.",
    file: "src/main/stores.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a part of the code.
    find: "(await agreeOn(`master-key-${id}`, check)) !== check",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a part of the code.
    replace: "(await agreeOn(`master-key-${id}`, check)) === undefined",
    tests: ["test/postgres/move.test.ts"],
    only: "another master key",
  },
  {
    name: "setting-above-range",
    fault: "A setting above its range is accepted.",
    file: "src/config.ts",
    find: "|| number < min || number > max)",
    replace: "|| number < min)",
    tests: CONFIG,
    quick: true,
  },
  {
    name: "setting-unknown-ignored",
    fault: "A SIDEBAND_ variable that nobody knows, a mistyped one for example, is ignored.",
    file: "src/config.ts",
    find: "  if (unknown.length > 0)\n",
    replace: "  if (unknown.length < 0)\n",
    tests: ["test/unit/contract/documents.test.ts"],
    only: "unknown or out of range",
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
    file: "src/config.ts",
    find: '"takes a postgres:// address"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a part of the code.
    replace: "`takes a postgres:// address, not ${value}`",
    tests: CONFIG,
  },
  {
    name: "backup-without-master-key",
    fault: "A backup has no master key although it was asked for with it, so its blocks cannot be read.",
    file: "src/main/backup.ts",
    find: "if (withMasterKey && existsSync(source))",
    replace: "if (!withMasterKey && existsSync(source))",
    tests: OPERATOR,
    only: "a backup has the master key",
  },
  {
    name: "backup-always-with-master-key",
    fault: "A backup that was asked for without the master key has it.",
    file: "src/main/backup.ts",
    find: "if (withMasterKey && existsSync(source))",
    replace: "if (existsSync(source))",
    tests: OPERATOR,
    only: "a backup has the master key",
  },
  {
    name: "restore-over-data",
    fault: "A restore goes into a folder that holds data.",
    file: "src/main/backup.ts",
    find: "if (names.length > 0) throw",
    replace: "if (names.length < 0) throw",
    tests: OPERATOR,
    only: "backup, restore, verify",
  },
  {
    name: "verify-always-well",
    fault: "verify ends with status 0 although it found damage.",
    file: "src/cli/commands/upkeep.ts",
    find: "return findings.length === 0 ? EXIT_OK : EXIT_FAILED;",
    replace: "return EXIT_OK;",
    tests: OPERATOR,
    only: "verify names a damaged record",
  },
  {
    name: "export-cut-short",
    fault: "An export that the owner breaks off passes for a whole one.",
    file: "src/cli/commands/transfer.ts",
    find: "let whole = false;",
    replace: "let whole = true;",
    tests: OPERATOR,
    only: "breaks off",
  },
  {
    name: "door-upload-before-connect",
    fault:
      "An upload reads its input before it is connected, and the lines are missing from the next attempt.",
    file: "src/door/owner-client.ts",
    find: 'sent.once("socket", (socket) => socket.once("connect", () => body.pipe(sent)));',
    replace: "body.pipe(sent);",
    tests: OPERATOR,
    only: "takes nothing out of its stream",
  },
];
