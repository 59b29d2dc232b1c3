/**
 * A TCP port of 127.0.0.1 that nothing listens on, and that nothing takes by chance: below the range from which Linux gives
 * other connections and servers their ports.
 */

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

const [FIRST, END] = [20_000, 32_768];

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer();
    const listening = once(server, "listening").then(
      () => true,
      () => false,
    );
    server.listen(port, "127.0.0.1");
    if (!(await listening)) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
