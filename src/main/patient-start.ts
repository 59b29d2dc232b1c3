/**
 * The start of a node whose database is away: it waits and tries again, with a line in the log for each attempt. Meanwhile
 * its port answers that the process runs and is not ready. A signal ends the wait at once.
 */

import { setTimeout as pause } from "node:timers/promises";
import { WaitingServer } from "../http/waiting-server.ts";
import { openCore } from "./core.ts";
import { DatabaseAwayError, toldToOperator } from "./database-errors.ts";
import { listen } from "./service.ts";

const DELAY_MIN_S = 1;
const DELAY_MAX_S = 5;

/** A signal came before the database did. */
export class StartEndedError extends Error {
  override name = "StartEndedError";
}

/** @param signal resolves when the process is to end */
export function patientOpen(signal: Promise<void>): typeof openCore {
  return async (config, options) => {
    const ended = signal.then((): never => {
      throw new StartEndedError();
    });
    let waiting: WaitingServer | undefined;
    try {
      for (let delayS = DELAY_MIN_S; ; delayS = Math.min(2 * delayS, DELAY_MAX_S)) {
        try {
          return await Promise.race([openCore(config, options), ended]);
        } catch (error) {
          const told = toldToOperator(error);
          if (!(told instanceof DatabaseAwayError)) throw told;
          options.warn?.(`${told.message}; trying again in ${delayS} s`);
        }
        if (waiting === undefined) {
          waiting = new WaitingServer();
          await listen(waiting, config);
        }
        await Promise.race([pause(delayS * 1000), ended]);
      }
    } finally {
      await waiting?.close();
    }
  };
}
