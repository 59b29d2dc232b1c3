/** What an agent's installation is made of: pieces, each a file of ours or a part that is added to a file of the user. */

export interface Piece {
  readonly path: string;
  readonly kind: "file" | "hooks" | "toml" | "json";
  /** The file, or the part; of "json" the fields of an entry, as JSON. */
  readonly text: string;
  /** Of "json": where in the file. */
  readonly keys?: readonly string[];
  /** Of "json": what a new file begins with. */
  readonly fresh?: string;
}

/** What the place of a host's files depends on. */
export interface System {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** APPDATA of Windows. */
  readonly appData?: string | undefined;
  /** XDG_CONFIG_HOME. */
  readonly configHome?: string | undefined;
}

export interface InstallOptions {
  /** The package's folder `agents`. */
  readonly files: string;
  /** The module that the OpenClaw plugin loads. */
  readonly openclawModule: string;
  /** The host's folder. */
  readonly target: string;
  /** Whether that is its usual one, for all projects. */
  readonly isUsual: boolean;
  /** The command with which the host calls `sideband`, as words. */
  readonly command: readonly string[];
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export interface AgentKind {
  readonly name: string;
  readonly title: string;
  /** The host's usual folder. */
  folder(system: System): string;
  /** Whether it calls `sideband` by its full path, since it may not have a shell's search path. */
  readonly isDesktop?: boolean;
  pieces(options: InstallOptions): Piece[];
  /** What is left to do by hand, as lines. */
  next(target: string): string[];
  /** What is left to do by hand after the files are gone, as lines. */
  readonly after: readonly string[];
}
