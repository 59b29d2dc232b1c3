/**
 * The command of the soak: npm run test:soak -- MINUTES [OPERATIONS A SECOND] [SEED]. It prints the gauges of the
 * service after 2, 10 and 20 minutes and at the end, and the times of each operation. The exit status is 1 if an answer
 * was wrong, or if memory or descriptors have grown.
 */

import { growthFault } from "../load/growth.ts";
import { mebibytes, quantile, table } from "../load/tables.ts";
import { type SoakReport, soak } from "./soak.ts";

const COMPACT_EVERY_MS = 120_000;
const SCRAPE_EVERY_MS = 5_000;
const MARKS = [2, 10, 20];
const USERS = 300;
function reportText(report: SoakReport): string {
  const gauges = table(
    ["minutes", "resident MiB", "heap MiB", "descriptors", "data MiB"],
    report.marks.map(({ minutes, residentBytes, heapBytes, descriptors, dataBytes }) => [
      String(minutes),
      mebibytes(residentBytes),
      mebibytes(heapBytes),
      descriptors,
      mebibytes(dataBytes),
    ]),
  );
  const times = table(
    ["operation", "answers", "median ms", "99 % ms", "longest ms"],
    [...report.times]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, ms]) => [name, ms.length, quantile(ms, 0.5), quantile(ms, 0.99), ms.at(-1) ?? 0]),
  );
  const delayS = report.marks.at(-1)?.loopDelayMaxS ?? 0;
  const compactions = report.compactionsMs.map((ms) => Math.round(ms)).join(", ");
  return [
    gauges,
    times,
    `${report.operations} operations, ${report.cuts} cut off, ${report.refusals} refused as overloaded, ${report.late} not begun as too many ran`,
    `compactions took ${compactions} ms; the longest delay of the event loop was ${delayS.toFixed(3)} s`,
  ].join("\n\n");
}

const [minutes = "25", rate = "40", seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
if (![minutes, rate, seed].every((text) => Number(text) > 0)) {
  console.error("npm run test:soak -- MINUTES [OPERATIONS A SECOND] [SEED]: numbers above 0");
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
console.log(`a soak of ${minutes} minutes, ${rate} operations a second, seed ${seed}`);
const report = await soak({
  minutes: Number(minutes),
  rate: Number(rate),
  seed: Number(seed),
  users: USERS,
  compactEveryMs: COMPACT_EVERY_MS,
  scrapeEveryMs: SCRAPE_EVERY_MS,
  marks: MARKS,
  print: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
console.log(`\n${reportText(report)}\n`);
const fault = report.fault ?? growthFault(report.marks);
console.log(fault === undefined ? "no fault" : `a fault (seed ${seed}): ${fault}`);
process.exitCode = fault === undefined ? 0 : 1;
