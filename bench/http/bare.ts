/** The reference of the HTTP benchmark: Fastify with one route for each answer size, returning a constant. */

import { fastify } from "fastify";

process.on("disconnect", () => process.exit());
process.on("message", async ({ sizes }: { sizes: number[] }) => {
  const app = fastify();
  for (const size of sizes) {
    const constant = JSON.stringify({ filler: "x".repeat(Math.max(0, size - 13)) });
    app.get(`/bare/${size}`, (_request, reply) => reply.type("application/json").send(constant));
  }
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  process.send?.({ port: typeof address === "object" && address !== null ? address.port : 0 });
});
