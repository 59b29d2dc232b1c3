/** sideband read: a block out of a transcript, and its facts back in the store. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ContextAnswer } from "../../../src/contract/answers.ts";
import { OwnerClient } from "../../../src/door-client/owner-client.ts";
import { besideOwner, run, withData } from "./run-command.ts";

test("a transcript gives back the facts of a user who was forgotten, and the printed command takes them away again", () =>
  withData((data, folder) =>
    besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      const remember = (label: string, value: string) => run("remember", label, value, "--person", ...ada);
      await remember("USER.name", "Ada Okafor");
      await remember("TASK.deadline", "2026-12-01");
      await remember("PET.cat", "Byron");
      const path = "/context?user_id=ada";
      const answer = await OwnerClient.of(data).json<ContextAnswer>("GET", path, undefined, {
        account: "default",
      });
      const words = answer.fdm_block.split(" ");
      const transcript = join(folder, "transcript.txt");
      writeFileSync(transcript, `user: hello\n${words.filter((_, i) => i % 5 !== 4).join(" ")}\nuser: bye`);

      const read = await run("read", transcript, ...ada);
      assert.deepEqual(
        [read.status, read.out],
        [0, "USER.name=Ada Okafor\nTASK.deadline=2026-12-01\nPET.cat=Byron\n"],
      );
      assert.match(read.err, /^\d+ words missing, \d+ wrong, \d{3} repaired, /);

      await run("forget", "--all", "--yes", ...ada);
      await remember("USER.name", "Ada O.");
      const restored = await run("read", transcript, "--restore", "ada", "--data", data);
      const undo = /\n3 facts restored; undo: (?:sideband|\S+ \S+) (rollback --to .*)\n$/.exec(restored.err);
      assert.ok(restored.status === 0 && undo !== null, JSON.stringify(restored));
      assert.equal((await run("recall", "USER.name", "--person", ...ada)).out, "Ada Okafor\n");
      assert.match((await run("log", ...ada)).out, /read: transcript\.txt +TASK\.deadline: now "2026-12-01"/);
      const undoing = undo[1].split(" ").map((word) => word.replaceAll("'", ""));
      assert.equal((await run(...undoing)).status, 0);
      assert.equal((await run("recall", "USER.name", "--person", ...ada)).out, "Ada O.\n");
      for (const label of ["TASK.deadline", "PET.cat"])
        assert.equal((await run("recall", label, "--person", ...ada)).status, 1);

      const both = await run("read", transcript, "--restore", "bob", ...ada);
      assert.deepEqual([both.status, both.out], [2, ""]);
      const foreign = await run("read", transcript, "--restore", "bob", "--data", data);
      assert.deepEqual([foreign.status, foreign.out], [1, ""]);
      assert.equal((await run("facts", "--user", "bob", "--data", data, "--person")).out, "");
    }),
  ));
