/**
 * What was moved after a backup, and then erased at its new place: the restored backup has it at the old one, and must
 * forget it there, and nothing else.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { labelPatterns } from "../../../src/base/label-patterns.ts";
import { Metrics } from "../../../src/base/metrics.ts";
import { erasuresIn, lineOf } from "../../../src/memory/erasure-lines.ts";
import { notedErasures } from "../../../src/memory/erasures.ts";
import { KeyRing } from "../../../src/memory/key-ring.ts";
import { Labels } from "../../../src/memory/labels.ts";
import type { Change, MoveChange, Store } from "../../../src/memory/ports.ts";
import { eraseAgain } from "../../../src/memory/repeated-erasures.ts";
import type { MemoryServices } from "../../../src/memory/services.ts";
import { projectUser, sharedPlace } from "../../../src/memory/shared-places.ts";
import { writtenBy } from "../../../src/memory/write-view.ts";
import { LmdbStore } from "../../../src/store/lmdb/lmdb-store.ts";
import { viewOf } from "../../fixtures/views.ts";
import { ACCOUNT, temporaryStore } from "./memory-services.ts";

async function setUp(context: TestContext) {
  const store = await temporaryStore(context);
  let nowMs = Date.parse("2026-11-18T20:00:00Z");
  const clock = { now: () => nowMs };
  const later = (ms = 1_000) => {
    nowMs += ms;
  };
  const keyRing = ringOf(7);
  const lines: string[] = [];
  const under = (ring: KeyRing) =>
    notedErasures(store, { keyRing: ring, clock, add: async (line) => void lines.push(line) });
  return { store, clock, later, keyRing, lines, under, noted: under(keyRing) };
}

/** The last key writes; a negative number is of a key that only opens blocks. */
function ringOf(...ids: number[]): KeyRing {
  const masters = ids.map((id) => ({ id: Math.abs(id), opensOnly: id < 0 }));
  return new KeyRing(masters.map((one) => ({ ...one, material: new Uint8Array(32).fill(one.id) })));
}

interface Given {
  readonly noted: Store;
  readonly under: (ring: KeyRing) => Store;
  readonly lines: string[];
  readonly later: (ms?: number) => void;
}

/** What a restored backup has left of a user, in the form PLACE LABEL=VALUE, when what was done after it is erased again. */
async function leftInBackup(
  context: TestContext,
  done: (given: Given) => Promise<void>,
  { ofUser = "ada", keyRing = ringOf(7), isOneList = false } = {},
) {
  const { store, clock, later, lines, under, noted } = await setUp(context);
  const own = ["", "path", "path/tree", "tent"].map((place) => set(place, "PROJ.goal", place || "own"));
  for (const change of [...own, set("path", "PROJ.repo", "mine")]) await write(store, "ada", change);
  await store.changeProject(ACCOUNT, { project: "path", createdAtMs: 1 });
  await write(store, "ada", set(sharedPlace("path"), "PROJ.stack", "ours"), true);
  const folder = mkdtempSync(join(tmpdir(), "sideband-restored-"));
  context.after(() => rmSync(folder, { recursive: true }));
  await store.backup(join(folder, "backup"));
  later();
  await done({ noted, under, lines, later });
  const options = { create: false, queueMax: 100, metrics: new Metrics() };
  const restored = await LmdbStore.open({ folder: join(folder, "backup"), ...options });
  // From the lists of several nodes in any order, and as it is sent to one of them.
  const lists = isOneList ? [lines.join("")] : lines.toReversed();
  const erasures = erasuresIn(
    erasuresIn(...lists)
      .map(lineOf)
      .join("\n"),
  );
  const report = await eraseAgain({ store: restored, keyRing, clock }, erasures);
  const again = await eraseAgain({ store: restored, keyRing, clock }, erasures);
  assert.deepEqual(again, { ...report, erased: 0 }, "it may be repeated");
  const nowMs = clock.now();
  const factsOf = async (userId: string) =>
    (await restored.readLife(ACCOUNT, userId, { nowMs }))?.facts.map(
      ({ place, label, value }) => `${place} ${label}=${value}`,
    ) ?? [];
  const left = { left: await factsOf(ofUser), shared: await factsOf(projectUser("path")), ...report };
  await restored.close();
  return left;
}

const set = (place: string, label: string, value: string): Change => ({ place, label, value });

/** Each write has a moment of its own. */
let writtenMs = 0;

const write = (store: Store, userId: string, change: Change, isShared = false) =>
  store.write({
    ...viewOf(userId, ACCOUNT, { nowMs: ++writtenMs }),
    changes: [change],
    ...(isShared && { shared: { project: "path", isForAccount: true } }),
  });

const moved = (from: string, to: string): MoveChange => ({ kind: "move", from, to });

const EVERYTHING = [
  " PROJ.goal=own",
  "path PROJ.goal=path",
  "path PROJ.repo=mine",
  "path/tree PROJ.goal=path/tree",
  "tent PROJ.goal=tent",
];
const WITHOUT_PATH = [" PROJ.goal=own", "tent PROJ.goal=tent"];
const SHARED = [" PROJ.stack=ours"];

