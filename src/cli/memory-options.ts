/**
 * Options of the commands that use the memory as an agent does: which user, and which service or data folder. An
 * address or a key selects a service. Otherwise the owner of the data folder is used, and started if there is none.
 */

import { ACCOUNT_DEFAULT } from "../base/account.ts";
import {
  type AgentConfig,
  ConfigError,
  folder,
  named,
  readAgentConfig,
  serviceUrl,
  usesService,
} from "../config.ts";
import { typedOption } from "../main/typed-word.ts";
import { DEFAULT_BASE_URL } from "../sdk/index.ts";
import { UsageError } from "./command.ts";
import { DATA_HELP, DATA_OPTION } from "./data-option.ts";

export const MEMORY_OPTIONS = {
  user: { type: "string" },
  url: { type: "string" },
  ...DATA_OPTION,
  account: { type: "string" },
  project: { type: "string" },
  person: { type: "boolean" },
} as const;

export const MEMORY_USAGE =
  "[--user ID] [--project NAME | --person] [--url URL | --data FOLDER [--account NAME]]";

export const MEMORY_HELP = `  --user ID       whose memory (default SIDEBAND_USER_ID, else the name of the user who runs it)
  --project NAME  where the person works: PROJECT or PROJECT/WORKTREE (default SIDEBAND_PROJECT, else the git
                  repository of the working directory)
  --person        no project: what belongs to the person alone
  --url URL       the service (default SIDEBAND_API_URL); its key is SIDEBAND_API_KEY. If only the key is set, the
                  service is ${DEFAULT_BASE_URL}
${DATA_HELP}
  --account NAME  the account in the data folder (default "${ACCOUNT_DEFAULT}")`;

/** The usage or the help of a command that does not take --person. */
export function withoutPerson(text: string): string {
  return text.replace("[--project NAME | --person]", "[--project NAME]").replace(/^ {2}--person .*\n/m, "");
}

type MemoryValues = {
  readonly [name in Exclude<keyof typeof MEMORY_OPTIONS, "person">]?: string | undefined;
} & { readonly person?: boolean | undefined };

/** The setting that turns projects off (src/agents/project.ts). */
const NO_PROJECT = "off";

export function memoryConfig(values: MemoryValues): AgentConfig {
  if (values.url !== undefined && values.data !== undefined)
    throw new UsageError("--url is a service and --data a folder: give one of them");
  if (values.project !== undefined && values.person)
    throw new UsageError("--project names a project and --person none: give one of them");
  if (values.project === "") throw new UsageError("--project needs a name; --person is for none");
  const given = readAgentConfig();
  const config = {
    ...given,
    ...(values.url === undefined ? {} : { apiUrl: parsed("--url", serviceUrl, values.url) }),
    // A folder named in the call wins over a service set in the environment.
    ...(values.data === undefined
      ? {}
      : { dataFolder: parsed("--data", folder, values.data), apiUrl: undefined, apiKey: undefined }),
    account: values.account ?? given.account,
    userId: values.user ?? given.userId,
    project: values.person ? NO_PROJECT : (values.project ?? given.project),
  };
  if (values.account !== undefined && usesService(config))
    throw new UsageError(
      "--account is for a data folder: add --data FOLDER, or leave it out, as a key has its account",
    );
  return config;
}

function parsed<T>(option: string, parse: (value: string) => T, value: string): T {
  try {
    return named(option, parse, value);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

/** The options of a call as it was typed, for a command that is to mean the same memory. */
export function repeatedOptions(values: MemoryValues): string {
  return Object.keys(MEMORY_OPTIONS)
    .flatMap((name) => {
      const value = values[name as keyof MemoryValues];
      if (value === undefined || value === false) return [];
      return value === true ? [` --${name}`] : [` ${typedOption(name, value)}`];
    })
    .join("");
}
