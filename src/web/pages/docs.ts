/**
 * The script of the docs: search, copy buttons, the choice of language, and "On this page", where the section that is being
 * read is marked, and which closes on a phone when one of its links is used. The pages can be read without it.
 */

import { addCopyButtons, syncLanguageTabs } from "../docs/code-blocks.ts";
import { addSearchBox } from "../docs/search-box.ts";

/** A heading counts as reached a little before it is at the top of the window. */
const REACHED_PX = 120;

addSearchBox(document.getElementById("search")!);
addCopyButtons(document.querySelector("article")!);
syncLanguageTabs(document);
markReadSection();

// On a wide screen the sidebar scrolls on its own: it is scrolled to the entry of this page.
const side = document.querySelector(".side");
const current = side?.querySelector<HTMLElement>("[aria-current]");
if (side && current) side.scrollTop = current.offsetTop - side.clientHeight / 2;

function markReadSection(): void {
  const list = document.getElementById("on-page");
  if (list === null) return;
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a")];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1)))!);
  const mark = () => {
    const reached = headings.filter((heading) => heading.getBoundingClientRect().top < REACHED_PX).length;
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const here = atEnd ? links.length - 1 : reached - 1;
    for (const [i, link] of links.entries()) {
      if (i === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  let asked = false;
  addEventListener(
    "scroll",
    () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
  list.addEventListener("click", ({ target }) => {
    if (target instanceof HTMLAnchorElement && list.matches(":popover-open")) list.hidePopover();
  });
}
