/** What the caller did wrong, as one class with a stable code. A block that cannot be read is an answer, not an error. */

export type BlockErrorCode =
  /** An option is missing, has another name or another kind of value. */
  | "invalid_option"
  /** The key is not one that `newKey()` makes. */
  | "invalid_key"
  | "invalid_user"
  /** A text that has not the form of labels, GROUP.name. */
  | "invalid_label"
  | "invalid_value"
  | "invalid_counter"
  /** The facts do not fit in one block: `overflow` names those without room. Nothing was sealed. */
  | "block_full"
  /** The reader model could not be loaded. */
  | "no_model";

export class BlockError extends Error {
  override readonly name = "BlockError";
  readonly code: BlockErrorCode;
  /** With `block_full`: the labels without room. */
  readonly overflow: readonly string[];

  constructor(
    code: BlockErrorCode,
    message: string,
    { overflow = [], cause }: { overflow?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.overflow = overflow;
  }
}