test("what was moved after a backup and then erased does not come back with it, also by way of several places", async (context) => {
  for (const steps of [
    ["path>loom", "loom"],
    ["path>loom", "loom>weft", "weft>warp", "warp"],
    ["path>loom", "loom>path", "path"],
  ]) {
    const { left, shared, erased } = await leftInBackup(context, async ({ noted, later }) => {
      for (const step of steps) {
        const [from, to] = step.split(">");
        if (to === undefined) await noted.forgetUser(ACCOUNT, "ada", from);
        else await write(noted, "ada", moved(from, to));
        later();
      }
    });
    assert.deepEqual([left, shared, erased], [WITHOUT_PATH, SHARED, 1], steps.join(", "));
  }
  const tree = await leftInBackup(context, async ({ noted }) => {
    await write(noted, "ada", moved("path", "loom"));
    await noted.forgetUser(ACCOUNT, "ada", "loom/tree");
  });
  assert.deepEqual(
    tree.left,
    EVERYTHING.filter((fact) => !fact.startsWith("path/tree")),
  );
});

test("a move and an erasure meet also where the master key was rotated between them", async (context) => {
  for (const version of ["0.1.0", "now"])
    for (const [readable, unreadable] of [
      [ringOf(7, 8, 9), 0],
      [ringOf(-7, -8, 9), 0],
      [ringOf(7), 0],
      // Its first move was noted before these keys were there.
      [ringOf(8, 9), 1],
    ] as const) {
      const { left, ...report } = await leftInBackup(
        context,
        async ({ under, lines, later }) => {
          await write(under(ringOf(7)), "ada", moved("path", "loom"));
          later();
          await write(under(ringOf(7, 8)), "ada", moved("loom", "weft"));
          // A line for each key.
          if (version === "0.1.0")
            lines.push(
              ...lines
                .splice(0)
                .map((line) => line.replaceAll(/(?<=\S{64}) (?=7|8)/g, "\n2026-11-18T20:00:02.000Z ")),
            );
          later();
          await under(ringOf(-7, -8, 9)).forgetUser(ACCOUNT, "ada", "weft");
        },
        { keyRing: readable },
      );
      assert.deepEqual(left, unreadable === 0 ? WITHOUT_PATH : EVERYTHING);
      if (version === "now") assert.equal(report.unreadable > 0, unreadable > 0);
    }
  // Also where labels stayed, and what stayed is known under one key alone.
  const { left } = await leftInBackup(
    context,
    async ({ under, later }) => {
      const only = { isMeant: (label: string) => label === "PROJ.goal", named: [] };
      await write(under(ringOf(7)), "ada", { ...moved("path", sharedPlace("path")), only }, true);
      later();
      await under(ringOf(-7, 8)).forgetUser(ACCOUNT, projectUser("path"));
    },
    { keyRing: ringOf(-7, 8) },
  );
  assert.deepEqual(
    left,
    EVERYTHING.filter((fact) => fact !== "path PROJ.goal=path"),
  );
});

test("a move comes before what was erased behind it in the list, also where the clock was set back between them", async (context) => {
  for (const [steps, expected, backMs] of [
    [["move", "erase"], WITHOUT_PATH, 3_600_000],
    [["erase", "move"], EVERYTHING, 3_600_000],
    // A few seconds back.
    [["move", "erase"], WITHOUT_PATH, 5_000],
    [["move", "on", "erase on"], WITHOUT_PATH, 4_000],
  ] as const) {
    const { left } = await leftInBackup(
      context,
      async ({ noted, later }) => {
        await write(noted, "ada", set("loom", "PROJ.goal", "another"));
        for (const step of steps) {
          if (step === "erase") await noted.forgetUser(ACCOUNT, "ada", "loom");
          else if (step === "erase on") await noted.forgetUser(ACCOUNT, "ada", "weft");
          else if (step === "on") await write(noted, "ada", moved("loom", "weft"));
          else await write(noted, "ada", moved("path", "loom"));
          later(-backMs);
        }
      },
      { isOneList: true },
    );
    assert.deepEqual(left, expected);
  }
});

test("what was erased before a move, or elsewhere, or was never moved, stays in a restored backup", async (context) => {
  const before = await leftInBackup(context, async ({ noted, later }) => {
    await write(noted, "ada", set("loom", "PROJ.goal", "another"));
    await noted.forgetUser(ACCOUNT, "ada", "loom");
    later();
    await write(noted, "ada", moved("path", "loom"));
    await noted.forgetUser(ACCOUNT, "bob", "loom");
  });
  assert.deepEqual(before, { left: EVERYTHING, shared: SHARED, erased: 0, unreadable: 0 });
  const nothing = await leftInBackup(context, async ({ noted, lines }) => {
    await write(noted, "ada", moved("nothing", "loom"));
    assert.deepEqual(lines, [], "nothing was moved");
  });
  assert.deepEqual(nothing.left, EVERYTHING);
});

