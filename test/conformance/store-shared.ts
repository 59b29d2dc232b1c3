/** What every store must do of shared projects: two memories in one write, who shares one under the lock, and names that go. */

import assert from "node:assert/strict";
import type { Change, FactChange, Store, WriteRequest } from "../../src/memory/ports.ts";
import type { ProjectChange } from "../../src/memory/records.ts";
import { projectUser, sharedPlace } from "../../src/memory/shared-places.ts";
import { sharedReads } from "../../src/memory/shared-reads.ts";
import { rowsOf } from "../fixtures/fields.ts";
import { checksOf, NOW, type StoreUnderTest } from "./store-under-test.ts";

const PROJECT = "loom";
const AT = sharedPlace(PROJECT);
const TEAM = projectUser(PROJECT);
const GOAL = "PROJ.goal";
const PLACES = ["", AT, PROJECT];

function fact(place: string, value: string | null, more: Partial<FactChange> = {}): FactChange {
  return { place, label: GOAL, value, ...more };
}

/** A write of somebody who shares the project. */
function shared(userId: string, changes: readonly Change[], more: Partial<WriteRequest> = {}): WriteRequest {
  const view = { account: "acme", userId, places: PLACES, nowMs: NOW, shared: { project: PROJECT } };
  return { ...view, changes, ...more };
}

async function opened(store: Store, members: string[] | null = ["ada", "bo"]): Promise<void> {
  await store.changeProject("acme", { project: PROJECT, members, createdAtMs: 1 });
}

async function valuesOf(store: Store, userId = TEAM): Promise<string[]> {
  const life = await store.readLife("acme", userId, { nowMs: NOW });
  return (life?.facts ?? []).map(({ place, value, author }) =>
    [place, value, author].filter(Boolean).join(" "),
  );
}

const refusal = { code: "not_a_member" };

