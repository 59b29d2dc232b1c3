/** The installer of agents' files, apart from what their hooks load. */

export { AGENTS, isInCache, lastingCommand, versionOf } from "../agents/install.ts";
export { InstallationRecord, isIntact } from "../agents/installed.ts";
