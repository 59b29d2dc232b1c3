/** The project of a folder: its repository, and the worktree inside it, with a name that every store takes. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { findProject, openProject, placeOf, projectName, projectOf } from "../../../src/agents/project.ts";
import { Sideband } from "../../../src/sdk/index.ts";
import { hermesCalls } from "../../agents/hermes-calls.ts";
import { temporaryFolder } from "../../fixtures/ends.ts";
import { scriptedServer } from "../sdk/scripted-server.ts";

function git(folder: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
}

/** The projects of the folders as the Hermes provider names them. */
function projectsInPython(folders: readonly string[], from = ""): unknown[] {
  return hermesCalls(folders.map((folder) => ["_project_of", [folder, "", from]]));
}

test("a repository and everything in it is one project, a worktree a place inside it; a folder outside is none", (t) => {
  const home = temporaryFolder(t);
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
    join(home, "link", "src"),
    pathToFileURL(join(repository, "src")).href,
  ];
  for (const folder of inside) assert.equal(projectOf([folder]), name, folder);
  assert.equal(projectOf([home, join(home, "elsewhere")]), `${name}/elsewhere`, "the first that is in one");
  // Git names it after its folder, whatever that is.
  git(repository, "worktree", "add", "-q", "-b", "two", join(home, "two words"));
  const odd = String(projectOf([join(home, "two words")]));
  assert.match(odd, /^my-loom-[0-9a-f]{12}\/two-words(-[0-9a-f]{12})?$/);
  const worktrees = [join(home, "elsewhere"), join(home, "two words")];
  assert.deepEqual(projectsInPython(worktrees), [`${name}/elsewhere`, odd]);
  for (const folder of [home, join(home, "gone"), "/dev/null/x", "file:///%"]) {
    assert.equal(projectOf([folder]), undefined, folder);
  }
});

test("a folder outside of a repository is a place of its own, and keeps its name when it becomes one", (t) => {
  const home = temporaryFolder(t);
  const [notes, deep] = [join(home, "notes"), join(home, "notes", "deep")];
  mkdirSync(deep, { recursive: true });
  const place = placeOf([notes]);
  assert.match(String(place), /^notes-[0-9a-f]{12}$/);
  assert.notEqual(placeOf([deep]), place);
  assert.deepEqual(projectsInPython([notes, deep]), [place, placeOf([deep])]);
  for (const settings of [{ project: "off" }, { project: "loom" }])
    assert.equal(placeOf([notes], settings), projectOf([notes], settings));
  for (const folders of [[], [join(home, "gone")]]) assert.equal(placeOf(folders), undefined);
  git(notes, "init", "-q");
  assert.deepEqual([placeOf([notes]), projectOf([notes]), placeOf([deep])], [place, place, place]);
  // One that is in a project comes before one that is not.
  assert.equal(placeOf([home, notes]), place);
});

test("worktrees of a bare repository share a project, and a submodule is its own", (t) => {
  const home = temporaryFolder(t);
  const source = join(home, "source");
  mkdirSync(source);
  git(source, "init", "-q");
  git(source, "commit", "-q", "--allow-empty", "-m", "Start");
  git(home, "clone", "-q", "--bare", source, "mill.git");
  for (const name of ["a", "b"]) {
    git(join(home, "mill.git"), "worktree", "add", "-q", "-b", name, join(home, name));
  }
  const byPath = { projectFrom: "path" } as const;
  assert.match(String(projectOf([join(home, "a")], byPath)), /^mill-[0-9a-f]{12}\/a$/);
  // Its remote is the repository that it was cloned from.
  assert.match(String(projectOf([join(home, "a")])), /^source-[0-9a-f]{12}\/a$/);
  for (const settings of [{}, byPath])
    assert.equal(
      projectOf([join(home, "a")], settings),
      projectOf([join(home, "b")], settings)?.replace(/b$/, "a"),
    );
  // A submodule's .git is a file that names its folder.
  const inner = join(source, "inner");
  mkdirSync(inner);
  mkdirSync(join(source, ".git", "modules", "inner"), { recursive: true });
  writeFileSync(join(inner, ".git"), "gitdir: ../.git/modules/inner\n");
  assert.match(String(projectOf([inner])), /^inner-/);
});

