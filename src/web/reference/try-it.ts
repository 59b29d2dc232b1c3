/**
 * "Try it" on the API reference: sends the shown request to this service, with changes, and shows the answer. Calls of
 * the demo need nothing; the others use the key typed at the top of the page, which stays in the page's memory. A call
 * that forgets or revokes is sent by a second press. The block of the sample belongs to another account: it is
 * replaced by the one of the user that the body names.
 */

const ANSWER_LENGTH_MAX = 20_000;
/** Calls that cannot be undone, beside those with DELETE. */
const UNDOES = /^(\/v1)?\/(demo\/reset|admin\/.*\/(revoke|expire|decline))\/?(\?|$)/i;
/** A block as the samples show it. */
const SHORTENED = /\[MEM\][^"[…]*…[^"[]*\[\/MEM\]/;

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
  const { method = "GET", address = "/", body = "", block = "" } = dataset;
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
  let asked = "";
  const ask = (question: string) => {
    asked = question;
    send.textContent = question === "" ? "Send" : "Confirm";
    send.className = question === "" ? "primary" : "danger asked";
  };
  send.addEventListener("blur", () => ask(""));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    if (dataset.key === "true" && key.value.trim() === "") {
      output.textContent = "This call needs a key: type it in at the top of the page.";
      key.closest("details")!.open = true;
      key.focus();
      return;
    }
    if (!isPath(where.value)) {
      output.textContent = "The path begins with one slash.";
      return;
    }
    const question = `${method} ${where.value}`;
    if ((method === "DELETE" || UNDOES.test(where.value)) && asked !== question) {
      output.textContent = `Not sent yet: ${question} cannot be undone. Press Confirm to send it.`;
      send.focus();
      ask(question);
      return;
    }
    ask("");
    const access = dataset.key === "true" ? { key: key.value.trim() } : {};
    send.disabled = true;
    output.textContent = "Sending …";
    if (block !== "" && SHORTENED.test(json.value)) {
      const { text } = await answerTo("GET", blockAddress(block, where.value, json.value), access);
      const own = formFields(text).fdm_block;
      if (own === "") {
        output.textContent = "There are no facts yet, so there is no block to read. Write one first.";
        send.disabled = false;
        return;
      }
      // Without an answer the call itself is sent, and says what is wrong.
      if (typeof own === "string") json.value = json.value.replace(SHORTENED, () => own);
    }
    const { head, text } = await answerTo(method, where.value, {
      ...access,
      ...(body === "" ? {} : { body: json.value }),
    });
    output.textContent = `${head}\n${pretty(text).slice(0, ANSWER_LENGTH_MAX)}`;
    send.disabled = false;
  });
  return form;
}

/** Only to this service: browsers take "/\\host" and "/<tab>/host" for another one too. */
function isPath(text: string): boolean {
  const url = URL.canParse(text, location.origin) ? new URL(text, location.origin) : undefined;
  return text.startsWith("/") && url?.origin === location.origin;
}

/** Where the block comes from: of the body's user, in the sandbox of the call. */
function blockAddress(source: string, called: string, body: string): string {
  const address = new URL(source, location.origin);
  const { user_id } = formFields(body);
  if (typeof user_id === "string" && address.searchParams.has("user_id"))
    address.searchParams.set("user_id", user_id);
  const sandbox = new URL(called, location.origin).searchParams.get("sandbox");
  if (sandbox !== null) address.searchParams.set("sandbox", sandbox);
  return address.pathname + address.search;
}

async function answerTo(
  method: string,
  path: string,
  { key, body }: { key?: string; body?: string },
): Promise<{ head: string; text: string }> {
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
    return { head: `${response.status} ${response.statusText}`, text: await response.text() };
  } catch {
    return { head: "The server cannot be reached. Try again in a moment.", text: "" };
  }
}

/** The fields of a JSON object; none where the text is something else. */
function formFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
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
