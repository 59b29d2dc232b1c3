/** The part of fs-native-extensions that is used: the package brings no types. */

declare module "fs-native-extensions" {
  /** Takes a lock of the operating system on an open file, exclusive unless told; false where another's excludes it. */
  export function tryLock(descriptor: number, options?: { shared?: boolean }): boolean;
}
