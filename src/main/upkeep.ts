/**
 * Periodic work of a service: notes which keys were used, looks at the clock, sweeps what has expired, facts at the moment at
 * which they do, compacts the embedded store some time after something was forgotten, and makes the scheduled backups. A
 * compaction or a backup that failed, on a full disk for example, is tried again after twice as many rounds as before, up to
 * about an hour.
 */

import type { Logger } from "pino";
import { clockFault } from "../base/clock.ts";
import type { Config } from "../config.ts";
import { backupSchedule } from "./backup-schedule.ts";
import type { Core } from "./core.ts";

const TOUCH_INTERVAL_MS = 10_000;
const UPKEEP_INTERVAL_MS = 30_000;
const PAUSE_ROUNDS_MAX = 128;

/** @returns ends it */
export function startUpkeep(core: Core, config: Config, log: Logger): () => void {
  const complain = (what: string) => (error: unknown) =>
    log.warn({ err: error }, `${what} failed, and is tried again by itself: err says why`);
  const lookAtClock = clockWatch(core, log);
  lookAtClock();
  const touching = setInterval(() => {
    lookAtClock();
    core.store.touchKeys(core.authentication.takeUses()).catch(complain("noting the use of keys"));
  }, TOUCH_INTERVAL_MS);
  const compact = retrying(async () => {
    log.info(await core.embedded?.compact(), "compacted");
  });
  const compactIfDue = async () => {
    const since = core.embedded?.forgottenSinceMs();
    if (config.compactAfterS === 0 || since === undefined) return;
    const agoMs = core.memory.clock.now() - since;
    // A time in the future was noted by a wrong clock: how long ago it was, nobody knows.
    if (agoMs >= 0 && agoMs < config.compactAfterS * 1000) return;
    await compact();
  };
  const schedule = backupSchedule(core, config, log);
  const backUp = retrying(async () => schedule?.run());
  let running = false;
  const upkeep = setInterval(
    async () => {
      // A long compaction takes more than one interval.
      if (running) return;
      running = true;
      await core.store.sweep(core.clock.settledMs()).catch(complain("sweeping"));
      await compactIfDue().catch(complain("compacting"));
      await backUp().catch(complain("the scheduled backup"));
      running = false;
    },
    Math.min(UPKEEP_INTERVAL_MS, Math.max(1, config.compactAfterS) * 1000),
  );
  const stopEnding = core.ends.start(async () => {
    const ended = await core.store.endFacts(core.clock.settledMs());
    return { count: ended.length, nextMs: await core.store.nextEndMs() };
  });
  return () => {
    clearInterval(touching);
    clearInterval(upkeep);
    stopEnding();
  };
}

/** Logs that the machine's clock is wrong, once for each change of what that means. */
function clockWatch({ clock }: Pick<Core, "clock">, log: Logger): () => void {
  let known: boolean | undefined;
  return () => {
    const fault = clockFault(clock);
    if (fault?.stops === known) return;
    known = fault?.stops;
    if (fault === undefined) log.info("This node's clock agrees with the database's again.");
    else log[fault.stops ? "error" : "warn"]({ clockAheadMs: clock.aheadMs }, fault.line);
  };
}

/** Work that is called in rounds; after a failure it pauses for some of them. */
function retrying(work: () => Promise<void>): () => Promise<void> {
  let pauseRounds = 1;
  let roundsLeft = 0;
  return async () => {
    if (roundsLeft > 0) {
      roundsLeft -= 1;
      return;
    }
    try {
      await work();
      pauseRounds = 1;
    } catch (error) {
      roundsLeft = pauseRounds;
      pauseRounds = Math.min(2 * pauseRounds, PAUSE_ROUNDS_MAX);
      throw error;
    }
  };
}
