/** sideband log: a line for each change, and what was there before. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { OwnerClient } from "../../../src/door-client/owner-client.ts";
import { besideOwner, run, withData } from "./run-command.ts";

test("a line for each change says when, who, where, what was and what is; --since and --json", () =>
  withData((data) =>
    besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      await run("remember", "PREF.tone", "dry", ...ada);
      await run("remember", "TASK.next", "weave", "--project", "loom/x", ...ada);
      await run("remember", "PREF.tone", "warm", ...ada);
      // The same value again is no change.
      await run("remember", "PREF.tone", "warm", ...ada);
      await run("remember", "USER.os", "Plan 9", ...ada);
      const client = OwnerClient.of(data);
      const kept = "/facts?user_id=ada&label=USER.os&keep_history=true";
      await client.json("DELETE", kept, undefined, { account: "default" });
      const { out } = await run("log", ...ada);
      const lines = out.trimEnd().split("\n");
      for (const line of lines)
        assert.match(line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?[+-]\d\d:\d\d {2,6}/);
      assert.deepEqual(
        lines.map((line) => line.slice(31)),
        [
          'cli           PREF.tone: now "dry"',
          'cli           TASK.next in loom/x: now "weave"',
          'cli           PREF.tone: was "dry", now "warm"',
          'cli           USER.os: now "Plan 9"',
          '              USER.os: forgotten, was "Plan 9"',
        ],
      );
      // What was before the moment is known, though it is not printed.
      const objects = (await run("log", "--json", "--project", "loom", ...ada)).out.trimEnd().split("\n");
      assert.deepEqual(
        objects.map((line) => JSON.parse(line)).map(({ label, kind, value }) => [label, kind, value]),
        [["TASK.next", "written", "weave"]],
      );
      const own = (await run("log", "--person", ...ada)).out.trimEnd().split("\n");
      assert.deepEqual(own, [lines[0], ...lines.slice(2)]);
      const third = lines[2].slice(0, 29).trimEnd();
      const since = (await run("log", "--since", third, ...ada)).out;
      assert.ok(since.startsWith(lines[2]), since);
      assert.deepEqual(await run("log", "--since", "tomorrow", ...ada), {
        status: 0,
        out: "",
        err: "nothing has changed for ada\n",
      });
      assert.equal((await run("log", "--since", "soon", ...ada)).status, 2);
      const refused = await run("history", ...ada);
      assert.deepEqual([refused.status, refused.out], [2, ""]);
      for (let i = 0; i < 25; i++)
        await run("remember", "USER.gpu", String(i), "--user", "bob", "--data", data);
      // The history of a fact keeps eight earlier values.
      assert.equal((await run("log", "--user", "bob", "--data", data)).out.split("\n").length, 10);
    }),
  ));
