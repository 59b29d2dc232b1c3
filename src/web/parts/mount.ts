/** Puts a page's moving part into its place, instead of the word that it is loading. */

import { type ComponentChild, render } from "preact";

export function mountPage(part: ComponentChild): void {
  const place = document.getElementById("app")!;
  place.replaceChildren();
  render(part, place);
}
