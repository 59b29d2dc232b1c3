/** A repository's remote: which address counts, and that all forms of one address are one remote. */

import assert from "node:assert/strict";
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
