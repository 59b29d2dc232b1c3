/** The search field of the docs. It loads the index (SEARCH_INDEX_URL, set by the build) when it is used first. */

import { findSections, type SearchEntry } from "./search.ts";

declare const SEARCH_INDEX_URL: string;

let loading: Promise<readonly SearchEntry[]> | undefined;

async function loadIndex(): Promise<readonly SearchEntry[]> {
  const response = await fetch(SEARCH_INDEX_URL);
  if (!response.ok) throw new Error(`the search index: ${response.status}`);
  return response.json();
}

/** Puts the field and its list of results into an element. "/" moves the focus to it. */
export function addSearchBox(place: HTMLElement): void {
  place.innerHTML = `<form role="search"><label class="field"><span class="visually-hidden">Search the docs</span>
<input type="search" placeholder="Search the docs" autocomplete="off"></label></form>
<p class="hint" role="status" hidden></p><ol class="hits" hidden></ol>`;
  const input = place.querySelector("input")!;
  const status = place.querySelector<HTMLElement>(".hint")!;
  const list = place.querySelector("ol")!;

  const show = async () => {
    const query = input.value;
    try {
      loading ??= loadIndex();
      const { total, hits } = findSections(await loading, query);
      if (query !== input.value) return;
      list.replaceChildren(...hits.map(({ entry, excerpt }) => itemOf(entry, excerpt)));
      list.hidden = hits.length === 0;
      status.hidden = query.trim() === "";
      status.textContent = countText(total, hits.length);
    } catch {
      loading = undefined;
      status.hidden = false;
      status.textContent = "The search index cannot be loaded. Try again in a moment.";
    }
  };
  input.addEventListener("input", show);
  place.querySelector("form")!.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
  });
}

function countText(total: number, shown: number): string {
  if (total === 0) return "Nothing found.";
  if (total > shown) return `The best ${shown} of ${total} sections`;
  return total === 1 ? "1 section found" : `${total} sections found`;
}

function itemOf({ address, page, title }: SearchEntry, excerpt: string): HTMLLIElement {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = title === page ? page : `${page}: ${title}`;
  const text = document.createElement("small");
  text.textContent = excerpt;
  const item = document.createElement("li");
  item.append(link, text);
  return item;
}
