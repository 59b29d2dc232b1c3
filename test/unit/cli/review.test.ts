/** remember --origin, and review: what was read somewhere is listed, accepted or forgotten, and that can be undone. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { sidebandCommand } from "../../../src/cli/printed-commands.ts";
import { besideOwner, run, withData } from "./run-command.ts";

/** The words of the undo that a line names, as a shell reads them, without the program. */
function undoWords(line: string): string[] {
  const command = line.slice(line.indexOf("; undo: ") + "; undo: ".length + sidebandCommand().length);
  return execFileSync("sh", ["-c", `printf '%s\\0' ${command.trim()}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);
}

type Fact = { label: string; value: string; origin?: string; expires_at?: string; written_by?: string };

test("what was read somewhere is listed, accepted with its end and writer, and forgotten; each can be undone", () =>
  withData((data) =>
    besideOwner(
      data,
      async () => {
        const ada = ["--user", "ada", "--data", data];
        const facts = async () => {
          const answer = JSON.parse((await run("facts", "--json", ...ada)).out);
          return Object.fromEntries(answer.facts.map((fact: Fact) => [fact.label, fact]));
        };
        const section = async () => (await run("context", ...ada)).out;
        assert.equal((await run("remember", "USER.name", "Ada", ...ada)).status, 0);
        const read = ["--origin", "read", ...ada];
        await run("remember", "USER.os", 'a "quoted" one', "--until", "2099-12-31", ...read);
        await run("remember", "PREF.tone", "dry", ...read);
        assert.match(
          (await run("remember", "PREF.tone", "dry", "--origin", "heard")).err,
          /said, concluded, read/,
        );
        const list = await run("review", ...ada);
        assert.match(
          list.out,
          /^USER\.os="a \\"quoted\\" one" until 2099-.* {2}\(cli, .*\)\nPREF\.tone="dry" .*\n2 facts; /,
        );
        assert.doesNotMatch(await section(), /USER\.os|PREF\.tone/);
        const before = await facts();
        const accepted = await run("review", "USER.os", "--accept", ...ada);
        assert.equal(accepted.status, 0, accepted.err);
        const { revision: _r, updated_at: _u, ...now } = (await facts())["USER.os"];
        const { revision, updated_at, ...was } = before["USER.os"];
        assert.deepEqual(now, { ...was, origin: "said" });
        assert.match(await section(), /USER\.os \(until \S+\)=a "quoted" one\n/);
        await run(...undoWords(accepted.out));
        assert.equal((await facts())["USER.os"].origin, "read");
        const forgotten = await run("review", "PREF.tone", "--forget", ...ada);
        assert.equal((await facts())["PREF.tone"], undefined);
        await run(...undoWords(forgotten.out));
        assert.equal((await facts())["PREF.tone"].origin, "read");
        assert.match(
          (await run("review", "--accept", ...ada)).out,
          /^USER\.os: accepted .*\nPREF\.tone: accepted "dry"; undo: /,
        );
        assert.match((await run("review", ...ada)).out, /^nothing of ada was read somewhere\n$/);
        const none = await run("review", "USER.name", "--accept", ...ada);
        assert.deepEqual(
          [none.status, none.err],
          [1, "sideband review: ada has no fact USER.name that was read somewhere\n"],
        );
        assert.equal((await run("review", "--accept", "--forget", ...ada)).status, 2);
      },
      { SIDEBAND_REVIEW: "read" },
    ),
  ));

test("where what was read has replaced something, turning it down brings that back, and never what has changed meanwhile", () =>
  withData((data) =>
    besideOwner(
      data,
      async () => {
        const ada = ["--user", "ada", "--data", data];
        const value = async () => (await run("recall", "HEALTH.medication", ...ada)).out;
        const origin = async () => {
          const { facts } = JSON.parse((await run("facts", "--json", ...ada)).out);
          return facts[0].origin;
        };
        const write = (text: string, from: string) =>
          run(
            "remember",
            "HEALTH.medication",
            text,
            "--new",
            "--origin",
            from,
            "--until",
            "2099-12-31",
            ...ada,
          );
        assert.equal((await write("88 mg", "said")).status, 0);
        await write("a page's", "read");
        await write("another page's", "read");
        assert.match(
          (await run("review", ...ada)).out,
          /^HEALTH\.medication="another page's" until .*\(cli, .*\), in place of "88 mg"\n1 fact; /,
        );
        const done = await run("review", "HEALTH.medication", "--forget", ...ada);
        assert.match(
          done.out,
          /^HEALTH\.medication: was "another page's".*, now "88 mg" until 2099-.*; undo: /,
        );
        assert.deepEqual([await value(), await origin()], ["88 mg\n", "said"]);
        assert.match((await run("context", "--groups", "all", ...ada)).out, /HEALTH\.medication.*=88 mg\n/);
        await run(...undoWords(done.out));
        assert.deepEqual([await value(), await origin()], ["another page's\n", "read"]);
        // What the person has taken away stays away.
        await run("forget", "HEALTH.medication", ...ada);
        await write("a third page's", "read");
        assert.doesNotMatch((await run("review", ...ada)).out, /in place of/);
        assert.match((await run("review", "--forget", ...ada)).out, /^HEALTH\.medication: forgotten; undo: /);
        assert.equal(await value(), "");
      },
      { SIDEBAND_REVIEW: "read" },
    ),
  ));

test("a pin is set and taken away, each can be undone, and all else of the fact stays; a prompt of few tokens has it", () =>
  withData((data) =>
    besideOwner(data, async () => {
      const ada = ["--user", "ada", "--data", data];
      const fact = async (label: string) => {
        const { facts } = JSON.parse((await run("facts", "--json", ...ada)).out);
        const { revision: _, updated_at: __, ...rest } = facts.find((one: Fact) => one.label === label);
        return rest;
      };
      await run("remember", "USER.os", "Debian", "--until", "2099-12-31", "--origin", "read", ...ada);
      for (let i = 0; i < 30; i++)
        await run(
          "remember",
          `PREF.n${i}`,
          "a note of some words, which goes on for a while",
          "--new",
          ...ada,
        );
      const section = async (...more: string[]) => (await run("context", ...more, ...ada)).out;
      assert.doesNotMatch(await section("--max-tokens", "250"), /USER\.os=/);
      const before = await fact("USER.os");
      const pinned = await run("pin", "USER.os", ...ada);
      assert.match(pinned.out, /^USER\.os: pinned, "Debian"; undo: /);
      assert.deepEqual(await fact("USER.os"), { ...before, pinned: true });
      assert.match(
        await section("--max-tokens", "250"),
        /\nUSER\.os \(until \S+\)=Debian\nAlso stored.* more\)\n<\//,
      );
      assert.match((await run("pin", "USER.os", ...ada)).out, /pinned already/);
      await run(...undoWords(pinned.out));
      assert.deepEqual(await fact("USER.os"), before);
      assert.match(await section("--max-tokens", "0"), /PREF\.n29=.*\n(?:.*\n)*<\//);
      assert.match((await run("context", "--max-tokens", "10", ...ada)).err, /--max-tokens .*200/);
      assert.equal((await run("pin", "USER.gpu", ...ada)).status, 1);
    }),
  ));
