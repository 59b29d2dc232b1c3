/**
 * Makes the packages beside `sideband` out of its build: npm run build:packages. What each is called, exports and has is in
 * packages/NAME/package.json, its README.md beside it; the result is dist/packages/NAME, ready for npm pack.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { transformSync } from "esbuild";
import { moduleFiles, packagesOf } from "./module-files.js";

const root = new URL("../", import.meta.url);
const dist = new URL("dist/", root);
const json = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));
const whole = json("package.json");

/** In WebAssembly's own form, for platforms that compile modules when a program is deployed. */
async function writeKernel() {
  const { KERNEL_MODULE } = await import(new URL("src/reader/kernel-module.generated.js", dist));
  writeFileSync(new URL("src/reader/kernel.wasm", dist), Buffer.from(KERNEL_MODULE, "base64"));
}

function buildPackage(folder) {
  const source = json(`packages/${folder}/package.json`);
  const to = new URL(`packages/${folder}/`, dist);
  rmSync(to, { recursive: true, force: true });
  const entries = Object.values(source.exports).map((path) => new URL(path, dist).href);
  const put = (path, text) => {
    const file = new URL(path, to);
    mkdirSync(new URL("./", file), { recursive: true });
    writeFileSync(file, text);
  };
  const scripts = moduleFiles(entries, ".js");
  for (const file of scripts) {
    const { code } = transformSync(readFileSync(new URL(file), "utf8"), {
      minifyWhitespace: true,
      minifySyntax: true,
      format: "esm",
      target: "es2022",
      legalComments: "none",
    });
    put(`dist/${file.slice(dist.href.length)}`, code);
  }
  const declarations = moduleFiles(entries, ".d.ts");
  for (const file of declarations) {
    const text = readFileSync(new URL(file), "utf8")
      // What a module is about, its first comment, is for who reads the sources: no editor shows it.
      .replace(/^\/\*\*[\s\S]*?\*\/\n/, "")
      .replaceAll(/^ {4,}/gm, (indent) => " ".repeat(indent.length / 4));
    const path = file.slice(dist.href.length);
    put(`dist/${path}`, text);
    // For programs of CommonJS modules (scripts/copy-declarations.js), without what only an editor shows.
    put(`dist/require/${path}`, text.replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n|^ +/gm, ""));
  }
  put("dist/require/package.json", '{ "type": "commonjs" }\n');
  for (const [name, path] of Object.entries(source.files)) cpSync(new URL(path, root), new URL(name, to));
  cpSync(new URL(`packages/${folder}/README.md`, root), new URL("README.md", to));
  cpSync(new URL("LICENSE", root), new URL("LICENSE", to));
  put(
    "package.json",
    `${JSON.stringify(manifest(source, packagesOf([...scripts, ...declarations])), null, 2)}\n`,
  );
}

function manifest({ name, description, exports, files }, used) {
  const chosen = (versions) =>
    Object.fromEntries(Object.entries(versions).filter(([name]) => used.includes(name)));
  const peers = chosen(whole.peerDependencies);
  const { version, license, type, engines } = whole;
  return {
    ...{ name, version, description, license, type, engines, sideEffects: false },
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([name, path]) => [
          name,
          {
            types: { require: `./dist/require/${path}.d.ts`, default: `./dist/${path}.d.ts` },
            default: `./dist/${path}.js`,
          },
        ]),
      ),
      ...Object.fromEntries(Object.keys(files).map((path) => [`./${path}`, `./${path}`])),
      "./package.json": "./package.json",
    },
    dependencies: chosen(whole.dependencies),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
}

await writeKernel();
for (const { name } of readdirSync(new URL("packages/", root), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
))
  buildPackage(name);
