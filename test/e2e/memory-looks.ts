/** The memory page as the tests of its appearance look at it: with forms open, a file to import, questions and notices. */

import type { Visit } from "./visit.ts";

/** By name: opens the page and brings it into a state. */
export const MEMORY_LOOKS: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  "memory-users": async (visit) => {
    await rememberSome(visit);
    await openMemory(visit, "");
    await visit.says("grace");
  },
  memory: async (visit) => {
    const { page, running, says } = visit;
    await rememberSome(visit);
    await openMemory(visit, `#user=ada&project=${PROJECT}`);
    await page.getByText("The sealed block").click();
    await says(/% full/);
    await page.locator("#prompts summary").first().click();
    await page.getByRole("button", { name: "History of PREF.response_style" }).click();
    await says("Write it again");
    await page.getByRole("button", { name: "Edit TASK.deadline" }).click();
    await page.getByLabel("Value of TASK.deadline").fill("2026-12-24, at noon");
    const body = { user_id: "ada", label: "TASK.deadline", value: "2026-12-08", scope: "person" };
    await running.call("POST", "/encode", { body: { ...body, project: PROJECT, written_by: "codex" } });
    await says("Save mine all the same");
    await page.getByRole("button", { name: "Forget USER.os" }).click();
    await says(/USER.os is forgotten/);
  },
  "memory-add": async (visit) => {
    const { page, says } = visit;
    await rememberSome(visit);
    await openMemory(visit, "#user=ada");
    await page.getByRole("button", { name: "Add a fact" }).click();
    await page.getByRole("button", { name: /^A label for all users/ }).click();
    await page.getByText("More: fixed choices").click();
    await page.getByRole("button", { name: "Undo everything since then …" }).click();
    await says(/This is what changes/);
  },
  "memory-labels": async (visit) => {
    const { page, says } = visit;
    await rememberSome(visit);
    await openMemory(visit, "#user=ada");
    await page.getByRole("button", { name: "Add a fact" }).click();
    await page.getByRole("combobox", { name: "Label", exact: true }).fill("FAMILY.wief");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByLabel("Value of FAMILY.wief").fill("Chidi");
    await page.keyboard.press("Enter");
    await says(/Did you mean FAMILY\.wife\?/);
    await page.getByRole("button", { name: "Rename USER.os" }).click();
    await page.getByRole("combobox", { name: "New label of USER.os" }).fill("the");
  },
  "memory-import": async (visit) => {
    const { page, says } = visit;
    await rememberSome(visit);
    await openMemory(visit, "#user=ada");
    const notes = [
      ...["# Notes", "## About me", "- Name: Ada King", "- I like tea, and walks by the sea.", "## Family"],
      ...[
        "- Wife: Chidi, 3 May",
        "- Dog: Turing",
        "## Tasks",
        "- Deadline: 2026-12-24",
        "- Wifi password: Sommer2019!",
      ],
    ].join("\n");
    const file = { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from(notes) };
    await page.locator("input[type=file]").setInputFiles(file);
    await says(/^It is text: /);
    await page.getByText(/lines? left out, with the reasons/).click();
    await page.getByRole("button", { name: /^Change FAMILY.dog/ }).click();
    await page.getByLabel("Value of FAMILY.dog").waitFor();
  },
  "memory-team": async (visit) => {
    const { page, running, says } = visit;
    await rememberSome(visit);
    await running.call("PUT", `/projects/${PROJECT}`, { body: { shared: true, members: ["ada", "grace"] } });
    const write = (user_id: string, fact: object) =>
      running.call("POST", "/encode", { body: { user_id, project: PROJECT, written_by: "codex", ...fact } });
    await write("grace", { label: "PROJ.stack", value: "TypeScript, Node 20" });
    await write("grace", { label: "PROJ.goal", value: "Memory that a team can trust" });
    await write("grace", { label: "PROJ.constraint", value: "No new dependency", origin: "read" });
    await write("ada", { label: "PROJ.stack", value: "Zig, in my branch", scope: "own" });
    await openMemory(visit, `#user=ada&project=${PROJECT}`);
    await page.locator(".hidden-fact").waitFor();
    await page.getByRole("button", { name: "History of PROJ.goal" }).click();
    await page.getByRole("button", { name: "Edit PROJ.constraint" }).click();
    await page.getByRole("button", { name: "Add a fact" }).click();
    await page.getByRole("combobox", { name: "Label", exact: true }).fill("PROJ.status");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Undo the team's since then …" }).click();
    await says(/for the whole team/);
  },
  "memory-team-erase": async (visit) => {
    await rememberSome(visit);
    await visit.running.call("PUT", `/projects/${PROJECT}`, { body: { shared: true } });
    await openMemory(visit, `#user=ada&project=${PROJECT}`);
    await visit.says("What a team shares is not in it.");
    await visit.page.getByRole("button", { name: "Erase everything …" }).click();
    await visit.says("This cannot be undone.");
  },
  "memory-erase": async (visit) => {
    await rememberSome(visit);
    await openMemory(visit, "#user=ada");
    await visit.page.getByRole("button", { name: "Erase everything …" }).click();
    await visit.says("This cannot be undone.");
  },
};

const PROJECT = "loom-3f2a9c81d04e";

/** A memory as agents leave it behind: own labels, ends, earlier values, a project. */
async function rememberSome({ running }: Visit): Promise<void> {
  const post = (path: string, body: object) => running.call("POST", path, { body });
  await post("/channels", { label: "FAMILY.wife", description: "What the user's wife is called" });
  const ada = { user_id: "ada", written_by: "claude-code" };
  const facts = [
    { label: "USER.name", value: "Ada Lovelace" },
    { label: "USER.os", value: "Debian 13" },
    { label: "PREF.response_style", value: "Short, with the reason first and the caveats last" },
    { label: "TASK.deadline", value: "2026-12-01", ttl_s: 550_000 },
    { label: "FAMILY.wife", value: "Chidi, 3 May" },
  ];
  await post("/encode/batch", { ...ada, facts });
  const style = "Short answers, with the reason first and no caveats";
  await post("/encode", { ...ada, label: "PREF.response_style", value: style });
  await post("/encode", { ...ada, label: "TASK.next", value: "the gate", project: PROJECT });
  await post("/encode", { user_id: "grace", label: "USER.name", value: "Grace" });
}

export async function openMemory({ page, running, open }: Visit, hash: string): Promise<void> {
  await open(`/memory${hash}`);
  await page.getByLabel("Your key").fill(running.key);
  await page.keyboard.press("Enter");
}
