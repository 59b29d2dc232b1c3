/** Words of a command that is printed for a person to type. */

const PLAIN = /^[\w./:@%+-]+$/;

/** A word as a shell takes it. cmd.exe knows double quotes only, and a backslash before one would take it away. */
export function typedWord(word: string, platform = process.platform): string {
  if (PLAIN.test(word)) return word;
  if (platform === "win32") return `"${word.replaceAll('"', '\\"').replace(/\\$/, "\\\\")}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
