/**
 * A repository's remote: its address in git's configuration, and what it is known by. The ssh and the https form of one
 * address are the same remote: only the host and the path count. A user, a password or a token in an address is never a
 * part of what it is known by. Where it cannot be told which part is the path, the address is not used at all.
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const SECTION = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const VALUE = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/;
/** `ssh://ada@host:22/path`; the user part goes up to the last @ before the path. */
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/]*@)?(\[[^\]/@]*\]|[^/:@?#;]*)(?::(\d*))?\/(.*)$/i;
/** `ada@host:path`, also with a password that does not belong there: `ada:password@host:path`. */
const SHORT_ADDRESS = /^(?:.*@)?(\[[^\]/@]*\]|[^/:@?#;]+):(.*)$/;
/** What git takes for a path: no colon before the first slash, but for that of a drive. */
const LOCAL_PATH = /^(?:[a-z]:|[^/:]*(?:\/|$))/i;
/** A helper of git's, as in `ext::ssh …`, has an address of its own form. */
const HELPER = /^[^/:]*::/;
/** An @ behind something: what is before it may be a part of a password that has a slash. */
const USER_IN_PATH = /[^/]@/;
const PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };
/** Hosts at which a forge takes ssh where its own port is closed. */
const SSH_HOST = /^(?:alt)?ssh\.(?=[^.]+\.)/;

/** The address that `origin` has; where there is no such remote, that of the only one. */
export function remoteIn(config: string): string | undefined {
  const remotes = new Map<string, string>();
  for (const { section, name, key, value } of valuesOf(config)) {
    // The first address is the one that git fetches from.
    if (section === "remote" && key === "url" && value !== "" && !remotes.has(name)) remotes.set(name, value);
  }
  return remotes.get("origin") ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
}

/** A value of a section without a name; the last one counts. */
export function gitValue(config: string, section: string, key: string): string | undefined {
  return [...valuesOf(config)].findLast(
    (found) => found.section === section && found.name === "" && found.key === key,
  )?.value;
}

/**
 * `host/path` of an address, or `file:///path` of a repository on this machine.
 * @param folder that a relative path is seen from
 */
export function remoteIdentity(url: string, folder: string): string | undefined {
  const [, scheme = "", host = "", port = "", path = ""] = ADDRESS.exec(url) ?? [];
  if (scheme.toLowerCase() === "file") {
    const plain = ["", "localhost"].includes(host.toLowerCase()) ? plainPath(path) : undefined;
    return plain === undefined ? undefined : localIdentity(fileURLToPath(`file:///${plain}`));
  }
  if (scheme !== "") return hostAndPath(scheme.toLowerCase(), host, port, path);
  if (url.includes("://") || HELPER.test(url)) return undefined;
  if (LOCAL_PATH.test(url)) return localIdentity(resolve(folder, url));
  const [, shortHost = "", shortPath = ""] = SHORT_ADDRESS.exec(url) ?? [];
  return hostAndPath("ssh", shortHost, "", shortPath);
}

function localIdentity(path: string): string {
  return `file://${resolve(path).replace(/[\\/]?\.git$/, "")}`;
}

/** A path of an address without its parameters; undefined where they cannot be told from it. */
function plainPath(path: string): string | undefined {
  const [plain, parameters = ""] = path.split(/[?#]/)[0].split(/;(.*)/s);
  return parameters.includes("/") || USER_IN_PATH.test(plain) ? undefined : plain;
}

function hostAndPath(scheme: string, host: string, port: string, path: string): string | undefined {
  const name = plainPath(path)
    ?.split("/")
    .filter((part) => part !== "")
    .join("/")
    .replace(/\.git$/, "");
  if (host === "" || name === undefined || name === "") return undefined;
  const isWeb = scheme === "http" || scheme === "https";
  // A forge has one port for ssh and another for the web: only that of the web tells two servers on one host apart.
  const shownPort = !isWeb || port === "" || port === PORTS[scheme] ? "" : `:${port}`;
  return `${host.toLowerCase().replace(SSH_HOST, "")}${shownPort}/${name}`;
}

interface GitValue {
  readonly section: string;
  /** Of a section such as `[remote "origin"]`. */
  readonly name: string;
  readonly key: string;
  readonly value: string;
}

function* valuesOf(config: string): Generator<GitValue> {
  let section = "";
  let name = "";
  // A line that ends with a backslash goes on in the next.
  for (const line of config.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    const head = SECTION.exec(line);
    if (head !== null) {
      section = head[1].toLowerCase();
      name = (head[2] ?? "").replace(/\\(.)/g, "$1");
    }
    const [, key, text] = VALUE.exec(head === null ? line : line.slice(head[0].length)) ?? [];
    if (key !== undefined) yield { section, name, key: key.toLowerCase(), value: plainValue(text) };
  }
}

/** A value without its quotes and its comment. */
function plainValue(text: string): string {
  let value = "";
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\" && i + 1 < text.length) value += text[++i];
    else if ((character === "#" || character === ";") && !isQuoted) break;
    else value += character;
  }
  return value.trim();
}
