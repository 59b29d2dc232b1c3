/** The groups of labels: what stands before the dot, and what people call the standard ones. */

const GROUP_NAMES: Readonly<Record<string, string>> = {
  USER: "The user",
  PREF: "Preferences",
  TASK: "The task",
  PROJ: "The project",
};

export const STANDARD_GROUPS = Object.keys(GROUP_NAMES);

export function groupOf(label: string): string {
  return label.slice(0, label.indexOf("."));
}

/** An own group is called as it is written. */
export function groupName(group: string): string {
  return GROUP_NAMES[group] ?? group;
}
