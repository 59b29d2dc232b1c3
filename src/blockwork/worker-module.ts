/**
 * Where the module of the worker threads is. Built, it stands beside this one. Run from the sources (tests), a
 * thread does not inherit the loader for TypeScript: a line of JavaScript loads it first.
 */

export function workerModule(): URL {
  if (!import.meta.url.endsWith(".ts")) return new URL("./block-worker.js", import.meta.url);
  const loader = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  const module = JSON.stringify(new URL("./block-worker.ts", import.meta.url).href);
  const code = `import { register } from ${loader}; register(); await import(${module});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
