/** Options that stand for settings, such as --data, and the configuration that they give. */

import { type Config, ConfigError, readConfig } from "../config.ts";
import { UsageError } from "./command.ts";

export const DATA_OPTION = { data: { type: "string" } } as const;

export const DATA_HELP = "  --data FOLDER   the data folder (default SIDEBAND_DATA, else ~/.sideband/data)";

export function configWith(data: string | undefined): Config {
  return configOf({ data });
}

/** @param options by name: --port stands for SIDEBAND_PORT. A wrong one is a wrong call, and its message names it. */
export function configOf(
  options: Readonly<Record<string, string | undefined>>,
  settings: Readonly<Record<string, string>> = {},
): Config {
  const given = Object.entries(options).flatMap(([option, value]) =>
    value === undefined
      ? []
      : [{ option: `--${option}`, setting: `SIDEBAND_${option.toUpperCase()}`, value }],
  );
  try {
    return readConfig({
      ...settings,
      ...Object.fromEntries(given.map(({ setting, value }) => [setting, value])),
    });
  } catch (error) {
    const wrong =
      error instanceof ConfigError ? given.find(({ setting }) => setting === error.setting) : undefined;
    throw wrong === undefined ? error : new UsageError(`${wrong.option} ${(error as ConfigError).fault}`);
  }
}
