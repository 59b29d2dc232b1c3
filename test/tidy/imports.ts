/**
 * The layers of src and what each may import, as docs/ARCHITECTURE.md draws them. A room is a folder of src, a
 * folder of src/store, one of the files that stand in src itself, or bench. Within a room everything may import
 * everything; between rooms only what the table says.
 */

import { posix } from "node:path";
import type { SourceFile } from "./rules.ts";

interface Room {
  /** The rooms it may import. */
  readonly rooms: readonly string[];
  /** Runs in a browser too, so without `node:` modules. */
  readonly pure?: true;
  /** Not even a package from npm. */
  readonly alone?: true;
  /** Its own files and folders from the bottom up: none imports one above it. */
  readonly floors?: readonly string[];
}

/** What the service and its tools are joined from. */
const PARTS = [
  ...[
    "base",
    "codec",
    "contract",
    "agent-side",
    "reader",
    "memory",
    "blockwork",
    "find",
    "store/*",
    "oauth",
    "http",
    "mcp",
  ],
  ...["door-client", "sdk", "agents", "measure", "config"],
];

export const ROOMS: Readonly<Record<string, Room>> = {
  base: { rooms: [], pure: true, alone: true },
  codec: { rooms: ["base"], pure: true },
  contract: { rooms: ["base"], pure: true },
  /** What every agent works with, whichever way its memory is reached: tools, prompts, the section in the prompt. */
  "agent-side": { rooms: ["base", "contract"], pure: true },
  reader: { rooms: ["base", "codec"], pure: true },
  /** Coding, assembling and reading blocks in threads. It knows nothing of the service's rules. */
  blockwork: { rooms: ["base", "codec", "reader"] },
  /** Facts by words: for the service, and for pages. */
  find: { rooms: ["base"], pure: true },
  memory: { rooms: ["base", "codec", "reader", "blockwork", "find"] },
  "store/*": { rooms: ["base", "memory"] },
  /** The authorization server: what applications are allowed, as keys of the store. */
  oauth: { rooms: ["base", "memory"] },
  http: {
    rooms: ["base", "contract", "agent-side", "memory", "oauth"],
    floors: ["services.ts", "request", "connection", "access", "routes", "server.ts", "waiting-server.ts"],
  },
  /** It answers what http declares in services.ts, as the stores answer what memory declares. */
  mcp: { rooms: ["base", "contract", "agent-side", "memory", "http"] },
  /** The client's side of the local socket of a data folder; it starts an owner with the folder's lock. */
  "door-client": { rooms: ["base", "sdk", "config", "store/*"] },
  sdk: { rooms: ["base", "contract", "agent-side"], pure: true },
  agents: { rooms: ["base", "contract", "agent-side", "sdk"] },
  /** What a file of another memory says, as facts; for the command line and for pages. */
  import: { rooms: ["base", "contract", "agent-side", "sdk"], pure: true },
  /** The block without a service: what an application seals and opens itself. */
  block: { rooms: ["base", "codec", "reader"], pure: true },
  /** The website reads blocks in the browser with the codec itself (docs/decisions/0020). */
  web: { rooms: ["base", "codec", "reader", "contract", "agent-side", "sdk", "import"], pure: true },
  /** What `sideband measure` counts. */
  measure: { rooms: ["base", "codec", "blockwork"] },
  /** What settings and options take. */
  "setting-values": { rooms: ["base"] },
  settings: { rooms: ["base", "setting-values"] },
  config: { rooms: ["base", "setting-values", "settings"] },
  main: { rooms: PARTS },
  cli: {
    rooms: [
      "base",
      "contract",
      "agent-side",
      "import",
      "sdk",
      "agents",
      "measure",
      "config",
      "setting-values",
      "main",
    ],
  },
  bench: { rooms: [...PARTS, "main"] },
};

const SPECIFIERS = [
  /^\s*(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']/gm,
  /^\s*import\s*["']([^"']+)["']/gm,
  /\b(?:import|require)\(\s*["']([^"']+)["']/g,
  /\bnew URL\(\s*["'](\.[^"']*\.m?[jt]sx?)["']\s*,\s*import\.meta\.url/g,
];

/** It records what a process does to its files, for the tests and for the comparison with other memories. */
const RECORDER = "test/fault/power/";

export function importFaults({ path, text }: SourceFile): string[] {
  const from = roomOf(path);
  const room = from === undefined ? undefined : ruleOf(from);
  if (from === undefined || room === undefined) return ["this folder is not in the table"];
  return specifiersOf(text).flatMap((specifier) => {
    if (specifier.startsWith("node:")) return room.pure ? [`${from} may not import ${specifier}`] : [];
    if (!specifier.startsWith(".")) return room.alone ? [`${from} may not import ${specifier}`] : [];
    const target = posix.join(posix.dirname(path), specifier);
    const to = roomOf(target);
    if (to === undefined)
      return from === "bench" && target.startsWith(RECORDER) ? [] : [`${from} may not import ${target}`];
    if (to === from) return floorFaults(room, path, target);
    return room.rooms.includes(nameOf(to)) ? [] : [`${from} may not import ${to} (${specifier})`];
  });
}

/** Whether a file imports one on a floor above its own. */
function floorFaults({ floors }: Room, path: string, target: string): string[] {
  if (floors === undefined) return [];
  const [floor, targetFloor] = [path, target].map((file) => floors.indexOf(file.split("/")[2]));
  if (floor < 0 || targetFloor < 0) return [`${floor < 0 ? path : target} is on no floor of the table`];
  return targetFloor > floor ? [`${path} may not import ${target}, which is above it`] : [];
}

/** Circles of files that import each other, types included; each circle once. */
export function findCircles(files: readonly SourceFile[]): string[] {
  const code = files.filter(({ path }) => /^(src|bench|scripts)\/.*\.m?[jt]sx?$/.test(path));
  const targets = new Map(
    code.map(({ path, text }) => [
      path,
      specifiersOf(text)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => posix.join(posix.dirname(path), specifier)),
    ]),
  );
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    const start = way.indexOf(path);
    if (start >= 0) circles.push([...way.slice(start), path].join(" → "));
    if (start >= 0 || finished.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
    finished.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return circles;
}

function specifiersOf(text: string): string[] {
  return [...new Set(SPECIFIERS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1])))];
}

function ruleOf(room: string): Room | undefined {
  return ROOMS[nameOf(room)];
}

/** As the table names it: the stores have one entry. */
function nameOf(room: string): string {
  return room.startsWith("store/") ? "store/*" : room;
}

/** src/codec/field.ts → codec, src/store/lmdb/store.ts → store/lmdb, src/config.ts → config. */
function roomOf(path: string): string | undefined {
  const [top, ...parts] = path.split("/");
  if (top === "bench") return top;
  if (top !== "src" || parts.length === 0) return undefined;
  if (parts.length === 1) return parts[0].replace(/\.m?[jt]sx?$/, "");
  return parts[0] === "store" ? `store/${parts[1]}` : parts[0];
}
