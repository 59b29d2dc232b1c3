/**
 * The search field of the docs. It loads the index (SEARCH_INDEX_URL, set by the build) and the search when it is used
 * first. The answers lie over the page; arrows choose one, Enter follows it, Escape closes them.
 */

import type { DocsSearch, SearchEntry } from "./search.ts";

declare const SEARCH_INDEX_URL: string;

let loading: Promise<DocsSearch> | undefined;

async function loadSearch(): Promise<DocsSearch> {
  const [{ DocsSearch }, response] = await Promise.all([import("./search.ts"), fetch(SEARCH_INDEX_URL)]);
  if (!response.ok) throw new Error(`the search index: ${response.status}`);
  return new DocsSearch(await response.json());
}

/** Puts the field and its list of results into an element. "/" and Ctrl-K move the focus to it. */
export function addSearchBox(place: HTMLElement): void {
  place.innerHTML = `<form role="search"><label class="field"><span class="visually-hidden">Search the docs</span>
<input type="search" placeholder="Search the docs" autocomplete="off"></label><kbd aria-hidden="true">/</kbd></form>
<div class="found" hidden><p class="hint" role="status"></p><ol class="hits"></ol></div>`;
  const input = place.querySelector("input")!;
  const found = place.querySelector<HTMLElement>(".found")!;
  const status = place.querySelector<HTMLElement>(".hint")!;
  const list = place.querySelector("ol")!;

  const show = async () => {
    const query = input.value;
    found.hidden = query.trim() === "";
    if (found.hidden) return;
    if (list.childElementCount === 0) status.textContent = "Searching …";
    try {
      loading ??= loadSearch();
      const { total, hits } = (await loading).find(query);
      if (query !== input.value) return;
      list.replaceChildren(...hits.map(({ entry, excerpt }) => itemOf(entry, excerpt)));
      status.textContent = resultsText(total, hits.length);
    } catch {
      loading = undefined;
      list.replaceChildren();
      status.textContent = "The search index cannot be loaded. Try again in a moment.";
    }
  };
  const close = () => {
    found.hidden = true;
  };
  /** Marks the answer after the present one, or before it. */
  const choose = (step: 1 | -1) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.findIndex((link) => link.classList.contains("chosen"));
    links[at]?.classList.remove("chosen");
    const next = links[(at < 0 && step < 0 ? links.length : at) + step];
    next?.classList.add("chosen");
    next?.scrollIntoView({ block: "nearest" });
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    choose(event.key === "ArrowDown" ? 1 : -1);
  });
  place.querySelector("form")!.addEventListener("submit", (event) => {
    event.preventDefault();
    (list.querySelector<HTMLAnchorElement>("a.chosen") ?? list.querySelector("a"))?.click();
  });
  place.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    close();
    input.focus();
    close();
  });
  place.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && place.contains(relatedTarget))) close();
  });
  // A link to a section of this very page changes nothing else.
  list.addEventListener("click", close);
  // A press on the list must not take the focus away first, or the list would be gone before the click.
  found.addEventListener("mousedown", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, textarea, select");
    const isSlash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey;
    if (!isSlash && !(event.key === "k" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    input.focus();
  });
}

function resultsText(total: number, shown: number): string {
  if (total === 0) return "Nothing found.";
  if (total > shown) return `The best ${shown} of ${total} sections`;
  return total === 1 ? "1 section found" : `${total} sections found`;
}

function itemOf({ address, page, title }: SearchEntry, excerpt: string): HTMLLIElement {
  const link = document.createElement("a");
  link.href = address;
  const name = document.createElement("span");
  name.textContent = title === page ? page : `${page}: ${title}`;
  const text = document.createElement("small");
  text.textContent = excerpt;
  link.append(name, text);
  const item = document.createElement("li");
  item.append(link);
  return item;
}
