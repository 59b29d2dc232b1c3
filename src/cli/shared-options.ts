/**
 * Options that several commands have: --data, and those of the commands that use the memory as an agent does, which say
 * whose memory, and which service or data folder. An address or a key selects a service. Otherwise the owner of the data
 * folder is used, and started if there is none.
 */

import { ACCOUNT_DEFAULT } from "../base/accounts.ts";
import { ConfigError } from "../base/errors.ts";
import {
  type AgentConfig,
  type Config,
  readAgentConfig,
  readConfig,
  readPersonSettings,
  usesService,
} from "../config.ts";
import type { LabelScope, PlaceKind } from "../contract/answers.ts";
import { quotedOption } from "../main/shell-quote.ts";
import { DEFAULT_BASE_URL } from "../sdk/index.ts";
import { folder, named, serviceUrl } from "../setting-values.ts";
import { type Call, UsageError } from "./command.ts";

export const JSON_HELP = "  --json          print one JSON object";
export const DATA_HELP = "  --data FOLDER   the data folder (default SIDEBAND_DATA, else ~/.sideband/data)";

/** The configuration with options in the place of settings: --port is SIDEBAND_PORT. A wrong one is a wrong call. */
export function configOf(options: Call["texts"], settings: Readonly<Record<string, string>> = {}): Config {
  const given = Object.entries(options).flatMap(([option, value]) =>
    value === undefined ? [] : [{ option, setting: `SIDEBAND_${option.toUpperCase()}`, value }],
  );
  try {
    return readConfig({
      ...settings,
      ...Object.fromEntries(given.map(({ setting, value }) => [setting, value])),
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = given.find(({ setting }) => setting === error.setting);
    throw wrong === undefined ? error : new UsageError(`--${wrong.option} ${error.fault}`);
  }
}

/** How long `owner` and `open` stay without being used. */
export function idleMsOf({ "idle-s": seconds }: Call["texts"], secondsDefault: number): number {
  const idleS = Number(seconds ?? secondsDefault);
  if (!(idleS > 0 && idleS <= 86_400)) throw new UsageError("--idle-s takes seconds, up to 86400");
  return idleS * 1000;
}

export const MEMORY_USAGE =
  "[--user ID] [--project NAME | --person] [--url URL | --data FOLDER [--account NAME]]";

export const MEMORY_HELP = `  --user ID       whose memory (default SIDEBAND_USER_ID, else the name of the user who runs it)
  --project NAME  where the person works: PROJECT or PROJECT/WORKTREE, or the beginning of one (default
                  SIDEBAND_PROJECT, else the git repository of the working directory)
  --person        no project: what belongs to the person alone
  --url URL       the service (default SIDEBAND_API_URL); its key is SIDEBAND_API_KEY. If only the key is set, the
                  service is ${DEFAULT_BASE_URL}
${DATA_HELP}
  --account NAME  the account in the data folder (default "${ACCOUNT_DEFAULT}")`;
const MEMORY_OPTIONS = ["user", "url", "data", "account", "project"];

/** The usage or the help of a command that does not take --person. */
export function withoutPerson(text: string): string {
  return text.replace("[--project NAME | --person]", "[--project NAME]").replace(/^ {2}--person .*\n/m, "");
}

/** The places of a fact in a shared project, whatever its label says. */
export const TEAM_HELP = `  --shared        in a shared project: what all who share it have
  --own           in a shared project: what --user alone has there; it hides what is shared, from that user`;

/** The place that --shared, --own or another option says. */
export function scopeOf(
  { flags }: Pick<Call, "flags">,
  scope?: LabelScope | undefined,
): PlaceKind | undefined {
  if ([flags.shared, flags.own, scope].filter((one) => one !== undefined).length > 1)
    throw new UsageError("--shared, --own and --scope each say where a fact is: give one of them");
  if ((flags.shared || flags.own) && flags.person)
    throw new UsageError("--shared and --own are for a project, and --person is for none");
  if (flags.shared) return "shared";
  return flags.own ? "own" : scope;
}

/** The setting that turns projects off (src/agents/project.ts). */
const NO_PROJECT = "off";

export type MemoryOptions = Pick<Call, "texts"> & { readonly flags?: Call["flags"] };

export function memoryConfig({ texts, flags = {} }: MemoryOptions): AgentConfig {
  const { url, data, account, user, project } = texts;
  if (url !== undefined && data !== undefined)
    throw new UsageError("--url is a service and --data a folder: give one of them");
  if (project !== undefined && flags.person)
    throw new UsageError("--project names a project and --person none: give one of them");
  if (project === "") throw new UsageError("--project needs a name; --person is for none");
  // A memory that the call names is not the one that the person is connected to, and must not get its key.
  const settings = readPersonSettings();
  const isNamed = url !== undefined || data !== undefined;
  const given = readAgentConfig(undefined, isNamed ? { ...settings, service: undefined } : settings);
  const config = {
    ...given,
    ...(url === undefined ? {} : { apiUrl: parsed("--url", serviceUrl, url) }),
    // A folder named in the call wins over a service set in the environment.
    ...(data === undefined
      ? {}
      : { dataFolder: parsed("--data", folder, data), apiUrl: undefined, apiKey: undefined }),
    account: account ?? given.account,
    userId: user ?? given.userId,
    project: flags.person ? NO_PROJECT : (project ?? given.project),
  };
  if (account !== undefined && usesService(config))
    throw new UsageError(
      "--account is for a data folder: add --data FOLDER, or leave it out, as a key has its account",
    );
  return config;
}

/** The value of an option, or how it is used. */
export function parsed<T>(option: string, parse: (value: string) => T, value: string): T {
  try {
    return named(option, parse, value);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

/** The options of a call as it was typed, for a command that is to mean the same memory. */
export function repeatedOptions({ texts, flags = {} }: MemoryOptions): string {
  const given = MEMORY_OPTIONS.flatMap((name) => {
    const value = texts[name];
    return value === undefined ? [] : [` ${quotedOption(name, value)}`];
  });
  return given.join("") + (flags.person ? " --person" : "");
}
