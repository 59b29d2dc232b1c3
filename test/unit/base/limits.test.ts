import assert from "node:assert/strict";
import { test } from "node:test";
import { withThousands } from "../../../src/base/limits.ts";

test("a count is written as toLocaleString writes it", () => {
  for (const count of [0, 7, 999, 1000, 1024, 10_000, 123_456, 1_000_000, 1_002_003, Number.MAX_SAFE_INTEGER])
    assert.equal(withThousands(count), count.toLocaleString("en"));
});
