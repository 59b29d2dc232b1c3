/** The project of a folder: its repository, the same for all worktrees, with a name that every store takes. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { projectName, projectOf } from "../../../src/agents/project.ts";

function scratch(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sideband-project-")));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function git(folder: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
}

test("a repository and everything in it is one project; its worktrees too; a folder outside is none", (t) => {
  const home = scratch(t);
  const repository = join(home, "my.loom");
  mkdirSync(join(repository, "src", "deep"), { recursive: true });
  assert.equal(projectOf([repository]), undefined);
  git(repository, "init", "-q");
  git(repository, "commit", "-q", "--allow-empty", "-m", "Start");
  const name = projectOf([repository]);
  assert.match(String(name), /^my-loom-[0-9a-f]{12}$/);
  assert.equal(name, projectName(repository));
  git(repository, "worktree", "add", "-q", join(home, "elsewhere"));
  symlinkSync(repository, join(home, "link"));
  const inside = [
    join(repository, "src", "deep"),
    join(home, "elsewhere"),
    join(home, "link", "src"),
    pathToFileURL(join(repository, "src")).href,
  ];
  for (const folder of inside) assert.equal(projectOf([folder]), name, folder);
  assert.equal(projectOf([home, join(home, "elsewhere")]), name, "the first folder that is in one");
  for (const folder of [home, join(home, "gone"), "/dev/null/x", "file:///%"]) {
    assert.equal(projectOf([folder]), undefined, folder);
  }
});

test("worktrees of a bare repository share a project, and a submodule is its own", (t) => {
  const home = scratch(t);
  const source = join(home, "source");
  mkdirSync(source);
  git(source, "init", "-q");
  git(source, "commit", "-q", "--allow-empty", "-m", "Start");
  git(home, "clone", "-q", "--bare", source, "mill.git");
  for (const name of ["a", "b"]) {
    git(join(home, "mill.git"), "worktree", "add", "-q", "-b", name, join(home, name));
  }
  assert.match(String(projectOf([join(home, "a")])), /^mill-/);
  assert.equal(projectOf([join(home, "a")]), projectOf([join(home, "b")]));
  // A submodule's .git is a file that names its folder.
  const inner = join(source, "inner");
  mkdirSync(inner);
  mkdirSync(join(source, ".git", "modules", "inner"), { recursive: true });
  writeFileSync(join(inner, ".git"), "gitdir: ../.git/modules/inner\n");
  assert.match(String(projectOf([inner])), /^inner-/);
});

test("two repositories of one name differ, a setting wins, and off is off", (t) => {
  const home = scratch(t);
  for (const name of ["a", "b"]) mkdirSync(join(home, name, "app", ".git"), { recursive: true });
  assert.notEqual(projectOf([join(home, "a", "app")]), projectOf([join(home, "b", "app")]));
  assert.equal(projectOf([join(home, "a", "app")], "mine"), "mine");
  assert.equal(projectOf([join(home, "a", "app")], "off"), undefined);
});
