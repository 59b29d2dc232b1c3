/**
 * A mutant: a fault that a person could put into the code, and the tests that must notice it. It is kept as a text to
 * find and a text to put in its place, so that it survives moved lines; the text must occur exactly once in its file.
 * Only faults that Stryker does not make are kept: the order of steps, locks, SQL, time, a missing sync, the wrong one of two.
 */

export interface Mutant {
  /** In kebab-case; `npm run test:mutants -- NAME` runs it alone. */
  readonly name: string;
  /** What is wrong then, in one sentence. */
  readonly fault: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The test files that are run. */
  readonly tests: readonly string[];
  /** Only the tests whose name matches, as in --test-name-pattern. */
  readonly only?: string;
  /** One of the few that run before every merge. */
  readonly quick?: true;
  /** Why no test notices it. */
  readonly unnoticed?: string;
}

/** The file's text with the fault in it. Throws where the mutant does not apply any more. */
export function applyTo(text: string, { name, file, find, replace }: Mutant): string {
  const [before, after, ...more] = text.split(find);
  if (after === undefined) throw new Error(`${name} no longer applies: its text is not in ${file}`);
  if (more.length > 0) throw new Error(`${name} no longer applies: its text is in ${file} more than once`);
  if (find === replace) throw new Error(`${name} changes nothing`);
  return before + replace + after;
}
