/**
 * npm start: `sideband serve` in a clone. It uses the data folder of the command `sideband`. Earlier releases kept the data
 * of `npm start` in the clone's folder `data`: where that has some, it stays in use, and a line says so.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";

const earlier = resolve("data");
const holdsData = ["sideband.json", "master.key", "admin.token"].some((name) =>
  existsSync(resolve(earlier, name)),
);
const args = process.argv.slice(2);
const isNamed = process.env.SIDEBAND_DATA !== undefined || args.some((arg) => /^--data(=|$)/.test(arg));
if (holdsData && !isNamed) {
  args.unshift("--data", earlier);
  console.error(
    `The data folder is ${earlier}, as in earlier releases; the command "sideband" uses ~/.sideband/data. To have one for ` +
      "both, stop the service and move the folder there, or set SIDEBAND_DATA to it.",
  );
}
process.argv.splice(2, Infinity, "serve", ...args);
await import("../bin/sideband.js");
