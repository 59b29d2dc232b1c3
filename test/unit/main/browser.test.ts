/** What opens the memory page on each platform. Of these only the desktop's own is run here. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openerOf } from "../../../src/main/open-page.ts";

test("each platform opens the page by its own command, and Windows a path with spaces and & as one", () => {
  assert.deepEqual(openerOf("/tmp/a b/open.html", "linux"), {
    command: "xdg-open",
    args: ["/tmp/a b/open.html"],
  });
  assert.deepEqual(openerOf("/tmp/a b/open.html", "darwin"), {
    command: "open",
    args: ["/tmp/a b/open.html"],
  });
  const { command, args, options } = openerOf("C:\\Users\\R & D\\open.html", "win32");
  // cmd.exe with /s takes the outer quotes away, and runs what is between them.
  assert.equal([command, ...args].join(" "), 'cmd.exe /d /s /c "start "" "C:\\Users\\R & D\\open.html""');
  assert.equal(options?.windowsVerbatimArguments, true);
  assert.notEqual(options?.cwd ?? process.cwd(), process.cwd());
});
