#!/usr/bin/env node
/**
 * The command. An agent waits for its hooks: theirs is one file of CommonJS, which Node loads fastest. A service runs the
 * modules themselves, so that its log names them. (scripts/bundle-command.js)
 */

const { existsSync } = require("node:fs");
const { join } = require("node:path");

const FILES = new Map([
  ["hook", "bundle/cli/hook.cjs"],
  ["serve", "src/cli/main.js"],
  ["owner", "src/cli/main.js"],
]);

async function run() {
  const args = process.argv.slice(2);
  const file = join(__dirname, "../dist", FILES.get(args[0]) ?? "bundle/cli/main.js");
  if (!existsSync(file)) {
    console.error("sideband is not built yet: run `npm ci` (or `npm run build`) first");
    process.exit(70);
  }
  if (file.endsWith(".cjs")) {
    process.exitCode = await require(file).main(args);
    return;
  }
  // A reader that has gone (`| head`) is no fault: a command ends as usual, and a service goes on.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  const { pathToFileURL } = require("node:url");
  const { main } = await import(pathToFileURL(file).href);
  process.exitCode = await main(args);
}

run();
