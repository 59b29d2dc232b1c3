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
import { DEFAULT_BASE_URL } from "../sdk/index.ts";
import { UsageError } from "./command.ts";
import { DATA_HELP, DATA_OPTION } from "./data-option.ts";

export const MEMORY_OPTIONS = {
  user: { type: "string" },
  url: { type: "string" },
  ...DATA_OPTION,
  account: { type: "string" },
} as const;

export const MEMORY_USAGE = "[--user ID] [--url URL | --data FOLDER [--account NAME]]";

export const MEMORY_HELP = `  --user ID       whose memory (default SIDEBAND_USER_ID, else the name of the user who runs it)
  --url URL       the service (default SIDEBAND_API_URL); its key is SIDEBAND_API_KEY. If only the key is set, the
                  service is ${DEFAULT_BASE_URL}
${DATA_HELP}
  --account NAME  the account in the data folder (default "${ACCOUNT_DEFAULT}")`;

export function memoryConfig(
  values: {
    readonly [name in keyof typeof MEMORY_OPTIONS]?: string | undefined;
  },
): AgentConfig {
  if (values.url !== undefined && values.data !== undefined)
    throw new UsageError("--url is a service and --data a folder: give one of them");
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
