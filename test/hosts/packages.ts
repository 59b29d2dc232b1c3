/**
 * What the packages weigh, those beside `sideband` under the tools that judge packages, and the block in Node, Chromium
 * and workerd: the same block in all three, and how long five facts take.
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { builtSideband, packageFolder } from "../agents/built.ts";
import { sharedBrowser } from "../e2e/chromium.ts";
import { writePackageSizes } from "./package-sizes.ts";
import { modules } from "./room.ts";

const BUILT = join(packageFolder, "dist", "packages");
const PROGRAM = fileURLToPath(new URL("block-program.js", import.meta.url));
const KERNEL = join(BUILT, "block", "kernel.wasm");
const WORKERD = join(
  modules,
  `@cloudflare/workerd-linux-${process.arch === "x64" ? "64" : "arm64"}`,
  "bin",
  "workerd",
);
const MODEL = join(BUILT, "block", "models", "reader-5.bin");

/** A platform on which block-program.js runs. */
interface Platform {
  readonly blocks: () => Promise<readonly string[]>;
  readonly repeat: (work: Work) => Promise<unknown>;
  readonly end: () => unknown;
}

interface Work {
  readonly kind: "seal" | "open";
  readonly compress: boolean;
  readonly count: number;
}

const COUNT = 20;
/** The name under which workerd looks for a worker. */
const WORKER_NAME = "default";

/** What is wrong, one line each. */
export async function runPackages(): Promise<string[]> {
  builtSideband();
  execFileSync(process.execPath, [join(packageFolder, "scripts", "build-packages.js")]);
  writePackageSizes();
  const faults = [...judge(), ...judgeBundle()];
  let expected: string | undefined;
  for (const [where, start] of Object.entries({ Node: inNode, Chromium: inChromium, workerd: inWorkerd })) {
    const platform = await start();
    try {
      const blocks = (await platform.blocks()).join("\n");
      expected ??= blocks;
      if (blocks !== expected) faults.push(`${where} seals another block than Node`);
      for (const compress of [true, false]) {
        const times = [await timeOf(platform, "seal", compress), await timeOf(platform, "open", compress)];
        console.log(`${where}, compress: ${compress}: seal ${times[0]} ms, open ${times[1]} ms`);
      }
    } finally {
      await platform.end();
    }
  }
  return faults;
}

/** Measured from outside: a worker's own clock stands still while it computes. */
async function timeOf({ repeat }: Platform, kind: Work["kind"], compress: boolean): Promise<number> {
  const elapsed = async (count: number) => {
    const start = performance.now();
    await repeat({ kind, compress, count });
    return performance.now() - start;
  };
  await elapsed(1);
  const once = await elapsed(1);
  return Math.round((10 * ((await elapsed(1 + COUNT)) - once)) / COUNT) / 10;
}

/** publint and are-the-types-wrong. The latter knows no Node that loads modules with require: those two rules are left out. */
function judge(): string[] {
  const faults: string[] = [];
  const binary = (name: string) => join(modules, ".bin", name);
  const rules = ["--profile", "node16", "--ignore-rules", "cjs-resolves-to-esm", "false-cjs"];
  const noModules = ["--exclude-entrypoints", "kernel.wasm", "models/reader-5.bin"];
  for (const name of ["client", "block"]) {
    const folder = join(BUILT, name);
    for (const [tool, args] of [
      ["publint", ["run", folder, "--strict"]],
      ["attw", ["--pack", folder, ...rules, ...noModules]],
    ] as const) {
      try {
        execFileSync(binary(tool), args, { stdio: "pipe" });
      } catch (error) {
        console.error(String((error as { stdout: Buffer }).stdout));
        faults.push(`${tool} finds faults in ${name}`);
      }
    }
  }
  return faults;
}

