/** Texts of all pages: times, counts, groups of labels, tiers, and the address of a memory. */

import { TIER_LIMITS, type Tier } from "../../base/accounts.ts";

/** "2026-11-15T03:20:00.000Z" → "2026-11-15 03:20" */
export function minuteText(time: string | null): string {
  return time === null ? "never" : time.slice(0, 16).replace("T", " ");
}

/** 75 → "1 min 15 s", 4000 → "1 h 6 min" */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}

/** plural(1, "fact") → "fact" */
export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** "3 facts" */
export function countText(count: number, noun: string): string {
  return `${count} ${plural(count, noun)}`;
}

/**
 * Who wrote a fact: the agent, and of what a team shares the person before it. Undefined where nobody is known: they have
 * not said, or were erased.
 */
export function authorName(agent: string | undefined, person: string | undefined): string | undefined {
  if (person === undefined) return agent;
  return agent === undefined ? person : `${person} (${agent})`;
}

const GROUP_NAMES: Readonly<Record<string, string>> = {
  USER: "The user",
  PREF: "Preferences",
  TASK: "The task",
  PROJ: "The project",
};

export const STANDARD_GROUPS = Object.keys(GROUP_NAMES);

/** What people call a group of labels. An own one is called as it is written. */
export function groupName(group: string): string {
  return GROUP_NAMES[group] ?? group;
}

export function tierName(tier: Tier): string {
  return tier[0].toUpperCase() + tier.slice(1);
}

/** "50,000"; undefined where there is no limit. */
export function tierLimit(tier: Tier): string | undefined {
  return TIER_LIMITS[tier]?.toLocaleString("en-US");
}

/** The part of the memory page's address that says whose memory it shows. */
export function memoryHash({ userId, project }: { userId: string; project?: string | undefined }): string {
  return `#${new URLSearchParams({ user: userId, ...(project === undefined ? {} : { project }) })}`;
}
