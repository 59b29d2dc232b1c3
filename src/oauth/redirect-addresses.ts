/**
 * Where an answer may be sent: https, http to this computer alone, or a private scheme of an application
 * (docs/decisions/0030). An address of a request must be one of the client's, letter by letter; only the port of a
 * loopback address is free, because a program takes one that is free at that moment (RFC 8252, 7.3).
 */

const LENGTH_MAX = 512;
/** Printable ASCII without what browsers read as something else. */
const CHARACTERS = /^[!-~]+$/;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** An application's own scheme names a host or a path: `cursor://…`, `com.example.app:/…`. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+.-]*:\/./;
/** What a browser, or the system, would run or open itself. */
const REFUSED_SCHEMES = new Set(
  (
    "about blob chrome chrome-extension content data dav edge file filesystem ftp ftps geo git gopher http imap intent jar " +
    "javascript ldap livescript mailto mocha moz-extension ms-settings news nfs nntp opera resource res search-ms sftp shell " +
    "sip smb sms ssh steam svn tel telnet vbscript view-source webcal ws wss x-javascript"
  )
    .split(" ")
    .map((name) => `${name}:`),
);

/** What is wrong with an address that a client wants to register; undefined where nothing is. */
export function redirectFault(address: unknown): string | undefined {
  if (typeof address !== "string" || address.length > LENGTH_MAX)
    return `it is no text of at most ${LENGTH_MAX} characters`;
  if (!CHARACTERS.test(address) || /[\\"<>]/.test(address) || !URL.canParse(address))
    return "it is no address";
  const url = new URL(address);
  if (address.includes("#")) return "it has a fragment";
  if (url.username !== "" || url.password !== "") return "it has a user name";
  if (url.protocol === "https:") return undefined;
  if (isLoopback(url)) return undefined;
  if (url.protocol === "http:") return "http is for this computer alone: use https";
  if (REFUSED_SCHEMES.has(url.protocol) || !PRIVATE_SCHEME.test(address))
    return `the scheme ${url.protocol} is not one of an application`;
  return undefined;
}

/** Whether a request may name an address, by those that its client has. */
export function isRegistered(address: string, registered: readonly string[]): boolean {
  return registered.some((known) => known === address || isSameLoopback(known, address));
}

function isSameLoopback(known: string, address: string): boolean {
  if (redirectFault(address) !== undefined) return false;
  const [a, b] = [new URL(known), new URL(address)];
  if (!isLoopback(a) || !isLoopback(b)) return false;
  return a.hostname === b.hostname && a.pathname === b.pathname && a.search === b.search;
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && LOOPBACK.has(hostname);
}

/** Where an answer goes, in words for people. */
export function destinationOf(address: string): { kind: "site" | "computer" | "application"; name: string } {
  const url = new URL(address);
  if (isLoopback(url)) return { kind: "computer", name: url.hostname };
  if (url.protocol === "https:") return { kind: "site", name: url.host };
  return { kind: "application", name: `${url.protocol}//${url.host}` };
}
