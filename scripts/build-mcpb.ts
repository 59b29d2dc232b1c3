/**
 * Makes a bundle for Claude Desktop out of the build: npm run build:mcpb. It holds the command, the reader's model and the
 * packages that the command needs, with the native ones of this system; so it runs on systems of this kind alone. Its
 * manifest is agents/claude-desktop/manifest.json; the result is dist/packages/sideband.mcpb.
 */

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { zip } from "./zip.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const to = join(root, "dist", "packages", "sideband.mcpb");
/** What only people and compilers read. */
const UNNEEDED = /\.(?:d\.[cm]?ts|[cm]?ts|map|md|flow)$|[\\/](?:test|tests|docs|benchmark|\.github)[\\/]/;

function filesBelow(folder: string, isWanted = (_path: string) => true): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(join(root, path)).isFile() && isWanted(path));
}

/** The folders of the packages that the command needs, and those below them. */
function packageFolders(): string[] {
  const args = ["ls", "--omit=dev", "--omit=peer", "--all", "--parseable"];
  const output = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
  });
  return output
    .split("\n")
    .map((path) => relative(root, path.trim()))
    .filter((path) => path.startsWith("node_modules"));
}

const manifest = JSON.parse(readFileSync(join(root, "agents/claude-desktop/manifest.json"), "utf8"));
manifest.compatibility.platforms = [process.platform];
const paths = [
  "package.json",
  "LICENSE",
  ...filesBelow("bin"),
  ...filesBelow("models"),
  ...filesBelow(join("dist", "src"), (path) => !UNNEEDED.test(path)),
  ...filesBelow(join("dist", "bundle")),
  ...new Set(packageFolders().flatMap((folder) => filesBelow(folder, (path) => !UNNEEDED.test(path)))),
];
const files = paths.map((path) => ({
  name: path.split(sep).join("/"),
  bytes: readFileSync(join(root, path)),
  mode: statSync(join(root, path)).mode & 0o777,
}));
files.unshift({ name: "manifest.json", bytes: Buffer.from(JSON.stringify(manifest, null, 2)), mode: 0o644 });
mkdirSync(join(to, ".."), { recursive: true });
writeFileSync(to, zip(files));
console.log(`${relative(root, to)}: ${files.length} files, ${(statSync(to).size / 2 ** 20).toFixed(1)} MiB`);
