/** The PostgreSQL store passes the conformance suite, each test on a database of its own. */

import { storeConformance } from "../../conformance/store.ts";
import { newDatabase, openStore } from "../../postgres/server.ts";

storeConformance("postgres", async () => {
  const url = await newDatabase();
  let store = await openStore(url);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openStore(url);
      return store;
    },
    second: () => openStore(url),
    end: () => store.close(),
  };
});
