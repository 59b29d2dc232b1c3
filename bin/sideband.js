#!/usr/bin/env node
import { existsSync } from "node:fs";

const built = new URL("../dist/src/cli/main.js", import.meta.url);
if (!existsSync(built)) {
  console.error("sideband is not built yet: run `npm ci` (or `npm run build`) first");
  process.exit(70);
}
// A reader that has gone (`| head`) is no fault: a command ends as usual, and a service goes on.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
  });
}
const { main } = await import(built.href);
process.exitCode = await main(process.argv.slice(2));
