/** The address of a service as a person types it: what is wrong with it is said in one line. */

import { isIP } from "node:net";
import { named, serviceUrl } from "../setting-values.ts";
import { CommandError } from "./command.ts";

/** Networks of one's own: loopback, private and link-local addresses, and names that no public server has. */
const PRIVATE =
  /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[(?:::1|f[cde][\da-f]{2}:))/i;

export function checkedAddress(typed: string): string {
  const isBare = !/^[a-z]+:\/\//i.test(typed);
  if (isBare) throw new CommandError(`write the whole address: https://${typed.replace(/(?<!\/)\/+$/, "")}`);
  const address = named("the address", serviceUrl, typed);
  const { protocol, hostname, search, hash, username } = new URL(address);
  if (search !== "" || hash !== "" || username !== "")
    throw new CommandError("the address is that of the service alone, without ?, # or a name before @");
  const isOwn =
    PRIVATE.test(hostname) || (isIP(hostname) === 0 && /^[^.]+$|\.(?:local|internal)$/.test(hostname));
  if (protocol === "http:" && !isOwn)
    throw new CommandError(
      `http would send the key and the facts readable over the network: write ${address.replace("http:", "https:")}`,
    );
  return address;
}