export function storeSharedConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("who shares a project is kept as it was said, and changed in parts", async ({ store, reopen }) => {
    const made = await store.changeProject("acme", { project: PROJECT, createdAtMs: 7 });
    assert.deepEqual(made, { project: PROJECT, members: null, access: "write", createdAtMs: 7 });
    await store.changeProject("acme", { project: PROJECT, members: ["bo", "ada"], createdAtMs: 8 });
    await store.changeProject("acme", { project: PROJECT, access: "read", createdAtMs: 9 });
    await store.changeProject("globex", { project: PROJECT, createdAtMs: 9 });
    const expected = [{ project: PROJECT, members: ["ada", "bo"], access: "read", createdAtMs: 7 }];
    assert.deepEqual(await store.readProjects("acme"), expected);
    assert.deepEqual(await (await reopen()).readProjects("acme"), expected);
  });

  check("a project that comes from elsewhere is not made where it is shared already", async ({ store }) => {
    const share = (change: Partial<ProjectChange>) =>
      store.changeProject("acme", { project: PROJECT, createdAtMs: 1, ...change });
    const elsewhere = { members: null, access: "write", createdAtMs: 9, onlyNew: true } as const;
    const closed = { project: PROJECT, members: ["ada"], access: "read" as const, createdAtMs: 1 };
    assert.deepEqual(await Promise.all([share(closed), share(elsewhere)]), [closed, closed]);
    assert.deepEqual(await store.readProjects("acme"), [closed]);
    await store.removeProject("acme", PROJECT);
    assert.deepEqual(await share(elsewhere), {
      project: PROJECT,
      members: null,
      access: "write",
      createdAtMs: 9,
    });
  });

  check("an account shares so many projects, and no more", async ({ store }) => {
    const share = (i: number) => store.changeProject("acme", { project: `p${i}`, createdAtMs: 1 });
    for (let i = 0; i < 1_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, j) => share(i + j)));
    assert.equal(await share(1_000), undefined);
    assert.ok(await share(5), "one that is there is changed");
    assert.equal(await store.removeProject("acme", "p5"), "removed");
    assert.equal(await store.removeProject("acme", "p5"), "missing");
    assert.ok(await share(1_000));
  });

  check("a write of both memories is all or none, and each counts and orders its own", async ({ store }) => {
    await opened(store);
    const name: FactChange = { place: "", label: "USER.name", value: "Ada" };
    const outcome = await store.write(shared("ada", [name, fact(AT, "one")]));
    assert.ok(outcome.outcome === "stored");
    assert.equal(outcome.channelCount, 2);
    assert.deepEqual(rowsOf(outcome.events, "place", "label"), [
      ["", "USER.name"],
      [AT, GOAL],
    ]);
    const [own, team] = outcome.changes.map(({ revision }) => revision);
    assert.ok(own! < team! && Number.isSafeInteger(team), "a revision of the one is none of the other");
    const conflict = await store.write(
      shared("bo", [{ ...name, value: "Bo" }, fact(AT, "two", { ifRevision: own })]),
    );
    assert.equal(conflict.outcome, "conflict");
    assert.deepEqual([await valuesOf(store), await valuesOf(store, "bo")], [["one ada"], []]);
    const { users, facts } = await store.statistics();
    assert.equal(facts, 2);
    assert.ok(users <= 2);
  });

  check("reads merge both memories, and the innermost counts", async ({ store }) => {
    await opened(store);
    const merged = sharedReads(store);
    const view = { account: "acme", userId: "ada", places: PLACES, nowMs: NOW };
    const read = async () => (await merged.readUser(view))?.facts.map(({ place, value }) => [place, value]);
    assert.equal(await read(), undefined);
    await store.write(shared("ada", [fact("", "person"), fact(AT, "team")]));
    assert.deepEqual(await read(), [[AT, "team"]]);
    assert.equal((await merged.readFact(view, GOAL))?.value, "team");
    const stamp = (await merged.readUser(view))?.stamp;
    await store.write(shared("bo", [fact(AT, "bo's")]));
    assert.notEqual((await merged.readUser(view))?.stamp, stamp);
    const own = await store.write(shared("ada", [fact(PROJECT, "own")]));
    assert.ok(own.outcome === "stored" && own.channelCount === 1, "a label counts once");
    assert.deepEqual(await read(), [[PROJECT, "own"]]);
    assert.equal((await merged.readFact(view, GOAL))?.value, "own");
  });

  check("labels of both memories are counted once, whatever else a group writes", async ({ store }) => {
    await opened(store);
    const labels = ["USER.name", "USER.os", "PROJ.stack", "PROJ.repo"];
    const writes = labels.map((label, i) =>
      store.write(shared(i % 2 === 0 ? "ada" : "bo", [{ place: i < 2 ? "" : AT, label, value: "x" }])),
    );
    await Promise.all(writes);
    const last = await store.write(shared("ada", [fact(AT, "x", { expiresAtMs: NOW + 10 })]));
    assert.ok(last.outcome === "stored");
    assert.equal(last.channelCount, 4);
    const later = await store.write(shared("ada", [], { nowMs: NOW + 20 }));
    assert.ok(later.outcome === "stored");
    assert.equal(later.channelCount, 3);
    const together = await Promise.all(
      ["ada", "bo"].map((user) => store.write(shared(user, [fact(AT, user)], { nowMs: NOW + 30 }))),
    );
    assert.deepEqual(
      together.map((one) => (one.outcome === "stored" ? one.channelCount : one.outcome)),
      [4, 4],
    );
  });

  check(
    "who does not share it when it is written is refused, and so is who only reads",
    async ({ store }) => {
      await assert.rejects(store.write(shared("ada", [fact(AT, "x")])), refusal);
      await opened(store);
      await assert.rejects(store.write(shared("eve", [fact(AT, "x")])), refusal);
      await assert.rejects(store.write(shared("eve", [fact("", "x")])), refusal);
      await store.changeProject("acme", { project: PROJECT, access: "read", createdAtMs: 1 });
      await assert.rejects(store.write(shared("ada", [fact("", "x"), fact(AT, "x")])), refusal);
      assert.ok((await store.write(shared("ada", [fact("", "mine")]))).outcome === "stored");
      const byAccount = { shared: { project: PROJECT, isForAccount: true } } as const;
      const move: Change = { kind: "move", from: PROJECT, to: AT };
      assert.ok(
        (await store.write(shared("ada", [move], { ...byAccount, places: [] }))).outcome === "stored",
      );
      assert.deepEqual([await valuesOf(store, "ada"), await valuesOf(store, "eve")], [["mine"], []]);
    },
  );

  check(
    "writes beside a removal of a member, or of the project, come before it or are refused",
    async ({ store }) => {
      for (let round = 0; round < 10; round++) {
        await opened(store);
        const writes = Array.from({ length: 8 }, (_, i) =>
          store.write(shared("ada", [fact(AT, `${round} ${i}`)])).then(
            () => "stored",
            ({ code }) => code,
          ),
        );
        const removing = store.changeProject("acme", { project: PROJECT, members: ["bo"], createdAtMs: 1 });
        const ends = await Promise.all(writes);
        await removing;
        assert.ok(
          ends.every((end) => end === "stored" || end === "not_a_member"),
          `${ends}`,
        );
        await assert.rejects(store.write(shared("ada", [fact(AT, "late")])), refusal);
        await store.forgetUser("acme", TEAM);
        await opened(store);
        const beside = [
          store.write(shared("bo", [fact(AT, "beside")])).then(
            () => "stored",
            ({ code }) => code,
          ),
          store.removeProject("acme", PROJECT),
        ];
        const [written, removed] = await Promise.all(beside);
        // Nothing is left behind that nobody shares.
        if (removed === "removed") assert.deepEqual([written, await valuesOf(store)], ["not_a_member", []]);
        else assert.deepEqual([written, removed], ["stored", "in_use"]);
        await store.forgetUser("acme", TEAM);
        await store.removeProject("acme", PROJECT);
      }
    },
  );

  check("facts go to the project and back with their history, all or none", async ({ store }) => {
    await opened(store);
    const own = (value: string) => store.write(shared("ada", [fact(PROJECT, value)], { writtenBy: "codex" }));
    await own("one");
    await own("two");
    await store.write(shared("ada", [{ place: PROJECT, label: "TASK.next", value: "mine" }]));
    const terms = { places: [], shared: { project: PROJECT, isForAccount: true } } as const;
    const goal = { isMeant: (label: string): boolean => label === GOAL, named: [GOAL] };
    const take = (only = goal) =>
      store.write(shared("ada", [{ kind: "move", from: PROJECT, to: AT, only }], terms));
    await assert.rejects(take({ isMeant: () => true, named: [GOAL, "PROJ.repo"] }), {
      code: "fact_not_found",
    });
    assert.deepEqual(await valuesOf(store), []);
    const taken = await take();
    assert.ok(taken.outcome === "stored");
    assert.deepEqual(taken.report?.movedFacts, [{ label: GOAL, value: "two" }]);
    assert.deepEqual(
      [await valuesOf(store), await valuesOf(store, "ada")],
      [["two ada"], [`${PROJECT} mine`]],
    );
    const team = await store.readLife("acme", TEAM, { nowMs: NOW });
    assert.deepEqual(rowsOf(team?.earlier, "value", "author", "writtenBy"), [["one", "ada", "codex"]]);
    await store.write(shared("bo", [{ kind: "move", from: AT, to: PROJECT }], terms));
    assert.deepEqual([await valuesOf(store), await valuesOf(store, "bo")], [[], [`${PROJECT} two`]]);
    const back = await store.readLife("acme", "bo", { nowMs: NOW });
    assert.deepEqual(rowsOf(back?.earlier, "value", "author"), [["one", undefined]]);
    assert.equal(await store.readStamp("acme", TEAM), undefined);
    assert.equal(await store.removeProject("acme", PROJECT), "removed");
  });

  check(
    "of two values of one moment that of the project stays where a member's is taken",
    async ({ store }) => {
      await opened(store);
      await store.write(shared("bo", [fact(AT, "team")]));
      await store.write(shared("ada", [fact(PROJECT, "mine")]));
      const terms = { places: [], shared: { project: PROJECT, isForAccount: true } } as const;
      await store.write(shared("ada", [{ kind: "move", from: PROJECT, to: AT }], terms));
      assert.deepEqual(await valuesOf(store), ["team bo"]);
    },
  );

  check("a name goes from present and earlier values, and nothing else does", async ({ store, reopen }) => {
    await opened(store);
    for (const [i, user] of ["ada", "bo", "ada", "bo", "ada"].entries())
      await store.write(shared(user, [fact(AT, `v${i}`)], { sessionId: `of ${user}`, nowMs: NOW + i }));
    await store.write(shared("bo", [{ place: AT, label: "PROJ.repo", value: "bo's" }]));
    const before = await store.readLife("acme", TEAM, { nowMs: NOW + 9 });
    const changes: Change[] = [{ kind: "disown", author: "ada" }];
    const outcome = await store.write({ account: "acme", userId: TEAM, changes, places: [], nowMs: NOW + 9 });
    assert.ok(outcome.outcome === "stored");
    assert.equal(outcome.report?.disowned, 3);
    const after = await (await reopen()).readLife("acme", TEAM, { nowMs: NOW + 9 });
    const bare = (all: typeof before, isKept: (author?: string) => boolean) =>
      [...all!.earlier, ...all!.facts].map(({ author, sessionId, ...rest }) =>
        isKept(author) ? { ...rest, author, sessionId } : { ...rest, author: undefined, sessionId: null },
      );
    assert.deepEqual(
      bare(after, () => true),
      bare(before, (author) => author !== "ada"),
    );
    assert.notEqual(after?.stamp, before?.stamp);
  });

  check(
    "who is erased is among the members of no project any more, also without a fact; others stay, and nobody is not everybody",
    async ({ store, reopen }) => {
      const membersOf = async (opened: Store) =>
        (await opened.readProjects("acme")).map(({ members }) => members);
      await opened(store);
      await store.changeProject("acme", { project: "mill", members: ["ada"], createdAtMs: 2 });
      await store.changeProject("acme", { project: "tent", createdAtMs: 3 });
      await store.write(shared("ada", [fact("", "own")]));
      assert.equal(await store.forgetUser("acme", "ada", PROJECT), undefined);
      assert.deepEqual(await membersOf(store), [["ada", "bo"], ["ada"], null], "only a place is erased");
      const before = await store.keysVersion(true);
      assert.equal((await store.forgetUser("acme", "ada"))?.facts, 1);
      assert.deepEqual(await membersOf(store), [["bo"], [], null]);
      assert.notEqual(await store.keysVersion(true), before, "all nodes notice");
      await assert.rejects(store.write(shared("ada", [fact(AT, "late")])), refusal);
      assert.equal((await store.forgetUser("acme", "bo"))?.facts, 0, "a name alone is something");
      const again = await reopen();
      assert.deepEqual(await membersOf(again), [[], [], null]);
      assert.equal(await again.forgetUser("acme", "bo"), undefined);
      const gone = { project: "gone", createdAtMs: 4, leaver: "ada" };
      assert.equal(await again.changeProject("acme", gone), undefined, "a project is not made by it");
      assert.equal((await again.readProjects("acme")).length, 3);
    },
  );

  check(
    "labels that are made in a project are its own, with numbers that no member's has",
    async ({ store }) => {
      await opened(store);
      const made = (place: string): FactChange => ({
        place,
        label: "CREW.cook",
        value: "x",
        free: { make: true },
      });
      const outcome = await store.write(shared("ada", [made(""), made(AT)]));
      assert.ok(outcome.outcome === "stored");
      const [own, team] = outcome.changes.map(({ number }) => number);
      assert.equal(own, 1);
      assert.ok(team! > 2 ** 20);
      const unmade = { ...made(AT), label: "CREW.smith", free: { make: false } };
      assert.equal((await store.write(shared("bo", [unmade]))).outcome, "label_unknown");
      const [label] = await store.readFreeLabels("acme", TEAM, { prefix: "", limit: 5 });
      assert.equal(label?.number, team);
    },
  );

  check("what is shared ends as any fact does, and is told at its place", async ({ store }) => {
    await opened(store);
    await store.write(shared("ada", [fact(AT, "short", { expiresAtMs: NOW + 5 })]));
    const ended = await store.sweep(NOW + 10);
    assert.deepEqual(rowsOf(ended, "userId", "place", "label"), [[TEAM, "", GOAL]]);
    assert.equal((await store.readLife("acme", TEAM, { nowMs: NOW + 10 }))?.earlier[0]?.author, "ada");
  });
}
