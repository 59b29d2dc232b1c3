/** The script of the guides: search, copy buttons, the choice of language. The pages can be read without it. */

import { addCopyButtons, joinLanguageChoices } from "../docs/code-blocks.ts";
import { addSearchBox } from "../docs/search-box.ts";

addSearchBox(document.getElementById("search")!);
addCopyButtons(document.querySelector("article")!);
joinLanguageChoices(document);

// On a wide screen the sidebar scrolls on its own: it is scrolled to the entry of this page.
const side = document.querySelector(".side");
const current = side?.querySelector<HTMLElement>("[aria-current]");
if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2;
