/** Faults in the HTTP layer: the way of a request, who may call, and what leaves the service. */

import type { Mutant } from "./mutant.ts";

export const HTTP_MUTANTS: readonly Mutant[] = [
  {
    name: "internal-error-told",
    fault: "The text of an internal error reaches the client.",
    file: "src/http/request/problem.ts",
    find: '"Something went wrong inside the service."',
    replace: "(error as Error).message",
    tests: ["test/http/failures.test.ts"],
    only: "internal error",
  },
  {
    name: "ready-with-store-away",
    fault: "/readyz answers 200 although the store cannot be written to.",
    file: "src/http/routes/public.ts",
    find: "await this.#probe.result.catch((error: unknown) => {",
    replace: "await this.#probe.result.catch((error: unknown) => {\n      if (error) return;",
    tests: ["test/http/failures.test.ts"],
    only: "not ready",
  },
  {
    name: "encode-tried-twice",
    fault: "A write whose outcome is not known is tried again.",
    file: "src/http/routes/facts.ts",
    find: "encodeFacts(call.memory, call.caller, { ...input, ...writerOf(call) });",
    replace:
      "{ const write = () => encodeFacts(call.memory, call.caller, { ...input, ...writerOf(call) });\n    return write().catch(write); };",
    tests: ["test/http/failures.test.ts"],
    only: "writes once",
  },
  {
    name: "admin-token-compared-plainly",
    fault: "The time of a comparison tells how much of an admin token is right.",
    file: "src/http/access/console-session.ts",
    find: "return timingSafeEqual(digest(given), digest(expected));",
    replace: "return digest(given).equals(digest(expected));",
    tests: ["test/tidy/tidy.test.ts"],
    only: "secret comparison",
  },
  {
    name: "body-read-before-key",
    fault: "The body of a stranger is parsed before its key is checked.",
    file: "src/http/request/dispatcher.ts",
    find: `    return andThen(this.#options.access[route.access](call), () => {
      // The website's pages take links with whatever others have added to them.
      if (route.access !== "page") raiseQueryFault(call.query);
      return andThen(this.#bodyOf(call, route), (body) => {`,
    replace: `    return andThen(this.#bodyOf(call, route), (body) => {
      return andThen(this.#options.access[route.access](call), () => {`,
    tests: ["test/http/requests.test.ts"],
    only: "a body is taken exactly",
    quick: true,
  },
  {
    name: "operator-on-tcp",
    fault: "The operator's calls are open on the TCP port.",
    file: "src/http/access/access.ts",
    find: "if (!door.admits(call.request)) throw new UnknownAddress(call.routePath);",
    replace: "void [door, call];",
    tests: ["test/http/service.test.ts"],
    only: "operator's calls",
  },
  {
    name: "rate-by-address",
    fault: "The rate of requests is counted for each address instead of each key.",
    file: "src/http/access/access.ts",
    find: "enforce(limits.key, caller.keyId)",
    replace: "enforce(limits.key, call.client.address)",
    tests: ["test/http/service.test.ts"],
    only: "a rate for each key",
  },
  {
    name: "key-in-log",
    fault: "A key that came in the query is in the log.",
    file: "src/http/request/request-metrics.ts",
    find: "route: call.routePath,",
    replace: "route: call.request.url,",
    tests: ["test/http/keys.test.ts"],
    only: "never appear in logs",
  },
  {
    name: "value-in-log",
    fault: "The value of a fact is in the log.",
    file: "src/http/request/request-metrics.ts",
    find: "request_id: call.id,",
    replace: "request_id: call.id,\n      body: call.body,",
    tests: ["test/http/keys.test.ts"],
    only: "never appear in logs",
  },
  {
    name: "streams-end-with-a-hiccup",
    fault: "All streams end when the store does not answer once.",
    file: "src/memory/live-callers.ts",
    find: "// In the next round again.",
    replace: "watched.untilMs = Number.NEGATIVE_INFINITY;",
    tests: ["test/unit/memory/live-callers.test.ts"],
    only: "store is away",
  },
  {
    name: "right-token-beyond-limit",
    fault: "Who guesses admin tokens beyond the limit is told when one is right.",
    file: "src/http/access/access.ts",
    find: "  if (waitS > 0) throw tooMany(waitS);\n  const operator = await operators.withHash(hashOfToken(token));\n  if (operator !== undefined) return operator;",
    replace:
      "  const operator = await operators.withHash(hashOfToken(token));\n  if (operator !== undefined) return operator;\n  if (waitS > 0) throw tooMany(waitS);",
    tests: ["test/http/console-session.test.ts"],
    only: "after ten wrong tokens",
  },
  {
    name: "body-room-left-early",
    fault: "The room of a body is free before its request is answered.",
    file: "src/http/request/dispatcher.ts",
    find: "check(route.params, call.params,",
    replace: "call.bodyHolding?.giveBack();\n        check(route.params, call.params,",
    tests: ["test/http/connections.test.ts"],
    only: "until its request is answered",
  },
];
