/** The values that settings and options take: each parser refuses the others with a text that follows the setting's name. */

import { isIP, isIPv4 } from "node:net";
import { availableParallelism, homedir } from "node:os";
import { ConfigError, OperatorError } from "./base/errors.ts";

const text = (value: string) => {
  if (value === "") throw new ConfigError("must not be empty");
  return value;
};
/** A folder; `~/` is expanded here, since a shell does not do it in a default or in a file of settings. */
export const folder = (value: string) => text(value).replace(/^~(?=[\\/]|$)/, () => homedir());
export const optionalFolder = (value: string) => (value === "" ? undefined : folder(value));
export const optionalText = (value: string) => (value === "" ? undefined : value);
export const flag = (value: string) => {
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  throw new ConfigError("takes 1 or 0");
};
export const integer = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d{1,12}$/.test(value) || number < min || number > max) {
    throw new ConfigError(`takes a whole number from ${min} to ${max}`);
  }
  return number;
};
export const coresButOne = () => Math.min(64, Math.max(1, availableParallelism() - 1));
export const oneOf =
  <T extends string>(...values: T[]) =>
  (value: string): T => {
    const known = values.find((one) => one === value);
    if (known === undefined) throw new ConfigError(`takes one of ${values.join(", ")}`);
    return known;
  };
export const host = (value: string) => {
  const isName = /^[\w-]+(\.[\w-]+)*$/.test(value) && URL.canParse(`http://${value}`);
  if (isIP(value) === 0 && !isName) throw new ConfigError("takes an address or a name");
  return value;
};
/** An address that is needed, as of --url. */
export const serviceUrl = (value: string) => {
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(value) || !URL.canParse(value))
    throw new ConfigError("takes an http(s) address such as http://127.0.0.1:8787");
  return value.replace(/(?<!\/)\/+$/, "");
};
export const url = (value: string) => (value === "" ? undefined : serviceUrl(value));
export const database = (value: string) => {
  if (value === "") return undefined;
  // The address holds a password: it is never part of the message.
  if (!/^postgres(ql)?:\/\/[\x21-\x7e]+$/.test(value)) throw new ConfigError("takes a postgres:// address");
  return value;
};
const isNetwork = (text: string) => {
  const [, address, bits = "0"] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address ?? "") !== 0 && Number(bits) <= (isIPv4(address) ? 32 : 128);
};
export const proxies = (value: string) => {
  if (value === "" || value === "0" || value === "false") return false;
  if (value === "true") return 1;
  if (/^[1-9]\d?$/.test(value)) return Number(value);
  const addresses = value.split(",").map((address) => address.trim());
  if (addresses.every(isNetwork)) return addresses;
  throw new ConfigError("takes a number of hops, or addresses and networks separated by commas");
};
export const origins = (value: string) => {
  const list = value.split(",").flatMap((origin) => (origin.trim() === "" ? [] : [origin.trim()]));
  if (list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)) return list;
  throw new ConfigError("takes origins such as https://agent.example, separated by commas");
};
export const keysText = (value: string) => {
  if (value.length > 1000) throw new ConfigError("takes at most 1000 characters");
  return optionalText(value.trim());
};
export const tokenTexts = (value: string) => {
  if (value === "") return undefined;
  const tokens = value.split(/[,\n]/).map((token) => token.trim());
  if (!tokens.every((token) => TOKEN.test(token)))
    throw new ConfigError("takes 16 to 200 visible characters, or several such tokens separated by commas");
  return tokens;
};
const TOKEN = /^[\x21-\x7e]{16,200}$/;

/** Parses a value; a message about it begins with the name of its setting or option. */
export function named<T>(name: string, parse: (value: string) => T, value: string): T {
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new ConfigError(error instanceof ConfigError ? error.fault : error.message, name);
  }
}
