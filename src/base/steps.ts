/**
 * Named moments in the life of a data folder. The service does nothing at them. The crash tests hand in a function
 * that kills or stops the process there, one step after the other, and then look at what is left on disk.
 */

export const STEPS = [
  "start: locked",
  "start: store made",
  "start: store named",
  "start: secrets made",
  "start: listening",
  "start: first key stored",
  "group: checked",
  "group: sent",
  "group: on disk",
  "copy: begun",
  "copy: page written",
  "copy: complete",
  "compaction: caught up",
  "compaction: moved over",
  "compaction: old store removed",
  "backup: caught up",
  "backup: master key copied",
  "backup: named",
  "restore: begun",
  "restore: copied",
  "restore: named",
  "import: page written",
  "upgrade: begun",
  "upgrade: page written",
  "upgrade: copied",
  "upgrade: named",
  "upgrade: old store removed",
] as const;

export type Step = (typeof STEPS)[number];
export type AtStep = (step: Step) => void;

export const noStep: AtStep = () => {};
