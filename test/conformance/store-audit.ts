/** What every store must do with the audit: an entry comes with its change, names go with an erasure, and both end after 400 days. */

import assert from "node:assert/strict";
import { AUDIT_KEPT_MS } from "../../src/base/limits.ts";
import { Audit } from "../../src/memory/audit.ts";
import { KeyRing } from "../../src/memory/key-ring.ts";
import type { Store } from "../../src/memory/ports.ts";
import type { AuditNote, KeyRequest } from "../../src/memory/records.ts";
import { checksOf, keyRecord, NOW, type StoreUnderTest, stored, write } from "./store-under-test.ts";

const keyRing = new KeyRing([{ id: 1, material: new Uint8Array(32).fill(7) }]);
const SOURCE = { operator: "grace", address: "192.0.2.7", requestId: "r-1" };
const LABEL = {
  ...{ label: "LANG.tone", description: "how to speak", example: "", oneOf: null, maxBytes: null },
  ...{ ttlS: null, scope: null, hidden: false, createdAtMs: NOW },
};
const OPERATOR = { name: "ada", access: "write", hash: "ada".padEnd(64, "0"), createdAtMs: NOW } as const;
const REQUEST: KeyRequest = {
  ...{ id: "asked", name: "Ada", email: "ada@example.com", purpose: "to try it", tier: "free" },
  ...{ createdAtMs: NOW, status: "open", decidedAtMs: null, keyId: null },
};

function auditOf(store: Store, nowMs = NOW): Audit {
  return new Audit({ store, keyRing, clock: { now: () => nowMs } });
}

function noteOf(store: Store, operation: string, user?: string, erased?: string): AuditNote {
  return auditOf(store).note(operation, SOURCE, { account: "acme", ...(user && { user }) }, erased);
}

async function entriesIn(store: Store, more: object = {}): Promise<AuditNote[]> {
  return [...(await auditOf(store).list({ limit: 100, ...more })).notes];
}

async function operationsIn(store: Store, more: object = {}): Promise<string[]> {
  return (await entriesIn(store, more)).map(({ entry }) => entry.operation);
}

const byText = (a: AuditNote, b: AuditNote) => (a.entry.id < b.entry.id ? 1 : -1);