test("a folder that only says that it belongs to a repository does not: the repository must list it", (t) => {
  const home = temporaryFolder(t);
  const victim = join(home, "loom");
  mkdirSync(victim);
  git(victim, "init", "-q");
  git(victim, "remote", "add", "origin", "git@example.com:ada/loom.git");
  git(victim, "commit", "-q", "--allow-empty", "-m", "Start");
  git(victim, "worktree", "add", "-q", join(home, "real"));
  const entry = join(victim, ".git", "worktrees", "real");
  /** A folder of the attacker's with the files, named by their paths in it. */
  const forged = (name: string, files: Record<string, string>, make?: (folder: string) => void) => {
    const folder = join(home, name);
    mkdirSync(join(folder, "g", "worktrees", "x"), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    make?.(folder);
    return folder;
  };
  const back = (name: string) => `${join(home, name, ".git")}\n`;
  const folders = [
    forged("bare-claim", { ".git": "gitdir: g\n", "g/commondir": `${victim}/.git\n` }),
    forged("points-back", {
      ".git": "gitdir: g\n",
      "g/commondir": `${victim}/.git\n`,
      "g/gitdir": back("points-back"),
    }),
    forged("own-entry", {
      ".git": "gitdir: g/worktrees/x\n",
      "g/worktrees/x/commondir": `../../../../loom/.git\n`,
      "g/worktrees/x/gitdir": back("own-entry"),
    }),
    forged("entry-of-another", { ".git": `gitdir: ${entry}\n` }),
    forged("relative-entry", { ".git": "gitdir: ../loom/.git/worktrees/real\n" }),
    forged("whole-repository", { ".git": `gitdir: ${victim}/.git\n` }),
    forged("linked-file", {}, (folder) => symlinkSync(join(home, "real", ".git"), join(folder, ".git"))),
    forged("linked-folder", {}, (folder) => symlinkSync(join(victim, ".git"), join(folder, ".git"))),
    forged("linked-config", {}, (folder) => {
      mkdirSync(join(folder, ".git"));
      symlinkSync(join(victim, ".git", "config"), join(folder, ".git", "config"));
    }),
    forged("linked-entry", { ".git": "gitdir: entry\n" }, (folder) =>
      symlinkSync(entry, join(folder, "entry")),
    ),
    forged("two\nlines", { ".git": `gitdir: ${entry}\n\n`, commondir: `${victim}/.git` }),
    forged("commondir-beside", { ".git": "", commondir: `${victim}/.git`, gitdir: back("commondir-beside") }),
    forged("long", { ".git": `gitdir: ${"x/../".repeat(1 << 20)}${entry}\n` }),
    forged("pipe", {}, (folder) => execFileSync("mkfifo", [join(folder, ".git")])),
    forged("pipe-behind", { ".git": "gitdir: g\n" }, (folder) =>
      execFileSync("mkfifo", [join(folder, "g", "commondir")]),
    ),
  ];
  const names = folders.map((folder) => projectOf([folder]));
  assert.deepEqual(names, folders.map(projectName));
  assert.deepEqual(projectsInPython(folders), names);
  const project = projectName("example.com/ada/loom");
  // The real ones are those of the repository, also where git writes the way back as a relative path.
  assert.equal(projectOf([join(home, "real")]), `${project}/real`);
  writeFileSync(join(entry, "gitdir"), "../../../../real/.git\n");
  assert.equal(projectOf([join(home, "real")]), `${project}/real`);
  assert.deepEqual(projectsInPython([join(home, "real"), victim]), [`${project}/real`, project]);
  // A worktree that was moved by hand is listed again when git has mended it.
  renameSync(join(home, "real"), join(home, "moved"));
  assert.equal(projectOf([join(home, "moved")]), projectName(join(home, "moved")));
  git(join(home, "moved"), "worktree", "repair");
  assert.equal(projectOf([join(home, "moved")]), `${project}/real`);
});

test("a real submodule is its own project, and so are its worktrees", (t) => {
  const home = temporaryFolder(t);
  for (const name of ["part", "whole"]) {
    mkdirSync(join(home, name));
    git(join(home, name), "init", "-q");
    git(join(home, name), "commit", "-q", "--allow-empty", "-m", "Start");
  }
  const whole = join(home, "whole");
  const inner = join(whole, "lib", "part");
  git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", join(home, "part"), "lib/part");
  assert.match(
    readFileSync(join(inner, ".git"), "utf8"),
    /^gitdir: \.\.\/\.\.\/\.git\/modules\/lib\/part\n$/,
  );
  git(inner, "worktree", "add", "-q", join(home, "branch"));
  const folders = [inner, join(home, "branch"), whole];
  const modules = join(whole, ".git", "modules", "lib", "part");
  const names = [projectName(inner), `${projectName(modules)}/branch`, projectName(whole)];
  assert.deepEqual(
    folders.map((folder) => projectOf([folder], { projectFrom: "path" })),
    names,
  );
  assert.deepEqual(projectsInPython(folders, "path"), names);
  const remote = projectName(`file://${join(home, "part")}`);
  const byRemote = [remote, `${remote}/branch`, projectName(whole)];
  assert.deepEqual(
    folders.map((folder) => projectOf([folder])),
    byRemote,
  );
  assert.deepEqual(projectsInPython(folders), byRemote);
});

test("two repositories of one name differ, a setting wins, and off is off", (t) => {
  const home = temporaryFolder(t);
  for (const name of ["a", "b"]) mkdirSync(join(home, name, "app", ".git"), { recursive: true });
  assert.notEqual(projectOf([join(home, "a", "app")]), projectOf([join(home, "b", "app")]));
  assert.equal(projectOf([join(home, "a", "app")], { project: "mine" }), "mine");
  assert.equal(projectOf([join(home, "a", "app")], { project: "off" }), undefined);
});

test("a clone and a moved repository are the same project where the remote is the same, worktrees included", (t) => {
  const home = temporaryFolder(t);
  const origin = join(home, "origin.git");
  mkdirSync(origin);
  git(origin, "init", "-q", "--bare");
  const clones = ["loom", "loom-again"].map((name) => join(home, name));
  for (const clone of clones) git(home, "clone", "-q", origin, clone);
  const project = projectOf([clones[0]]);
  assert.match(String(project), /^origin-[0-9a-f]{12}$/);
  const moved = join(home, "elsewhere");
  renameSync(clones[1], moved);
  for (const folder of [clones[0], moved]) assert.equal(projectOf([folder]), project);
  git(moved, "-c", "user.name=Ada", "commit", "-q", "--allow-empty", "-m", "Start");
  git(moved, "worktree", "add", "-q", "-b", "spike", join(home, "spike"));
  assert.equal(projectOf([join(home, "spike")]), `${project}/spike`);
  assert.deepEqual(projectsInPython([moved, join(home, "spike")]), [project, `${project}/spike`]);
  assert.deepEqual(findProject([join(home, "spike")], {}), {
    place: `${project}/spike`,
    project,
    byPath: projectName(moved),
  });
  assert.equal(projectOf([moved], { projectFrom: "path" }), projectName(moved));
  // The https form of the same remote, with a token in it.
  const folders = [clones[0], moved];
  for (const [i, url] of [
    "git@example.com:ada/loom.git",
    "https://ada:s3cret@example.com/ada/loom",
  ].entries())
    git(folders[i], "remote", "set-url", "origin", url);
  assert.equal(projectOf([moved]), projectOf([clones[0]]));
  assert.equal(projectOf([moved]), projectName("example.com/ada/loom"));
  git(moved, "remote", "remove", "origin");
  assert.equal(projectOf([moved]), projectName(moved));
});

test("a move that met an outage is tried again half a minute later, and one that was answered is not", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 18) });
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git", "config"), '[remote "origin"]\n\turl = git@example.com:ada/loom.git\n');
  const project = projectName("example.com/ada/loom");
  let isAway = true;
  const { url, seen } = await scriptedServer(t, () =>
    isAway ? "drop" : { body: { status: "ok", moved: 1 } },
  );
  const memory = new Sideband<string>({ baseUrl: url, retries: 0 });
  const open = () => openProject(memory, "ada", [folder], {});
  const moves = async () => {
    assert.equal(await open(), project);
    return seen.length;
  };
  assert.deepEqual([await moves(), await moves()], [1, 1], "no agent waits at every turn");
  isAway = false;
  t.mock.timers.tick(30_000);
  assert.equal(await moves(), 2);
  assert.equal(seen[1].path, "/users/move");
  t.mock.timers.tick(3_600_000);
  assert.equal(await moves(), 2);
});
