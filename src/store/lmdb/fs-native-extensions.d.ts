/** The part of fs-native-extensions that is used: the package brings no types. */

declare module "fs-native-extensions" {
  /** Takes an operating-system lock on an open file, exclusive by default. False if another lock excludes it. */
  export function tryLock(descriptor: number, options?: { shared?: boolean }): boolean;
}