test("what was taken into a shared project and erased there does not come back, and what stayed does", async (context) => {
  const take = (isMeant: (label: string) => boolean): MoveChange => {
    const only = { isMeant, named: [] };
    return { ...moved("path", sharedPlace("path")), only };
  };
  const taken = (isMeant: (label: string) => boolean) =>
    leftInBackup(context, async ({ noted, later }) => {
      await write(noted, "ada", take(isMeant), true);
      later();
      await noted.forgetUser(ACCOUNT, projectUser("path"));
    });
  const ofPath = (fact: string) => fact.startsWith("path ");
  const all = await taken(() => true);
  assert.deepEqual([all.left, all.shared], [EVERYTHING.filter((fact) => !ofPath(fact)), []]);
  const some = await taken((label) => label === "PROJ.goal");
  assert.deepEqual(
    [some.left, some.shared],
    [EVERYTHING.filter((fact) => fact !== "path PROJ.goal=path"), []],
  );
  // What was renamed is not known by its label, and one that stays is, also with another value.
  const renamed = await leftInBackup(context, async ({ noted, later }) => {
    const terms = { label: "PROJ.stack", oneOf: null, maxBytes: null };
    const rename = { kind: "rename", label: "PROJ.goal", to: "PROJ.stack", merge: false } as const;
    await write(noted, "ada", { ...rename, terms, places: ["path"] });
    later();
    await write(noted, "ada", set("path", "PROJ.goal", "another"));
    await write(noted, "ada", set("path", "PROJ.repo", "mine, too"));
    await write(
      noted,
      "ada",
      take((label) => label === "PROJ.stack"),
      true,
    );
    later();
    await noted.forgetUser(ACCOUNT, projectUser("path"));
  });
  assert.deepEqual(
    renamed.left,
    EVERYTHING.filter((fact) => fact !== "path PROJ.goal=path"),
  );
  // Moved before it was taken: the label is not named again.
  const chain = await leftInBackup(context, async ({ noted, later }) => {
    await write(noted, "ada", moved("tent", "path"));
    later();
    await write(
      noted,
      "ada",
      take((label) => label === "PROJ.goal"),
      true,
    );
    later();
    await noted.forgetUser(ACCOUNT, projectUser("path"));
  });
  assert.deepEqual(chain.left, [" PROJ.goal=own", "path PROJ.repo=mine", "path/tree PROJ.goal=path/tree"]);
});

test("what a shared project had given to a person does not come back when the person, or their project, is erased", async (context) => {
  for (const place of [undefined, "path"]) {
    const { shared, left } = await leftInBackup(context, async ({ noted, later }) => {
      await write(noted, "bob", moved(sharedPlace("path"), "path"), true);
      later();
      await noted.forgetUser(ACCOUNT, "bob", place);
    });
    assert.deepEqual([shared, left], [[], EVERYTHING]);
  }
});

test("an erasure that is under way while a move is noted counts as the later one", async (context) => {
  const { left } = await leftInBackup(context, async ({ noted, later }) => {
    await write(noted, "ada", set("loom", "PROJ.goal", "another"));
    const erased = noted.forgetUser(ACCOUNT, "ada", "loom");
    await noted.listPlaces(ACCOUNT, "ada");
    later();
    await Promise.all([erased, write(noted, "ada", moved("path", "loom"))]);
  });
  assert.deepEqual(left, WITHOUT_PATH);
});

test("a move that cannot be noted is refused, and its line has no name and no label", async (context) => {
  const { noted, lines, store, clock, keyRing } = await setUp(context);
  for (const place of ["loom", "loom/tree"]) await write(store, "bob", set(place, "PROJ.goal", "his"));
  await write(noted, "bob", moved("loom", "weft"));
  const hash = "[0-9a-f]{64}";
  const at = String.raw`2026-11-18T20:00:00\.000Z 7`;
  assert.match(lines.join(""), new RegExp(`^${at} ${hash}>${hash}\n${at} ${hash}>${hash},${hash}\n$`));
  const failing = notedErasures(store, { keyRing, clock, add: () => Promise.reject(new Error("ENOSPC")) });
  await assert.rejects(write(failing, "bob", moved("weft", "loom")), { code: "store_unavailable" });
  assert.deepEqual(await store.listPlaces(ACCOUNT, "bob"), ["", "weft", "weft/tree"]);
});

test("a move that its author may not make is not noted", async (context) => {
  const { noted, lines } = await setUp(context);
  await write(noted, "ada", set("loom", "PROJ.goal", "hers"));
  const services = { store: noted, labels: new Labels(noted) } as Partial<MemoryServices> as MemoryServices;
  const { store } = writtenBy(services, { user: null, write: labelPatterns(["PREF.*"]) });
  await assert.rejects(write(store, "ada", moved("loom", "weft")), { code: "label_not_allowed" });
  assert.deepEqual(lines, []);
});
