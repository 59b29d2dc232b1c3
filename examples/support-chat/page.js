/**
 * The customer's page: it reads and changes the customer's own facts at the service itself, with a token that counts for 15
 * minutes, and hears what changes. The token is in this page's memory alone.
 */

import { isSidebandError, Sideband } from "sideband";

const element = (id) => document.getElementById(id);
const main = document.querySelector("main");

async function post(path, body = {}) {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

const notice = (text) => {
  element("notice").textContent = text;
};

/** Runs until the session ends: with a new token each time that one has ended. */
async function live() {
  for (;;) {
    const access = await post("/access");
    main.hidden = false;
    element("sign-in").hidden = true;
    const memory = new Sideband({ apiKey: access.token, baseUrl: access.baseUrl, writtenBy: "customer" });
    const { channels } = await memory.channels();
    const page = { memory, customer: access.customer, labels: channels.filter((label) => label.own) };
    let shown = Promise.resolve();
    // One after the other, so that the last one read is the last one shown.
    const show = () => {
      shown = shown.then(() => showFacts(page)).catch((error) => notice(error.message));
    };
    const onConnected = (isConnected) => {
      element("live").textContent = isConnected ? "live" : "not connected";
      // What has changed meanwhile was not told.
      if (isConnected) show();
    };
    try {
      for await (const _ of memory.events(access.customer, { onConnected })) show();
    } catch (error) {
      if (!isSidebandError(error, "invalid_key") && !isSidebandError(error, "key_expired")) throw error;
    }
  }
}

async function showFacts(page) {
  const { facts } = await page.memory.facts(page.customer);
  const byLabel = new Map(facts.map((fact) => [fact.label, fact]));
  const known = page.labels.map(({ label }) => label);
  const others = facts.filter(({ label }) => !known.includes(label));
  const rows = [
    ...page.labels.map((label) => factRow(page, label, byLabel.get(label.label))),
    ...others.map((fact) => factRow(page, { label: fact.label, read_only: true }, fact)),
  ].filter((row) => row !== undefined);
  // What is being typed stays.
  const typing = document.activeElement?.closest("#facts form");
  element("facts").replaceChildren(
    ...rows.map((row) => (row.dataset.label === typing?.dataset.label ? typing : row)),
  );
  if (typing !== null) typing?.querySelector("input").focus();
}

function factRow(page, { label, description = "", read_only: isFixed }, fact) {
  if (isFixed && fact === undefined) return undefined;
  const row = document.createElement("form");
  const [name, input, button] = ["label", "input", "button"].map((tag) => document.createElement(tag));
  row.dataset.label = label;
  Object.assign(name, { textContent: label, htmlFor: label, title: description });
  Object.assign(input, { id: label, value: fact?.value ?? "", readOnly: isFixed === true });
  Object.assign(button, { textContent: "Save", hidden: isFixed === true });
  row.append(name, input, button);
  row.addEventListener("submit", (event) => {
    event.preventDefault();
    save(page, label, input.value, fact?.revision ?? 0);
  });
  return row;
}

/** Only if nobody, the assistant for one, has written meanwhile what this person has not seen. */
async function save({ memory, customer }, label, value, ifRevision) {
  document.activeElement?.blur();
  try {
    if (value === "") await memory.forget(customer, label, { ifRevision });
    else await memory.encode(customer, label, value, { ifRevision });
    notice(`${label} is saved.`);
  } catch (error) {
    const isNewer = isSidebandError(error, "revision_mismatch");
    notice(isNewer ? `Not saved: ${label} is “${error.present?.value ?? ""}” by now.` : error.message);
  }
}

function said(who, text) {
  const line = document.createElement("p");
  line.className = who;
  line.textContent = text;
  element("talk").append(line);
}

const onSubmit = (id, work) =>
  element(id).addEventListener("submit", (event) => {
    event.preventDefault();
    work().catch((error) => notice(error.message));
  });

onSubmit("sign-in", async () => {
  await post("/sign-in", { name: element("name").value });
  notice("");
  start();
});

onSubmit("chat", async () => {
  const message = element("message").value;
  element("message").value = "";
  said("you", `You: ${message}`);
  const { reply, did } = await post("/chat", { message });
  for (const line of did) said("did", line);
  said("we", `Support: ${reply}`);
});

element("erase").addEventListener("click", async () => {
  if (!confirm("Everything that we know of you is erased, for good.")) return;
  try {
    const { receipt } = await post("/erase");
    const backups = receipt?.backups_until ? `, backups hold it until ${receipt.backups_until}` : "";
    notice(
      receipt ? `Erased: ${receipt.facts} facts, ${receipt.erased_at}${backups}.` : "There was nothing.",
    );
    main.hidden = true;
  } catch (error) {
    notice(error.message);
  }
});

function start() {
  live().catch((error) => {
    main.hidden = true;
    element("sign-in").hidden = false;
    if (error.status !== 401) notice(error.message);
  });
}

// A reload, where the session goes on.
start();
