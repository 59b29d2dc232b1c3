/** What the system says about a data folder that cannot be used, as one line for people that says what to do. */

import { ConfigError } from "../config.ts";

const OTHER = "choose another one with --data or SIDEBAND_DATA";

/** The error to throw: a ConfigError for an error of the system, any other error as it is. */
export function folderError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  switch (error.code) {
    case "ENOTDIR":
      return new ConfigError(`the data folder ${folder} is a file, or inside of one: ${OTHER}`);
    case "EACCES":
    case "EPERM":
      return new ConfigError(
        `no permission to use the data folder ${folder}: run it as the user it belongs to, or ${OTHER}`,
      );
    case "EROFS":
      return new ConfigError(`the data folder ${folder} is on a read-only file system: ${OTHER}`);
    default:
      return new ConfigError(`cannot use the data folder ${folder}: ${error.message}`);
  }
}
