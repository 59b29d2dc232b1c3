/** The kinds of damage by name. Not in damage.ts, which loads the alphabet: only the worker needs that, not the page. */

export const DAMAGE_KINDS = {
  "cut-end": "Cut the end",
  "cut-start": "Cut the beginning",
  "cut-middle": "Cut the middle",
  drop: "Delete random words",
  replace: "Replace random words",
  mix: "Delete, replace, insert",
  retype: "Retype with typing errors",
} as const;

export type DamageKind = keyof typeof DAMAGE_KINDS;
