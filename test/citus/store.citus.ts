/** The store passes the conformance suite on a Citus cluster, with nodes on the coordinator and on workers. */

import { keyRequestConformance } from "../conformance/key-requests.ts";
import { type StoreUnderTest, storeConformance } from "../conformance/store.ts";
import { storeCountsConformance } from "../conformance/store-counts.ts";
import { newDatabase, openStore } from "../postgres/server.ts";

async function openNew(): Promise<StoreUnderTest> {
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
}

storeConformance("citus", openNew);
storeCountsConformance("citus", openNew);
keyRequestConformance("citus", openNew);
