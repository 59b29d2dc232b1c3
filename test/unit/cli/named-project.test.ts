/** --project: a whole name, a unique beginning, and what is said where nothing fits. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { besideOwner, run, withData } from "./run-command.ts";

test("--project takes the beginning of a name, and says which projects there are where none or several fit", () =>
  withData((data) =>
    besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      const goal = (value: string, project: string) =>
        run("remember", "PROJ.goal", value, "--project", project, ...ada);
      const read = (project: string) => run("recall", "PROJ.goal", "--project", project, ...ada);
      assert.equal((await goal("weave", "loom-0123456789ab")).err, "", "the first one is new");
      const made = await goal("look", "lookout/x");
      assert.equal(made.status, 0);
      assert.equal(made.err, 'ada has no facts in a project "lookout"; there are: loom-0123456789ab\n');
      assert.deepEqual(await read("loom"), { status: 0, out: "weave\n", err: "in loom-0123456789ab\n" });
      assert.deepEqual(await read("loom-0123456789ab"), { status: 0, out: "weave\n", err: "" });
      assert.deepEqual(await read("lookout"), { status: 0, out: "look\n", err: "" });
      await run("remember", "TASK.next", "cut", "--project", "lookout/x", ...ada);
      assert.equal((await run("recall", "TASK.next", "--project", "look/x", ...ada)).out, "cut\n");
      const several = await read("loo");
      assert.equal(several.status, 1);
      assert.match(several.err, /several projects of ada begin with "loo": lookout, loom-0123456789ab\n$/);
      const none = await run("facts", "--project", "mill", ...ada);
      assert.match(
        none.err,
        /^ada has no facts in a project "mill"; there are: lookout, loom-0123456789ab\n/,
      );
      // The name that a repository had before it got a remote has the same beginning.
      assert.equal(
        (await run("facts", "--project", "loom-ffffffffffff", ...ada)).err.split("\n")[0],
        'ada has no facts in a project "loom-ffffffffffff"; if it has got a remote since, it may be loom-0123456789ab now; there are: lookout, loom-0123456789ab',
      );
      // A write by a beginning lands there, and the undo that it prints names the project.
      const written = await goal("weave more", "loom");
      assert.match(written.out, /; undo: .* restore PROJ\.goal \d+ .*--project loom-0123456789ab\n$/);
      // Another person's projects are not named.
      assert.equal(
        (await run("facts", "--project", "loom", "--user", "bob", "--data", data)).err,
        "bob has no facts\n",
      );
    }),
  ));
