/**
 * Where the module of the worker threads is. Built, it stands beside this one. Run from the sources (tests), a thread
 * does not inherit the loader for TypeScript: it gets all its modules in one piece of JavaScript, made once for a
 * process. A loader in each thread would take half a second of processor time.
 */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

let bundle: URL | undefined;

export function workerModule(): URL {
  if (!import.meta.url.endsWith(".ts")) return new URL("./block-worker.js", import.meta.url);
  bundle ??= makeBundle(new URL("./block-worker.ts", import.meta.url));
  return bundle;
}

function makeBundle(module: URL): URL {
  const { buildSync } = createRequire(import.meta.url)("esbuild") as typeof import("esbuild");
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(module)],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    // The package's folder is found from a module's address.
    define: { "import.meta.url": JSON.stringify(module.href) },
  });
  return new URL(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}
