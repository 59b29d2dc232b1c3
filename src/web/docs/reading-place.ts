/** "On this page": the section that is being read is marked, and on a phone the list closes when one of its links is used. */

/** A heading counts as reached a little before it is at the top of the window. */
const REACHED_PX = 120;

export function followReading(root: Document): void {
  const list = root.getElementById("on-page");
  if (list === null) return;
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a")];
  const headings = links.map((link) => root.getElementById(decodeURIComponent(link.hash.slice(1)))!);
  const mark = () => {
    const reached = headings.filter((heading) => heading.getBoundingClientRect().top < REACHED_PX).length;
    const atEnd = innerHeight + scrollY >= root.documentElement.scrollHeight - 2;
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
