/**
 * The rows of the benchmark under hostile hands. A row says what its service holds beforehand, and what the attacker sends.
 * A further row is one more entry of the list.
 */

import { LABELS } from "../../src/base/channel-labels.ts";
import type { Core } from "../../src/main/core.ts";
import type { Attack } from "./attacker.ts";
import { hintLabels, hintRequest } from "./hints.ts";

const MIB = 2 ** 20;
/** The account that attacks. */
export const ACCOUNT = "attacker";

export interface HostileRow {
  readonly name: string;
  /** Writes what the service holds before it starts. */
  readonly fill?: (core: Core, small: boolean) => Promise<void>;
  /** @param key of the account that attacks */
  readonly attack: (key: string, small: boolean) => Omit<Attack, "port">;
  /** The figures are reported, and have no bar. */
  readonly reportOnly?: true;
}

const one = { times: 1, addresses: 1 };
const holdMs = (small: boolean) => (small ? 200 : 5_000);
const part = (count: number, small: boolean) => (small ? count / 10 : count);
const head = (path: string, key: string | undefined) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${key === undefined ? "" : `Authorization: Bearer ${key}\r\n`}`;
const bodyOf = (rest: string) => `{"user_id":"x","block":"${"x".repeat(MIB - 100 - rest.length)}"${rest}}`;
const whole = (path: string, key: string | undefined, body = bodyOf("")) =>
  `${head(path, key)}Content-Length: ${body.length}\r\n\r\n${body}`;
const TINY = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

export const ROWS: readonly HostileRow[] = [
  {
    name: "bodies of 1 MiB",
    attack: (key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: part(500, small),
      request: whole("/read", key),
    }),
  },
  {
    name: "bodies of 1 MiB, pipelined",
    attack: (key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: 64,
      times: part(20, small),
      request: whole("/read", key),
    }),
  },
  {
    // Values that nobody asked for, as many as a body may have.
    name: "bodies full of values",
    attack: (key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: part(500, small),
      request: whole("/read", key, bodyOf(`,"junk":[${"[],".repeat(4_900)}1]`)),
    }),
  },
  {
    name: "bodies byte by byte",
    attack: (key, small) => {
      const inBytes = [...bodyOf("").slice(0, MIB / 4)].map((byte) => `1\r\n${byte}\r\n`).join("");
      const request = `${head("/read", key)}Transfer-Encoding: chunked\r\n\r\n${inBytes}`;
      return { ...one, holdMs: holdMs(small), connections: part(100, small), request };
    },
  },
  {
    // Each takes long enough to be ended for it.
    name: "slow bodies",
    attack: (key, small) => ({
      ...one,
      holdMs: small ? 200 : 15_000,
      connections: part(400, small),
      request: `${head("/read", key)}Content-Length: ${MIB}\r\n\r\n{`,
      dripMs: 200,
    }),
  },
  {
    name: "demo bodies, 20 addresses",
    attack: (_key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: part(500, small),
      addresses: 20,
      request: whole("/demo/read", undefined),
    }),
  },
  {
    name: "50 × 1,900 requests",
    attack: (_key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: 50,
      times: part(1_900, small),
      request: TINY,
    }),
  },
  {
    name: "50 × 1,900 requests, hung up",
    attack: (_key, small) => ({
      ...one,
      holdMs: 200,
      connections: 50,
      times: part(1_900, small),
      request: TINY,
    }),
  },
  {
    name: "500 × 10,000 short requests",
    attack: (_key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: part(500, small),
      times: part(10_000, small),
      request: "GET / HTTP/1.1\r\n\r\n",
    }),
  },
  {
    // 10 MB each, held until all of them have been made.
    name: "unread answers: 40 exports",
    fill: (core, small) => fillPlaces(core, small ? 20 : 240, (i) => `project-${String(i).padStart(4, "0")}`),
    attack: (key, small) => ({
      ...one,
      holdMs: small ? 200 : 15_000,
      connections: 40,
      request: `GET /users/export?user_id=heavy HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      reads: false,
    }),
  },
  {
    name: "moves of a project, 4,000 facts",
    reportOnly: true,
    fill: (core, small) => fillPlaces(core, small ? 20 : 240, (i) => `a/worktree-${i}`),
    attack: (key, small) => {
      const move = (from: string, to: string) =>
        whole("/users/move", key, JSON.stringify({ user_id: "heavy", from, to }));
      return { ...one, holdMs: holdMs(small), connections: 1, request: move("a", "b") + move("b", "a") };
    },
  },
  {
    name: "hints",
    fill: async (core) => {
      for (const label of hintLabels())
        await core.store.addLabel(ACCOUNT, {
          description: "A label",
          example: "",
          oneOf: null,
          maxBytes: null,
          ttlS: null,
          scope: null,
          hidden: false,
          label,
          createdAtMs: Date.now(),
        });
    },
    attack: (key, small) => ({
      ...one,
      holdMs: holdMs(small),
      connections: 4,
      times: part(500, small),
      request: hintRequest(key),
    }),
  },
];

const VALUE = "v".repeat(1_000);

/** Gives a user as many places with 40 facts each. */
async function fillPlaces(core: Core, count: number, nameOf: (i: number) => string): Promise<void> {
  const nowMs = Date.now();
  for (let i = 0; i < count; i++) {
    const place = nameOf(i);
    const changes = LABELS.map((label, number) => ({
      place,
      label,
      value: `${i} ${number} ${VALUE}`,
      updatedAtMs: nowMs,
      expiresAtMs: null,
    }));
    const outcome = await core.store.write({
      account: ACCOUNT,
      userId: "heavy",
      changes,
      places: [place],
      nowMs,
    });
    if (outcome.outcome !== "stored") throw new Error(`the facts of ${place} were not stored`);
  }
}
