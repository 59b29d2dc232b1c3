/**
 * The built command, loaded once and called many times: a message is one call, and the answer is what a process of its own
 * would have printed and its exit status. A call has ended when nothing is open that would keep such a process running.
 */

const OPEN_MS_MAX = 60_000;
/** Kinds of resources that are about to end by themselves. */
const TEMPORARY_FOLDER = ["CloseReq", "Immediate", "TickObject"];
const { main } = await import(new URL("../../dist/bundle/cli/main.js", import.meta.url).href);

// Whoever called is gone.
process.on("disconnect", () => process.exit());
let calls = Promise.resolve();
process.on("message", (call) => {
  calls = calls.then(async () => process.send(await run(call)));
});

async function run({ args, env, cwd }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  const printed = { out: "", err: "" };
  const streams = { out: process.stdout, err: process.stderr };
  for (const [name, stream] of Object.entries(streams)) {
    // The writer of a stream is told when its text was written; the last argument may be what tells it.
    stream.write = (text, ...more) => {
      printed[name] += text;
      const told = more.at(-1);
      if (typeof told === "function") setImmediate(told);
      return true;
    };
  }
  const open = openNow();
  try {
    const status = await main(args);
    await untilOpen(open);
    return { status, ...printed };
  } catch (error) {
    return { status: -1, ...printed, err: `${printed.err}${error.stack}` };
  } finally {
    for (const stream of Object.values(streams)) delete stream.write;
  }
}

async function untilOpen(wanted) {
  const endMs = performance.now() + OPEN_MS_MAX;
  while (openNow() !== wanted) {
    if (performance.now() > endMs) throw new Error(`still open: ${openNow()}; before it was ${wanted}`);
    await new Promise((resolve) => setTimeout(resolve, 2).unref());
  }
}

/** What keeps this process running: the channel of the messages, and what a command opens. */
function openNow() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !TEMPORARY_FOLDER.includes(name))
    .sort()
    .join(" ");
}
