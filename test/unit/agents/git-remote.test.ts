/** A repository's remote: which address counts, and that all forms of one address are one remote. */

import assert from "node:assert/strict";
import { basename } from "node:path";
import { test } from "node:test";
import { gitValue, remoteIdentity, remoteIn } from "../../../src/agents/git-remote.ts";
import { projectName } from "../../../src/agents/project.ts";
import { hermesCalls } from "../../agents/hermes-calls.ts";

const FOLDER = "/home/ada/loom";

test("all forms of one address are one remote, without a user, a password or a token", () => {
  const forms = [
    "https://github.com/ada/loom.git",
    "https://github.com/ada/loom",
    "https://github.com/ada/loom/",
    "https://GitHub.com:443/ada/loom.git",
    "https://ada@github.com/ada/loom.git",
    "https://ada:ghp_0123456789abcdef@github.com/ada/loom.git",
    "https://x-access-token:p@ss@github.com/ada/loom.git",
    "http://github.com:80/ada/loom.git?token=secret#x",
    "git@github.com:ada/loom.git",
    "github.com:ada/loom",
    "git@github.com:/ada/loom.git",
    "ssh://git@github.com/ada/loom.git",
    "ssh://git@github.com:22/ada/loom.git",
    "ssh://git@ssh.github.com:443/ada/loom.git",
    "git+ssh://git@github.com/ada/loom",
    "git://github.com/ada/loom.git",
  ];
  for (const form of forms) assert.equal(remoteIdentity(form, FOLDER), "github.com/ada/loom", form);
  assert.deepEqual(
    hermesCalls(forms.map((form) => ["_remote_identity", [form, FOLDER]])),
    forms.map(() => "github.com/ada/loom"),
  );
  assert.match(projectName("github.com/ada/loom"), /^loom-[0-9a-f]{12}$/);
});

test("no part of a project's name, nor what it is a hash of, comes from a password, a token or a parameter", () => {
  const urls: Readonly<Record<string, string | undefined>> = {
    "ada:S3CRET@host.example:repo.git": "host.example/repo",
    "ada:S3C/RET@host.example:team/repo.git": "host.example/team/repo",
    "ada@mail.example:S3CRET@host.example:repo.git": "host.example/repo",
    "https://host.example/team/r.git;token=S3CRET": "host.example/team/r",
    "git@host.example:team/r.git;token=S3CRET": "host.example/team/r",
    "https://host.example/r.git?token=S3/CRET#S3CRET": "host.example/r",
    "git@host.example:r.git#S3CRET": "host.example/r",
    "file:///srv/r.git;token=S3CRET": "file:///srv/r",
    "file:///srv/my%20r.git?token=S3CRET": "file:///srv/my r",
    "file://localhost/srv/r.git": "file:///srv/r",
    // It cannot be told what of these is the path.
    "ada:S3CRET@host.example": undefined,
    "ada:S3CRET@host.example/repo.git": undefined,
    "ada@mail.example:S3CRET@host.example/repo.git": undefined,
    "https:ada:S3CRET@host.example/repo.git": undefined,
    "https:/ada:S3CRET@host.example/repo.git": undefined,
    "https://ada:12/S3CRET@host.example/repo.git": undefined,
    "https://ada:S3/CRET@host.example/repo.git": undefined,
    "https://host.example?token=S3CRET/repo.git": undefined,
    "https://host.example;token=S3CRET/repo.git": undefined,
    "https://host.example/a;token=S3/CRET": undefined,
    "ext::ssh -i S3CRET host.example repo.git": undefined,
    "cloud::https://ada:S3CRET@host.example/repo.git": undefined,
    "cloud://S3CRET@repo": undefined,
    "file://ada:S3CRET@host.example/repo.git": undefined,
  };
  const found = Object.keys(urls).map((url) => remoteIdentity(url, FOLDER));
  assert.deepEqual(Object.fromEntries(Object.keys(urls).map((url, i) => [url, found[i]])), urls);
  const inPython = hermesCalls(Object.keys(urls).map((url) => ["_remote_identity", [url, FOLDER]]));
  assert.deepEqual(
    inPython,
    found.map((identity) => identity ?? null),
  );
  // A path may have such a part in its last name.
  for (const path of ["/srv/r.git;token=S3CRET", "../r.git?token=S3CRET"]) {
    const identity = String(remoteIdentity(path, FOLDER));
    assert.match(projectName(identity), /^r-[0-9a-f]{12}$/);
    const [hermes] = hermesCalls([["_project_name", [basename(identity), identity]]]);
    assert.equal(hermes, projectName(identity));
  }
});

