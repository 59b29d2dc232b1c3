/** The kinds of damage by name. Apart from damage.ts, so that a page does not carry the alphabet, as its worker does. */

export const DAMAGE_KINDS = {
  "cut-end": "Cut the end",
  "cut-start": "Cut the beginning",
  "cut-middle": "Cut the middle",
  drop: "Delete here and there",
  replace: "Replace by other words",
  mix: "Delete, replace, insert",
  retype: "Retype carelessly",
} as const;

export type DamageKind = keyof typeof DAMAGE_KINDS;
