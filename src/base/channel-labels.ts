/** The 40 labels in channel order. They are fixed for ever. */

export const LABELS = [
  "USER.name",
  "USER.project",
  "USER.affiliation",
  "USER.gpu",
  "USER.working_dir",
  "USER.os",
  "USER.role",
  "USER.location",
  "USER.timezone",
  "USER.language",
  "PREF.response_style",
  "PREF.code_style",
  "PREF.verbosity",
  "PREF.format",
  "PREF.tone",
  "PREF.editor",
  "PREF.tools",
  "PREF.units",
  "PREF.schedule",
  "PREF.avoid",
  "TASK.current",
  "TASK.next",
  "TASK.blocked_on",
  "TASK.deadline",
  "TASK.priority",
  "TASK.owner",
  "TASK.last_done",
  "TASK.decision",
  "TASK.question",
  "TASK.reminder",
  "PROJ.status",
  "PROJ.last_result",
  "PROJ.model_target",
  "PROJ.token_budget",
  "PROJ.accuracy",
  "PROJ.repo",
  "PROJ.stack",
  "PROJ.branch",
  "PROJ.goal",
  "PROJ.constraint",
] as const;

/** One of the 40 labels. */
export type Label = (typeof LABELS)[number];

/** What a label looks like: a group, a dot, a name. */
export const LABEL_FORM = /^[A-Z][A-Z0-9_]{0,15}\.[a-z0-9_]{1,48}$/;

/** Whose the facts of a label are where the account does not say it. */
export function scopeOfLabel(label: string): "person" | "project" | "worktree" {
  if (label.startsWith("TASK.") || label === "PROJ.branch") return "worktree";
  return label.startsWith("PROJ.") ? "project" : "person";
}

/** The group of a label: what stands before its dot. */
export function groupOf(label: string): string {
  return label.slice(0, label.indexOf("."));
}

/** How the text begins of an `unknown_label` where a fact was asked for, or was to be changed; the label follows. */
export const NOTHING_REMEMBERED = "Nothing is remembered under";
