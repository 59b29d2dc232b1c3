/** Faults in what connections cost: room for bodies and answers, turns, and when nobody is there any more. */

import type { Mutant } from "./mutant.ts";

export const HTTP_CONNECTION_MUTANTS: readonly Mutant[] = [
  {
    name: "body-without-room",
    fault: "Bodies are read however many are in flight.",
    file: "src/http/request/body.ts",
    find: "holding.take(grown - capacity);",
    replace: "",
    tests: ["test/http/connections.test.ts"],
    only: "bodies have bounded room",
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
  {
    name: "answer-without-budget",
    fault: "Long answers are written however many of them nobody reads.",
    file: "src/http/request/dispatcher.ts",
    find: "call.holdAnswer(answers, Buffer.byteLength(body));",
    replace: "",
    tests: ["test/unit/http/dispatcher-connections.test.ts"],
    only: "not read have a bounded part",
  },
  {
    name: "slow-body-waited-for",
    fault: "A body may come as slowly as its sender likes.",
    file: "src/http/request/body.ts",
    find: "if (isSlow) refuse(",
    replace: "if (isSlow && slowMs < 0) refuse(",
    tests: ["test/unit/http/body.test.ts"],
    only: "slower than 1 KiB a second",
  },
  {
    name: "turn-of-a-lost-connection",
    fault: "A request begins for a connection that was lost since it got its turn.",
    file: "src/http/request/turns.ts",
    find: "if (!socket.destroyed) handle(request, response);",
    replace: "handle(request, response);",
    tests: ["test/unit/http/turns.test.ts"],
    only: "lost between its turn",
  },
  {
    name: "busy-door-idle",
    fault: "An owner ends in the middle of a long answer.",
    file: "src/http/access/door.ts",
    find: "return this.#answering > 0 ? 0 : performance",
    replace: "return performance",
    tests: ["test/unit/http/door.test.ts"],
    only: "beside an answer",
  },
  {
    name: "stream-as-use",
    fault: "A page that only listens keeps its command running.",
    file: "src/main/local-page.ts",
    find: "if (path !== EVENTS_PATH) this.#lastMs",
    replace: "if (path !== `${EVENTS_PATH}/`) this.#lastMs",
    tests: ["test/unit/main/local-page.test.ts"],
  },
];
