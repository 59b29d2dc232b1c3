/**
 * Three jobs of an agent, each with twenty facts as they come up: on a code base, in support, for a family. All have a
 * place of their own, under a standard label, a label that the agent adds, or in a list. None is overwritten by another,
 * and each is in the prompt exactly, ten compactions later.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySection } from "../../../src/agent-side/memory-section.ts";
import { MEMORY_TOOLS } from "../../../src/agent-side/memory-tools.ts";
import { directMemory } from "../../../src/mcp/direct-memory.ts";
import { auditFor, caller, memoryServices } from "../memory/memory-services.ts";

/** A label and its value; an array is a list, to which items are added one by one. */
type Facts = Readonly<Record<string, string | readonly string[]>>;

interface Job {
  readonly user: string;
  readonly project?: string;
  readonly facts: Facts;
  /** What changes while the job goes on. */
  readonly changing: string;
}

const JOBS: readonly Job[] = [
  {
    user: "ada",
    project: "loom-3f2a9c81d04e/parser",
    changing: "TASK.current",
    facts: {
      "USER.name": "Ada Lovelace",
      "USER.os": "macOS 15.1",
      "PREF.code_style": "Biome, 110 columns, no default exports",
      "PREF.avoid": ["any", "enum", "barrel files"],
      "PROJ.repo": "git@example.com:ada/loom.git",
      "PROJ.stack": "Node 20, TypeScript 5.9, LMDB",
      "PROJ.branch": "parser",
      "PROJ.goal": "cut the build below 90 s",
      "PROJ.constraint": "no new dependencies",
      "TASK.next": "port src/lexer.ts",
      "TASK.deadline": "2026-12-01T17:00+01:00",
      "TASK.decision": ["hand-written parser", "errors as values"],
      "CODE.test_command": "npm test -- parser",
      "CODE.build_command": "npm run build && npm run check",
      "CODE.entry_point": "src/main/core.ts",
      "CODE.flaky_tests": ["owner.test.ts", "poolers.test.ts"],
    },
  },
  {
    user: "customer-8812",
    changing: "CASE.status",
    facts: {
      "USER.name": "Björn Åkesson",
      "USER.affiliation": "Åkesson & Söner AB",
      "USER.language": "Swedish; English is fine",
      "USER.timezone": "Europe/Stockholm",
      "PREF.tone": "formal",
      "ACCOUNT.plan": "Team, yearly",
      "ACCOUNT.seats": "25",
      "ACCOUNT.renewal": "2027-03-31",
      "ACCOUNT.owner": "mira@example.com",
      "CASE.number": "SUP-20931",
      "CASE.product": "Sync 4.2.1 (build 9917)",
      "CASE.symptom": "uploads > 2 GB stop at 99 %",
      "CASE.tried": ["restart", "wired network", "build 9921"],
      "CASE.refund": "€118.40 approved",
      "CASE.promised": "answer by Friday 14:00 CET",
      "CONTACT.phone": "+46 8 5550 1234, after 10:00",
      "CONTACT.never_on": ["Sundays", "public holidays"],
    },
  },
  {
    user: "grace",
    changing: "TASK.reminder",
    facts: {
      "USER.location": "Lisbon, Rua do Século 12",
      "PREF.units": "metric",
      "PREF.schedule": "no calls before 9:30",
      "FAMILY.partner": "Tomás, born 1984-02-29",
      "FAMILY.children": ["Inês (7)", "Rui (4)"],
      "FAMILY.allergies": ["Rui: peanuts", "Inês: penicillin"],
      "FAMILY.school": "Escola 21, gate code is with Tomás",
      "HOME.wifi_name": "casa-12 <5GHz>",
      "HOME.heating": "boiler serviced 2026-10-02",
      "HEALTH.doctor": "Dr. Nunes, Tuesdays",
      "TRAVEL.passport_ends": "2031-05-14",
      "TRAVEL.seat": "aisle, never row 13",
      "CAR.plate": "AA-12-BC",
      "CAR.tyres": "205/55 R16 91V",
      "MONEY.budget": "€450 a month for food",
      "GIFTS.ideas": ["kite", "atlas", "chess clock"],
    },
  },
];

test("sixty facts of three jobs stay apart and exact through ten compactions", async (context) => {
  const { services } = await memoryServices(context, "2026-11-16T12:00:00Z");
  const memory = directMemory(
    services,
    { ...caller, limit: null },
    (error) => error as Error,
    auditFor(services),
  );
  const kept = ({ facts }: Job) =>
    Object.values(facts).reduce((sum, value) => sum + (typeof value === "string" ? 1 : value.length), 0);
  assert.deepEqual(
    JOBS.map((job) => kept(job)),
    [20, 20, 20],
  );
  for (const job of JOBS) {
    const { user, project } = job;
    const call = (name: string, input: Record<string, unknown>) =>
      MEMORY_TOOLS.find((tool) => tool.name === name)!.run(memory, user, input, {
        project,
        writtenBy: "test",
      });
    const remember = async (label: string, value: string, add: boolean) => {
      const result = await call("remember", { label, value, add }).catch(async (error) => {
        // As an agent does where another label is a slip away.
        assert.equal(error.code, "unknown_label");
        return call("remember", { label, value, add, new_label: "certain" });
      });
      if (!add) assert.equal(result.previous, undefined, `${label} was overwritten`);
    };
    for (const [label, value] of Object.entries(job.facts)) {
      if (typeof value === "string") await remember(label, value, false);
      else for (const item of value) await remember(label, item, true);
    }
  }
  await memory.addLabel("CASE.status", { description: "where the case stands" });
  for (let round = 1; round <= 10; round++) {
    for (const { user, project, changing } of JOBS)
      await memory.encode(user, changing, `step ${round}`, { project });
    for (const { user, project, facts, changing } of JOBS) {
      const answer = await memory.context(user, { project, include: "index" });
      const lines = answer.plain_index.split("\n").filter((line) => !line.startsWith(`${changing}=`));
      const expected = Object.entries(facts).map(
        ([label, value]) => `${label}=${typeof value === "string" ? value : value.join("; ")}`,
      );
      assert.deepEqual([...lines].sort(), [...expected].sort(), `round ${round}`);
      // The same prompt until a fact changes.
      const again = await memory.context(user, { project, include: "index" });
      assert.equal(memorySection(again, "index"), memorySection(answer, "index"));
    }
  }
});