test("a name keeps the letters and digits of every script, and never begins with a dash", () => {
  const names = {
    織機: "織機",
    "проект один": "проект-один",
    "परियोजना-२": "परियोजना-२",
    "--help": "help",
    "-x": "x",
    "...": "project",
    "🧶🧶": "project",
    "e\u0301tude": "étude",
    "a\u202eb\u200bc": "a-b-c",
    "\u3164": "project",
    ["𐌰".repeat(60)]: "𐌰".repeat(40),
    "$(touch x)'\"": "touch-x-",
  };
  const whole = Object.keys(names).map((name) => projectName(`/home/ada/${name}`));
  assert.deepEqual(
    whole.map((name) => name.slice(0, -13)),
    Object.values(names),
  );
  const inPython = hermesCalls(
    Object.keys(names).map((name) => ["_project_name", [name, `/home/ada/${name}`]]),
  );
  assert.deepEqual(inPython, whole);
});

test("other hosts, paths and servers on one host are other remotes", () => {
  const others = {
    "https://gitlab.com/ada/loom.git": "gitlab.com/ada/loom",
    "git@github.com:grace/loom.git": "github.com/grace/loom",
    "https://github.com/ada/Loom": "github.com/ada/Loom",
    "http://127.0.0.1:3000/ada/loom.git": "127.0.0.1:3000/ada/loom",
    "ssh://git@[2001:db8::1]:2222/ada/loom.git": "[2001:db8::1]/ada/loom",
    "ssh.example:ada/loom": "ssh.example/ada/loom",
    "/srv/git/loom.git": "file:///srv/git/loom",
    "../loom.git": "file:///home/ada/loom",
    "file:///srv/git/loom.git/": "file:///srv/git/loom",
    "/home/grace/mill/.git": "file:///home/grace/mill",
    "C:\\mill\\.git": `file://${FOLDER}/C:\\mill`,
    "C:/git/loom": `file://${FOLDER}/C:/git/loom`,
  };
  const urls = Object.keys(others);
  assert.deepEqual(Object.fromEntries(urls.map((url) => [url, remoteIdentity(url, FOLDER)])), others);
  const inPython = hermesCalls(urls.map((url) => ["_remote_identity", [url, FOLDER]]));
  assert.deepEqual(inPython, Object.values(others));
  const none = ["https://github.com/", "https:///ada/loom", "ssh://git@host"];
  for (const url of none) assert.equal(remoteIdentity(url, FOLDER), undefined, url);
  const noneInPython = hermesCalls(none.map((url) => ["_remote_identity", [url, FOLDER]]));
  assert.deepEqual(noneInPython, [null, null, null]);
});

test("origin counts, or the only remote; the first address of it; quotes, comments and case as git has them", () => {
  const configs: [string, string | undefined][] = [
    [
      '[remote "origin"]\n\turl = git@host:a.git\n\tfetch = +refs\n[remote "up"]\n\turl = b\n',
      "git@host:a.git",
    ],
    ['[remote "up"]\n\turl = b\n[remote "origin"]\n\turl = a\n\turl = c\n', "a"],
    ['[remote "up"]\n\turl = b\n', "b"],
    ['[remote "up"]\n\turl = b\n[remote "fork"]\n\turl = c\n', undefined],
    ['[Remote "origin"] URL = "a;b # c" ; said\n', "a;b # c"],
    ['[remote "origin"]\r\n url = a \\\r\nb # c\r\n', "a b"],
    ['[remote "a \\"b\\" c"]\n url = "x\\\\y"\n', "x\\y"],
    ['# [remote "origin"]\n; url = a\n[remote "origin"]\n#url = a\nurl =\n', undefined],
    ['[remote "Origin"]\nurl = a\n[remote "up"]\nurl=b', undefined],
    ["[remote.origin]\nurl = a\n", undefined],
    ["", undefined],
  ];
  for (const [config, url] of configs) assert.equal(remoteIn(config), url, config);
  const inPython = hermesCalls(configs.map(([config]) => ["_remote_in", [config]]));
  assert.deepEqual(
    inPython,
    configs.map(([, url]) => url ?? null),
  );
  const core = "[core]\n\tworktree = ../a\n\tbare = false\n[core]\n\tworktree = ../b\n";
  assert.equal(gitValue(core, "core", "worktree"), "../b");
});
