/** What people call the groups of labels. */

const GROUP_NAMES: Readonly<Record<string, string>> = {
  USER: "The user",
  PREF: "Preferences",
  TASK: "The task",
  PROJ: "The project",
};

export const STANDARD_GROUPS = Object.keys(GROUP_NAMES);

/** An own group is called as it is written. */
export function groupName(group: string): string {
  return GROUP_NAMES[group] ?? group;
}
