/** The script of the guides: search, copy buttons, the choice of language. The pages read without it. */

import { addCopyButtons, joinLanguageChoices } from "../docs/code-blocks.ts";
import { addSearchBox } from "../docs/search-box.ts";

addSearchBox(document.getElementById("search")!);
addCopyButtons(document.querySelector("article")!);
joinLanguageChoices(document);
