/** Whether python3 is there and has numpy. */

import { spawnSync } from "node:child_process";

export function findNumpy(): boolean {
  return spawnSync("python3", ["-c", "import numpy"], { stdio: "ignore" }).status === 0;
}