/** The bundle for Claude Desktop under its own tool: the manifest, and whether what it unpacks starts. */
function judgeBundle(): string[] {
  const script = join(packageFolder, "scripts", "build-mcpb.ts");
  execFileSync(process.execPath, ["--import", "tsx", script], { cwd: packageFolder });
  const folder = mkdtempSync(join(tmpdir(), "sideband-mcpb-"));
  const mcpb = join(modules, ".bin", "mcpb");
  try {
    execFileSync(mcpb, ["unpack", join(BUILT, "sideband.mcpb"), folder], { stdio: "pipe" });
    execFileSync(mcpb, ["validate", join(folder, "manifest.json")], { stdio: "pipe" });
    execFileSync(process.execPath, [join(folder, "bin", "sideband.js"), "--version"], { stdio: "pipe" });
    return [];
  } catch (error) {
    return [`the bundle for Claude Desktop: ${(error as Error).message}`];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundled(entry: string, format: "esm" | "iife"): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: packageFolder },
    alias: { "@sideband/block": join(BUILT, "block", "dist", "src", "block", "index.js") },
    bundle: true,
    write: false,
    format,
    globalName: "program",
    target: "es2022",
    external: ["kernel.wasm", "reader.bin"],
    logLevel: "silent",
  });
  return outputFiles[0].text;
}

async function inNode(): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-node-"));
  writeFileSync(
    join(folder, "program.mjs"),
    await bundled(`export * from ${JSON.stringify(PROGRAM)};`, "esm"),
  );
  const program = await import(join(folder, "program.mjs"));
  const options = { model: pathToFileURL(MODEL) };
  return {
    blocks: () => program.blocks(options),
    repeat: (work) => program.repeat(options, work),
    end: () => rmSync(folder, { recursive: true }),
  };
}

async function inChromium(): Promise<Platform> {
  const browser = await sharedBrowser();
  if (browser === undefined) throw new Error("there is no Chromium");
  const program = await bundled(`export * from ${JSON.stringify(PROGRAM)};`, "iife");
  const server = createServer((request, response) => {
    if (request.url === "/reader.bin") response.end(readFileSync(MODEL));
    else response.setHeader("content-type", "text/html").end("<!doctype html><title>block</title>");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await page.addScriptTag({ content: program });
  const options = '{ model: "/reader.bin" }';
  return {
    blocks: () => page.evaluate(`program.blocks(${options})`),
    repeat: (work) => page.evaluate(`program.repeat(${options}, ${JSON.stringify(work)})`),
    end: async () => {
      await browser.close();
      server.close();
    },
  };
}

async function inWorkerd(): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), "sideband-workerd-"));
  const port = await freePort();
  const worker = `
import kernel from "kernel.wasm";
import model from "reader.bin";
import { blocks, repeat } from ${JSON.stringify(PROGRAM)};
const worker = {
  async fetch(request) {
    const work = await request.json();
    return Response.json(work === null ? await blocks({ kernel, model }) : await repeat({ kernel, model }, work));
  },
};
export { worker as ${WORKER_NAME} };`;
  writeFileSync(join(folder, "worker.js"), await bundled(worker, "esm"));
  writeFileSync(join(folder, "config.capnp"), CONFIG.replace("PORT", String(port)));
  cpSync(KERNEL, join(folder, "kernel.wasm"));
  cpSync(MODEL, join(folder, "reader.bin"));
  const child = spawn(WORKERD, ["serve", join(folder, "config.capnp")], { stdio: "inherit" });
  const ask = async (work: Work | null) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(work) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  return {
    blocks: async () => {
      for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
        // It listens after a moment.
        const found = await ask(null).catch((error) =>
          error instanceof TypeError ? undefined : Promise.reject(error),
        );
        if (found !== undefined) return found as string[];
        await pause(100);
      }
      throw new Error("workerd does not listen");
    },
    repeat: ask,
    end: () => {
      child.kill();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Without nodejs_compat: no module of Node is there. */
const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [
      (name = "worker", esModule = embed "worker.js"),
      (name = "kernel.wasm", wasm = embed "kernel.wasm"),
      (name = "reader.bin", data = embed "reader.bin"),
    ],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:PORT", http = (), service = "main")],
);
`;

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
