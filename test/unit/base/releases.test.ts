/** The order of releases. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isOlderRelease } from "../../../src/base/releases.ts";

test("releases are ordered as semantic versioning orders them", () => {
  // The order in its section 11.
  const versions = [
    ...["0.1.0", "0.2.0", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta"],
    ...["1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "2.0.0"],
  ];
  for (const [i, a] of versions.entries()) {
    for (const [j, b] of versions.entries()) assert.equal(isOlderRelease(a, b), i < j, `${a} ${b}`);
  }
  assert.ok(!isOlderRelease("1.0.0+one", "1.0.0+two"));
});
