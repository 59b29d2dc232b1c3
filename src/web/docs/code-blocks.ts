/** Copy buttons on code, and one choice of language for all samples of a page. */

export function addCopyButtons(root: ParentNode): void {
  for (const block of root.querySelectorAll("pre:not(.diagram)")) {
    const frame = document.createElement("div");
    frame.className = "code";
    block.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the code");
    button.addEventListener("click", () => copy(block.textContent ?? "", button));
    frame.append(block, button);
  }
}

async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without a secure context or permission there is no clipboard: the text can still be selected.
    button.textContent = "Select and copy";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
}

/** A language that is chosen in one place is chosen everywhere where it is offered. */
export function syncLanguageTabs(root: ParentNode): void {
  root.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.closest(".samples") === null) return;
    const before = target.getBoundingClientRect().top;
    for (const other of root.querySelectorAll<HTMLInputElement>(".samples > input")) {
      if (other.value === target.value) other.checked = true;
    }
    // Boxes above may have changed their height: scroll, so that what was under the pointer stays there.
    scrollBy(0, target.getBoundingClientRect().top - before);
  });
}
