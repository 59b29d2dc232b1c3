/** What can be scrolled sideways, and the widths of the phones on which nothing may be. */

import type { Page } from "playwright-core";
import { PHONE } from "./visit.ts";

/** Of common phones: the narrowest, and the usual one. */
export const PHONE_WIDTHS = [PHONE.width, 390];

/**
 * The page, and on a phone its tables. Code scrolls in its own frame. What watches its own size, as a chart does, takes
 * its new one within a frame.
 */
export function sidewaysScrollers(page: Page, withTables: boolean): Promise<string[]> {
  return page.evaluate(
    async (selector) => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const elements = [...document.querySelectorAll(selector)];
      return elements
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(
          ({ localName, ariaLabel, scrollWidth, clientWidth }) =>
            `${localName} ${ariaLabel ?? ""} ${scrollWidth} > ${clientWidth}`,
        );
    },
    `:root${withTables ? ", .scroll" : ""}`,
  );
}
