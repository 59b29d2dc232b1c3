/** What `import … from "sideband"` gives: the client, its errors, its labels, and the memory section of a prompt. */

export { memorySection, type SectionParts, withSection } from "../agent-side/memory-section.ts";
export { LABELS, type Label } from "../base/channel-labels.ts";
export type * from "../contract/answers.ts";
export { DEFAULT_BASE_URL } from "./account-calls.ts";
export type { DemoClient } from "./demo.ts";
export {
  type ClientErrorCode,
  type ErrorCode,
  isOutage,
  isSidebandError,
  type ServiceErrorCode,
  SidebandError,
} from "./errors.ts";
export type * from "./options.ts";
export { label } from "./options.ts";
export { type Compaction, Sideband } from "./sideband.ts";
export type { CallOptions, Fetch } from "./transport.ts";
