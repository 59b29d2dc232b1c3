/** The script of the docs: search, copy buttons, the choice of language, and where one is. The pages can be read without it. */

import { addCopyButtons, joinLanguageChoices } from "../docs/code-blocks.ts";
import { followReading } from "../docs/reading-place.ts";
import { addSearchBox } from "../docs/search-box.ts";

addSearchBox(document.getElementById("search")!);
addCopyButtons(document.querySelector("article")!);
joinLanguageChoices(document);
followReading(document);

// On a wide screen the sidebar scrolls on its own: it is scrolled to the entry of this page.
const side = document.querySelector(".side");
const current = side?.querySelector<HTMLElement>("[aria-current]");
if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2;
