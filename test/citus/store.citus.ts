/** The store passes the conformance suite on a Citus cluster, with nodes on the coordinator and on workers. */

import { keyRequestConformance } from "../conformance/key-requests.ts";
import { storeConformance } from "../conformance/store.ts";
import { storeAnswersConformance } from "../conformance/store-answers.ts";
import { storeCountsConformance } from "../conformance/store-counts.ts";
import { storeLifeConformance } from "../conformance/store-life.ts";
import { storePlacesConformance } from "../conformance/store-places.ts";
import { openNewStore } from "../postgres/server.ts";

storeConformance("citus", openNewStore);
storeAnswersConformance("citus", openNewStore);
storeCountsConformance("citus", openNewStore);
storeLifeConformance("citus", openNewStore);
storePlacesConformance("citus", openNewStore);
keyRequestConformance("citus", openNewStore);
