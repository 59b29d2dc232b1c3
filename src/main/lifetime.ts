/** How long a process goes on: until a signal, or until nobody has used it for a while. */

const IDLE_CHECKS = 20;

/** Signals are heard for ever: a second one must not cut the orderly end short. */
export function waitForSignal(): Promise<"signal"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve("signal"));
  });
}

/** It keeps no process: what is served does. */
export function waitForIdle(used: { readonly idleMs: number }, idleMs: number): Promise<"idle"> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (used.idleMs < idleMs) return;
      clearInterval(timer);
      resolve("idle");
    }, idleMs / IDLE_CHECKS).unref();
  });
}
