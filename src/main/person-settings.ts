/** Changes what `sideband connect` and `sideband off` keep of a person (src/config.ts reads it). It may hold a key. */

import { homedir } from "node:os";
import { writeUserFile } from "../agents/user-file.ts";
import { type PersonSettings, personSettingsFile, readPersonSettings } from "../config.ts";
import { withAgentsLock } from "./agents-lock.ts";

const PRIVATE_MODE = 0o600;

type Change = (present: PersonSettings) => PersonSettings | Promise<PersonSettings>;

export function changePersonSettings(change: Change): Promise<void> {
  return withAgentsLock(homedir(), async () => {
    const text = JSON.stringify(await change(readPersonSettings()), null, 2);
    writeUserFile(personSettingsFile(), `${text}\n`, PRIVATE_MODE);
  });
}