export function storeAuditConformance(name: string, open: () => Promise<StoreUnderTest>): void {
  const check = checksOf(name, open);

  check("each change stores its entry once, and what changes nothing stores none", async (under) => {
    const { store } = under;
    const note = (operation: string) => noteOf(store, operation);
    const base = { ...LABEL, channel: 40 };
    const key = keyRecord("key1");
    const month = "2026-11";
    await store.addKeyRequest(REQUEST);
    await store.addKeyRequest({ ...REQUEST, id: "declined" });
    const changes: Record<string, (audit: AuditNote) => unknown> = {
      addKey: (audit) => store.addKey(key, undefined, audit),
      changeKey: (audit) => store.changeKey("key1", { tier: "pro", month }, audit),
      changeAccount: (audit) => store.changeAccount("acme", 5, month, audit),
      addLabel: (audit) => store.addLabel("acme", LABEL, audit),
      changeLabel: (audit) => store.changeLabel("acme", base, { hidden: true }, audit),
      removeLabel: (audit) => store.removeLabel("acme", LABEL.label, audit),
      changeStrict: (audit) => store.changeStrict("acme", true, audit),
      changeProject: (audit) => store.changeProject("acme", { project: "loom", createdAtMs: 1 }, audit),
      removeProject: (audit) => store.removeProject("acme", "loom", audit),
      decideKeyRequest: (audit) =>
        store.decideKeyRequest("declined", { status: "declined", decidedAtMs: 1, keyId: null }, audit),
      deleteKeyRequest: (audit) => store.deleteKeyRequest("asked", audit),
      addOperator: (audit) => store.operators.add(OPERATOR, audit),
      removeOperator: (audit) => store.operators.remove("ada", audit),
      forget: async (audit) => {
        await stored(store, [{ place: "", label: "USER.name", value: "Ada" }]);
        await stored(store, [{ place: "", label: "USER.name", value: null }], NOW, { audit });
      },
      erase: async (audit) => {
        await stored(store, [{ place: "", label: "USER.name", value: "Ada" }]);
        await store.forgetUser("acme", "ada", undefined, undefined, audit);
      },
      // Whoever has no facts may stand in the audit with a name, which goes.
      eraseOther: (audit) => store.forgetUser("acme", "nobody", undefined, undefined, audit),
      endGrants: async (audit) => {
        const grant = { keyId: "key1", resource: "", client: "", returnsTo: "", refreshes: 0, recentMs: [] };
        await store.addKey(keyRecord("grant1", "acme", { user: "bo", grant }));
        await store.endGrants("acme", "bo", NOW, audit);
      },
      add: (audit) => store.audit.add(audit),
    };
    for (const [operation, change] of Object.entries(changes)) {
      await change(note(operation));
      assert.deepEqual(await operationsIn(store, { operation }), [operation], operation);
    }
    const before = (await entriesIn(store)).length;
    assert.equal(before, Object.keys(changes).length);
    await store.addKey(key, undefined, note("none"));
    await store.changeKey("missing", { tier: "pro", month }, note("none"));
    await store.changeAccount("missing", 5, month, note("none"));
    await store.changeLabel("other", base, { hidden: true }, note("none"));
    await store.removeLabel("acme", LABEL.label, note("none"));
    await store.removeProject("acme", "loom", note("none"));
    await store.decideKeyRequest("asked", { status: "declined", decidedAtMs: 1, keyId: null }, note("none"));
    await store.deleteKeyRequest("asked", note("none"));
    await store.operators.remove("ada", note("none"));
    await stored(store, [{ place: "", label: "USER.name", value: null }], NOW, { audit: note("none") });
    const open = await store.addLabel("acme", LABEL);
    assert.equal(open.outcome, "added");
    await store.addLabel("acme", LABEL, note("none"));
    assert.equal((await entriesIn(store)).length, before);
  });

  check("an entry is the same after a restart, also where it was stored twice", async (under) => {
    const { store } = under;
    const note = noteOf(store, "addKey", "bo");
    await store.addKey(keyRecord("key1"), undefined, note);
    await store.addKey(keyRecord("key2"), undefined, note);
    const reopened = await under.reopen();
    assert.deepEqual(await entriesIn(reopened), [note]);
  });

  check("pages come newest first, and filters leave out what is not asked for", async ({ store }) => {
    const notes: AuditNote[] = [];
    for (let i = 0; i < 7; i++) {
      const account = i % 2 === 0 ? "acme" : "other";
      // Of two at one moment the order is that of their ids.
      const audit = auditOf(store, NOW - Math.floor(i / 2) * 1_000);
      notes.push(audit.note(i < 3 ? "addKey" : "changeKey", SOURCE, { account, user: `u${i % 3}` }));
    }
    for (const note of [...notes].reverse()) await store.audit.add(note);
    const expected = [...notes].sort((a, b) => b.entry.atMs - a.entry.atMs || byText(a, b));
    assert.deepEqual(await entriesIn(store), expected);
    const paged: AuditNote[] = [];
    for (let after: { atMs: number; id: string } | undefined; ; ) {
      const page = await auditOf(store).list({ limit: 2, after });
      paged.push(...page.notes);
      after = page.notes.at(-1)?.entry;
      if (!page.isMore) break;
    }
    assert.deepEqual(paged, expected);
    const meant = (test: (note: AuditNote) => boolean) => expected.filter(test);
    const filters: [object, (note: AuditNote) => boolean][] = [
      [{ account: "acme" }, ({ entry }) => entry.account === "acme"],
      [{ operation: "changeKey" }, ({ entry }) => entry.operation === "changeKey"],
      [
        { account: "acme", user: "u0" },
        ({ entry, names }) => entry.account === "acme" && names[0]?.name === "u0",
      ],
      [{ account: "acme", user: "nobody" }, () => false],
      [{ sinceMs: NOW - 1_000 }, ({ entry }) => entry.atMs >= NOW - 1_000],
      [{ untilMs: NOW - 1_000 }, ({ entry }) => entry.atMs < NOW - 1_000],
    ];
    for (const [filter, test] of filters)
      assert.deepEqual(await entriesIn(store, filter), meant(test), JSON.stringify(filter));
  });

  check(
    "an erasure takes the name out of all entries, and leaves what finds them again",
    async ({ store }) => {
      for (const user of ["ada", "bo"]) await store.audit.add(noteOf(store, "addKey", user));
      const facts = Array.from({ length: 100 }, (_, i) => ({ place: "", label: `NOTE.n${i}`, value: "x" }));
      await store.write(write("ada", [], { changes: facts.map((fact) => ({ ...fact, newLabel: true })) }));
      const note = noteOf(store, "forgetUser", "ada", "ada");
      assert.ok(await store.forgetUser("acme", "ada", undefined, undefined, note));
      const left = await entriesIn(store);
      assert.deepEqual(
        left.flatMap(({ names }) => names.map(({ name }) => name)),
        ["bo"],
      );
      assert.deepEqual((await operationsIn(store, { account: "acme", user: "ada" })).sort(), [
        "addKey",
        "forgetUser",
      ]);
      assert.deepEqual(await operationsIn(store, { account: "other", user: "ada" }), []);
    },
  );

  check("an erasure that tells the audit nothing takes the name all the same", async ({ store }) => {
    await store.audit.add(noteOf(store, "addKey", "ada"));
    await store.forgetUser("acme", "ada");
    assert.deepEqual((await entriesIn(store))[0]?.names, []);
  });

  check("after 400 days an entry is swept, and a name with the last one that has it", async ({ store }) => {
    const first = noteOf(store, "first", "ada");
    const later = auditOf(store, NOW + 1_000).note("later", SOURCE, { account: "acme", user: "ada" });
    await store.audit.add(first);
    await store.audit.add(later);
    const all = { sinceMs: 0, before: { atMs: NOW * 2 }, limit: 10 };
    await store.sweep(NOW + AUDIT_KEPT_MS);
    assert.deepEqual(await store.audit.read(all), [later, first]);
    await store.sweep(NOW + AUDIT_KEPT_MS + 1);
    assert.deepEqual(await store.audit.read(all), [later]);
    await store.sweep(NOW + AUDIT_KEPT_MS + 1_001);
    assert.deepEqual(await store.audit.read(all), []);
    await store.audit.add({ ...first, names: [] });
    assert.deepEqual((await store.audit.read(all))[0]?.names, []);
  });
}
