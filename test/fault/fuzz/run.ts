/**
 * The command of the fuzzer: npm run test:fuzz -- REQUESTS [SEED]. It prints how far it is, and at the end what was sent,
 * what came back, the longest stall, and the memory after a fifth, three fifths and all of it. The exit status is 1
 * after a fault, with a line that names the seed and the request.
 */

import { growthFault } from "../load/growth.ts";
import { mebibytes, table } from "../load/tables.ts";
import { type FuzzReport, fuzz } from "./fuzz.ts";

/** A request that never ends is answered after 15 seconds. */
const PATIENCE_MS = 30_000;
const STALL_MS_MAX = 1_000;
/** A shorter run cannot tell growth from the filling of caches. */
const LONG_REQUESTS = 100_000;

function reportText({ kinds, marks, stall }: FuzzReport): string {
  const counts = table(
    ["kind", "requests"],
    [...kinds].map(([name, { requests }]) => [name, requests]),
  );
  const statuses = [...kinds].map(([name, count]) => {
    const each = [...count.statuses].sort().map(([status, number]) => `${status}: ${number}`);
    return `${name}: ${each.join(", ")}`;
  });
  const gauges = table(
    ["requests", "resident MiB", "heap MiB", "descriptors", "data MiB"],
    marks.map(({ residentBytes, heapBytes, descriptors, dataBytes }, i) => [
      ["a fifth", "three fifths", "all"][i],
      mebibytes(residentBytes),
      mebibytes(heapBytes),
      descriptors,
      mebibytes(dataBytes),
    ]),
  );
  const delayS = marks.at(-1)?.loopDelayMaxS ?? 0;
  return [
    counts,
    statuses.join("\n"),
    gauges,
    `longest /healthz of ${stall.asked}: ${Math.round(stall.longestMs)} ms, ${Math.round(stall.longestOwnMs)} ms without waiting for a processor; longest delay of the event loop: ${delayS.toFixed(3)} s`,
  ].join("\n\n");
}

const [requests = "100000", seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
if (![requests, seed].every((text) => Number.isInteger(Number(text)) && Number(text) > 0)) {
  console.error("npm run test:fuzz -- REQUESTS [SEED]: whole numbers above 0");
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
console.log(`${requests} requests, seed ${seed}`);
const startMs = performance.now();
const report = await fuzz({
  requests: Number(requests),
  seed: Number(seed),
  patienceMs: PATIENCE_MS,
  stallMsMax: STALL_MS_MAX,
  print: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
const minutes = (performance.now() - startMs) / 60_000;
console.log(`\n${reportText(report)}\n\n${report.requests} requests in ${minutes.toFixed(1)} minutes`);
const isLong = report.requests >= LONG_REQUESTS;
const fault = report.fault ?? (isLong ? growthFault(report.marks) : undefined);
console.log(fault === undefined ? "no fault" : `a fault: ${fault}`);
process.exitCode = fault === undefined ? 0 : 1;
