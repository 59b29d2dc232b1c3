/**
 * "Try it" on the API reference: sends the shown request to this service, with changes, and shows the answer. Calls of
 * the demo need nothing; the others use the key typed into the form, which stays in the page's memory. A call
 * that forgets or revokes is sent by a second press. The block of the sample belongs to another account: it is
 * replaced by the one of the user that the body names.
 */

const ANSWER_LENGTH_MAX = 20_000;
/** Calls that cannot be undone, beside those with DELETE. */
const UNDOES = /^(\/v1)?\/(demo\/reset|admin\/.*\/(revoke|expire|decline))\/?(\?|$)/i;
/** A block as the samples show it. */
const SHORTENED = /\[MEM\][^"[…]*…[^"[]*\[\/MEM\]/;

export function addTryForm(root: ParentNode): void {
  const place = root.querySelector<HTMLElement>(".try");
  if (place === null) return;
  const open = element("button", { type: "button", textContent: "Try it" });
  open.addEventListener("click", () => {
    const form = formOf(place);
    place.replaceChildren(element("h2", { textContent: "Try it" }), form);
    form.querySelector("input")!.focus();
  });
  place.append(open);
}

function formOf({ dataset }: HTMLElement): HTMLFormElement {
  const { method = "GET", address = "/", body = "", block = "", user = "" } = dataset;
  const needsKey = dataset.key === "true";
  const form = element("form", { className: "stack" });
  const key = element("input", { type: "password", autocomplete: "off", spellcheck: false });
  key.placeholder = "sb_live_…";
  if (needsKey)
    form.append(labelled("API key. It stays in this page's memory and goes only to this service.", key));
  const where = element("input", { value: address, required: true, spellcheck: false });
  form.append(labelled(`${method}, the path and the query`, where));
  const json = element("textarea", {
    className: "mono",
    value: body,
    rows: Math.min(10, body.split("\n").length + 1),
    spellcheck: false,
  });
  if (body !== "") form.append(labelled("Body", json));
  if (user !== "")
    form.append(element("p", { className: "hint", textContent: `The user ${user} is there for trying.` }));
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
  /** Why it is not sent. */
  const refusal = () => {
    if (needsKey && key.value.trim() === "") {
      key.focus();
      return "This call needs a key: type it in above.";
    }
    if (!isPath(where.value)) return "The path begins with one slash.";
    const question = `${method} ${where.value}`;
    if ((method !== "DELETE" && !UNDOES.test(where.value)) || asked === question) return undefined;
    send.focus();
    ask(question);
    return `Not sent yet: ${question} cannot be undone. Press Confirm to send it.`;
  };
  send.addEventListener("blur", () => ask(""));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.hidden = false;
    const refused = refusal();
    output.textContent = refused ?? "Sending …";
    if (refused !== undefined) return;
    ask("");
    send.disabled = true;
    const access = needsKey ? { key: key.value.trim() } : {};
    const shown = body === "" ? undefined : json;
    output.textContent = await answerText({ method, path: where.value, access, json: shown, block });
    send.disabled = false;
  });
  return form;
}

interface TriedCall {
  readonly method: string;
  readonly path: string;
  readonly access: { readonly key?: string };
  readonly json: HTMLTextAreaElement | undefined;
  /** Where the block of the body comes from; "" for a body without one. */
  readonly block: string;
}

/** What is shown of a call that was sent. */
async function answerText({ method, path, access, json, block }: TriedCall): Promise<string> {
  if (json !== undefined && block !== "" && SHORTENED.test(json.value)) {
    const { text } = await answerTo("GET", blockAddress(block, path, json.value), access);
    const own = formFields(text).fdm_block;
    if (own === "") return "There are no facts yet, so there is no block to read. Write one first.";
    // Without an answer the call itself is sent, and says what is wrong.
    if (typeof own === "string") json.value = json.value.replace(SHORTENED, () => own);
  }
  const sent = json === undefined ? access : { ...access, body: json.value };
  const { head, text } = await answerTo(method, path, sent);
  return `${head}\n${pretty(text).slice(0, ANSWER_LENGTH_MAX)}`;
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
