/** A process that makes one call on a whole user, tells when it begins, and waits to be killed. */

import { openNodes, type StoreName } from "./stores.ts";
import { callWhole, type WholeCall } from "./whole-kills.ts";

const [store, at, call, facts] = process.argv.slice(2);
const nodes = await openNodes(store as StoreName, at);
process.send?.("begun");
await callWhole(nodes, call as WholeCall, Number(facts));
// It waits for its end, and does not outlive who is to kill it.
process.on("disconnect", () => process.exit());
