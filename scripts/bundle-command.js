/**
 * A step of the build: the command line in few files, as loading a file takes longer than running it. The hook is one small
 * file. Each of the other commands loads its own part, and packages of npm only when they are needed. Their text keeps its
 * names, so that a stack can be read, and comments say which source each part is from.
 */

import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const folder = "dist/bundle/cli";
const options = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  packages: "external",
  logLevel: "warning",
};
/** Files of CommonJS, which Node loads without its loader of modules. */
const commonJs = {
  ...options,
  outdir: folder,
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  supported: { "dynamic-import": false },
  minify: true,
  define: { "import.meta.url": "moduleUrl" },
  banner: { js: 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
};
/** What a hook never calls. */
const others = readdirSync(`${root}/src/cli/commands`)
  .filter((name) => name !== "hook.ts")
  .map((name) => `./src/cli/commands/${name}`);
/** The second file of the hook. */
const apart = {
  name: "apart",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/hook-memory\.ts$/, namespace: "file" }, () => ({
      path: "./hook-memory.cjs",
      external: true,
    })),
};

rmSync(`${root}/${folder}`, { recursive: true, force: true });
await build({ ...options, entryPoints: ["src/cli/main.ts"], outdir: folder, format: "esm", splitting: true });
await build({
  ...commonJs,
  entryPoints: [{ in: "src/cli/main.ts", out: "hook" }],
  external: others,
  plugins: [apart],
});
await build({ ...commonJs, entryPoints: ["src/cli/hook-memory.ts"], external: ["./src/mcp/stdio.ts"] });
