/**
 * Loaded before node:test: leaves out its hook on every promise, which takes an eighth of a test run. It is there to know
 * which test an error belongs to that nobody has caught; test/time-limit.ts names the tests that run at that moment.
 */

import asyncHooks from "node:async_hooks";

const { createHook } = asyncHooks;

asyncHooks.createHook = () => {
  asyncHooks.createHook = createHook;
  const hook = { enable: () => hook, disable: () => hook };
  return hook;
};
