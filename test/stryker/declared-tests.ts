/**
 * Stands in for node:test in the process of a Stryker runner: what test files declare is kept, so that single tests run
 * many times in one process, each time with another fault. It has what the tests of the table in run.ts use. Hooks of a
 * file run once in a process, before its first and after its last test: what `before` makes is made without a fault.
 */

import type { TestContext } from "node:test";

type Hook = () => unknown;
type Body = (context: TestContext) => unknown;

export interface DeclaredTest {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  run(): Promise<void>;
}

const real = process.getBuiltinModule("node:test");
const tests: DeclaredTest[] = [];
const hooksBefore: Hook[] = [];
const hooksAfter: Hook[] = [];
let file = "";

export function test(name: string, ...rest: [Body] | [{ skip?: unknown }, Body]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  if ((options as { skip?: unknown }).skip) return;
  tests.push({ id: `${file}: ${name}`, name, file, run: () => runTest(name, body) });
}

export const before = (hook: Hook) => void hooksBefore.push(hook);
export const after = (hook: Hook) => void hooksAfter.push(hook);

/** Imports a file, and keeps what it declares. */
export async function load(path: string, url: string): Promise<DeclaredTest[]> {
  const first = tests.length;
  file = path;
  await import(url);
  for (const hook of hooksBefore.splice(0)) await hook();
  return tests.slice(first);
}

export async function runHooksAfter(): Promise<void> {
  for (const hook of hooksAfter.splice(0)) await hook();
}

async function runTest(name: string, body: Body): Promise<void> {
  const hooks: Hook[] = [];
  const mock = new (real.mock.constructor as new () => TestContext["mock"])();
  const context = { name, mock, after: (hook: Hook) => hooks.push(hook), diagnostic() {}, skip() {} };
  try {
    await body(context as unknown as TestContext);
  } finally {
    for (const hook of hooks) await hook();
    mock.reset();
  }
}
