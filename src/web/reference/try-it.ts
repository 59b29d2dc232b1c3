/**
 * "Try it" on the API reference: sends the shown request to this service, with changes, and shows the answer. Calls of
 * the demo need nothing; the others use the key typed at the top of the page, which stays in the page's memory.
 */

const ANSWER_LENGTH_MAX = 20_000;

export function addTryForms(root: ParentNode): void {
  const key = addKeyField(root.querySelector<HTMLElement>("#try-key")!);
  for (const place of root.querySelectorAll<HTMLElement>(".try")) {
    const open = element("button", { type: "button", className: "small", textContent: "Try it" });
    open.addEventListener("click", () => place.replaceChildren(formOf(place, key)));
    place.append(open);
  }
}

function addKeyField(place: HTMLElement): HTMLInputElement {
  place.innerHTML = `<details class="card"><summary>Try the calls with your key</summary><label class="field">
<span>API key. It stays in this page's memory and goes only to this service.</span>
<input type="password" autocomplete="off" spellcheck="false" placeholder="sb_live_…"></label>
<p class="hint">The calls under Demo and Service need no key.</p></details>`;
  return place.querySelector("input")!;
}

function formOf({ dataset }: HTMLElement, key: HTMLInputElement): HTMLFormElement {
  const { method = "GET", address = "/", body = "" } = dataset;
  const form = element("form", { className: "stack" });
  const where = element("input", { value: address, required: true, spellcheck: false });
  form.append(labelled(`${method}, the path and the query`, where));
  const json = element("textarea", {
    className: "mono",
    value: body,
    rows: Math.min(10, body.split("\n").length + 1),
    spellcheck: false,
  });
  if (body !== "") form.append(labelled("Body", json));
  const send = element("button", { type: "submit", className: "primary", textContent: "Send" });
  const output = element("pre", { hidden: true, tabIndex: 0 });
  output.setAttribute("role", "status");
  form.append(send, output);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    if (dataset.key === "true" && key.value.trim() === "") {
      output.textContent = "This call needs a key: type it in at the top of the page.";
      key.closest("details")!.open = true;
      key.focus();
      return;
    }
    // Only to this service: whatever is typed is a path.
    if (!/^\/(?!\/)/.test(where.value)) {
      output.textContent = "The path begins with one slash.";
      return;
    }
    send.disabled = true;
    output.textContent = "Sending …";
    output.textContent = await answerTo(method, where.value, {
      ...(dataset.key === "true" ? { key: key.value.trim() } : {}),
      ...(body === "" ? {} : { body: json.value }),
    });
    send.disabled = false;
  });
  return form;
}

async function answerTo(
  method: string,
  path: string,
  { key, body }: { key?: string; body?: string },
): Promise<string> {
  try {
    const response = await fetch(path, {
      method,
      credentials: "omit",
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return `${response.status} ${response.statusText}\n${pretty(text).slice(0, ANSWER_LENGTH_MAX)}`;
  } catch {
    return "The server cannot be reached. Try again in a moment.";
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  const label = element("label", { className: "field" });
  label.append(element("span", { textContent: text }), control);
  return label;
}

function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  properties: Partial<HTMLElementTagNameMap[T]>,
): HTMLElementTagNameMap[T] {
  return Object.assign(document.createElement(tag), properties);
}
