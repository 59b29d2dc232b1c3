/** sideband off and on: whether agents have a memory in a repository. */

import { projectNames } from "../../agents/project.ts";
import { changePersonSettings } from "../../main/person-settings.ts";
import { type Command, CommandError, defineCommand, EXIT_OK } from "../command.ts";
import { sidebandCommand } from "../printed-commands.ts";

const failures = "1 if the folder is in no repository, or the settings cannot be written";

export const off: Command = defineCommand(
  {
    name: "off",
    summary: "turn memory off for the agents in this repository",
    about: `Turns memory off for the git repository of the working directory, in all its clones and worktrees of this user: agents get
no facts there, and neither they nor their hooks store any. A session says so when it starts. What is remembered stays,
and you still see and change it with the other commands. The repository's name is kept in ~/.sideband/settings.json; the
repository itself is not changed. SIDEBAND_OFF=1 turns memory off for one session, in any folder.`,
    failures,
  },
  async () => {
    const names = namesHere();
    await changePersonSettings(({ off: others = [], ...rest }) => ({
      ...rest,
      off: [...new Set([...others, ...names])],
    }));
    console.log(`memory is off for ${names[0]}; to turn it on: ${sidebandCommand()} on`);
    return EXIT_OK;
  },
);

export const on: Command = defineCommand(
  {
    name: "on",
    summary: "turn memory on again for the agents in this repository",
    about: 'Takes "sideband off" back. Sessions that start from now on have the memory again.',
    failures,
  },
  async () => {
    const names = namesHere();
    await changePersonSettings(({ off: present = [], ...rest }) => ({
      ...rest,
      off: present.filter((name) => !names.includes(name)),
    }));
    console.log(`memory is on for ${names[0]}`);
    return EXIT_OK;
  },
);

function namesHere(): string[] {
  const names = projectNames([process.cwd()]);
  if (names.length === 0)
    throw new CommandError(
      "this folder is in no git repository; SIDEBAND_OFF=1 turns memory off for one session",
    );
  return names;
}
