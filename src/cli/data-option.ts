/** The option --data, which every command on a data folder takes, and the configuration that it leads to. */

import { type Config, readConfig } from "../config.ts";

export const DATA_OPTION = { data: { type: "string" } } as const;

export const DATA_HELP = "  --data FOLDER   the data folder (default SIDEBAND_DATA, else ~/.sideband/data)";

export function configWith(data: string | undefined): Config {
  return readConfig(data === undefined ? {} : { SIDEBAND_DATA: data });
}
