/** The script of the API reference: what the guides have, and forms that send a request. */

import { addCopyButtons, joinLanguageChoices } from "../docs/code-blocks.ts";
import { addSearchBox } from "../docs/search-box.ts";
import { addTryForms } from "../reference/try-it.ts";

addSearchBox(document.getElementById("search")!);
addCopyButtons(document.querySelector("article")!);
joinLanguageChoices(document);
addTryForms(document);
