/** Whether memory is off: for a session (SIDEBAND_OFF), or for the repository of a folder (`sideband off`). */

/** Settings about it (src/config.ts has them). */
interface OffSettings {
  readonly isOff: boolean;
  readonly offProjects: readonly string[];
}

/**
 * A line for the person and for agents; undefined if memory is on.
 * @param folders paths, or file: addresses as MCP's roots are
 */
export async function offText(
  { isOff, offProjects }: OffSettings,
  folders: readonly string[],
): Promise<string | undefined> {
  if (isOff) return "Sideband is off for this session: SIDEBAND_OFF is set";
  if (offProjects.length === 0) return undefined;
  // Loaded only now: a hook has little time.
  const { projectNames } = await import("./project.ts");
  const off = folders.flatMap((folder) => projectNames([folder])).find((name) => offProjects.includes(name));
  return off === undefined ? undefined : `Sideband is off for ${off}: "sideband on" turns it on`;
}
