/** The script of a call's page: what the guides have, and the form that sends the call. */

import "./docs.ts";
import { addTryForm } from "../reference/try-it.ts";

addTryForm(document);
