/** The part of fs-native-extensions that is used: the package brings no types. */

declare module "fs-native-extensions" {
  /** Takes an exclusive lock of the operating system on an open file; false where another has it. */
  export function tryLock(descriptor: number): boolean;
}
