/**
 * The API reference: a page for each operation of the OpenAPI document, with its fields, its errors, and an example that
 * the service has answered, and /docs/api, which lists them all. Made when the site is built; it reads without a script.
 */

import { openApiDocument } from "../src/contract/openapi.ts";
import type { SearchEntry } from "../src/web/docs/search.ts";
import { type Document, type Field, groupsOf, type OperationDoc } from "../src/web/reference/openapi.ts";
import {
  addressOf,
  blockAddressOf,
  forTrying,
  requestSamples,
  TRY_USER,
} from "../src/web/reference/request-samples.ts";
import { codeBlock, codeTabs, escapeHtml, type Page } from "../src/web/shell.ts";
import { type DocsLink, type DocsList, docsFrame, withCode } from "./docs-frame.ts";
import type { GuideGroup } from "./guides.ts";
import { guideLists } from "./render-guides.ts";

const PATH = "/docs/api";
const ABOUT =
  "Every call of this service, each on a page with its fields, its errors and an example. The answers are those of a real service; long blocks and lists are shortened.";

type Group = ReturnType<typeof groupsOf>[number];

const GROUPS = groupsOf(openApiDocument({ version: "", serverUrl: "" }) as unknown as Document);

/** encodeBatch → /docs/api/encode-batch */
export function callPath({ id }: Pick<OperationDoc, "id">): string {
  return `${PATH}/${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function renderReference(groups: readonly GuideGroup[]): Page[] {
  return [
    overview(groups),
    ...GROUPS.flatMap((group) => group.operations.map((one) => callPage(group, one))),
  ];
}

/** What the search finds of the reference. */
export function referenceEntries(): SearchEntry[] {
  return GROUPS.flatMap(({ operations }) =>
    operations.map((operation) => {
      const { id, method, path, summary, parameters, body, answer, errors } = operation;
      const fields = [...parameters, ...body, ...answer].map(({ name }) => name);
      return {
        address: callPath(operation),
        page: "API reference",
        title: `${method} ${path}`,
        about: summary,
        text: [id, ...fields, ...errors.map(({ code }) => code)].join(" "),
      };
    }),
  );
}

function overview(groups: readonly GuideGroup[]): Page {
  // Links to /docs/api#encode from elsewhere lead to the row of the call.
  const row = (operation: OperationDoc) =>
    `<tr id="${operation.id}"><th scope="row"><a href="${callPath(operation)}">${callName(operation)}</a></th><td>${withCode(operation.summary)}</td></tr>`;
  const sections = GROUPS.map(
    ({
      name,
      about,
      operations,
    }) => `<h2 id="${name.toLowerCase()}">${name}</h2><p class="hint">${escapeHtml(about)}</p>
<table class="calls"><tbody>${operations.map(row).join("")}</tbody></table>`,
  );
  const article = `<h1>API reference</h1><p>${ABOUT} The same as a document for programs: <a href="/openapi.json">OpenAPI 3.1</a>.
Every path also exists under <code>/v1</code>. What all calls have in common, such as keys, limits and repeated requests: <a href="/docs/using-the-api">using the API</a>.</p>
${sections.join("\n")}`;
  return {
    path: PATH,
    title: "API reference",
    description: "Every call of Sideband with an example in curl, TypeScript and Python.",
    script: "docs",
    styles: ["guides"],
    group: "Start",
    markdown: markdownOf(
      `# API reference\n\n${ABOUT} Every path also exists under \`/v1\`.`,
      GROUPS.flatMap(({ name, about, operations }) => [
        `## ${name}\n\n${about}`,
        ...operations.flatMap((operation) => [`### ${operation.id}`, ...callMarkdown(name, operation)]),
      ]),
    ),
    main: docsFrame({ path: PATH, article, lists: guideLists(groups, PATH) }),
  };
}

const LISTS: readonly DocsList[] = GROUPS.map(({ name, operations }) => ({
  name,
  links: operations.map((operation) => ({ path: callPath(operation), name: callName(operation) })),
}));
const ABOVE: DocsLink = { path: PATH, name: "← All calls" };

function callPage(group: Group, operation: OperationDoc): Page {
  const { id, method, path, summary } = operation;
  return {
    path: callPath(operation),
    title: `${method} ${path}`,
    description: summary,
    script: "reference",
    styles: ["guides"],
    group: "API reference",
    markdown: markdownOf(`# ${method} ${path}`, callMarkdown(group.name, operation)),
    main: docsFrame({
      path: callPath(operation),
      article: callHtml(group, operation, id),
      lists: LISTS,
      above: ABOVE,
      twoColumns: true,
    }),
  };
}

function callName({ method, path }: OperationDoc): string {
  // A long path breaks after a slash.
  return `<span class="method ${method.toLowerCase()}">${method}</span> <code>${path.replaceAll("/", "/<wbr>").replace("/<wbr>", "/")}</code>`;
}

function callHtml({ name, about }: Group, operation: OperationDoc, id: string): string {
  const { summary, parameters, body, answer, errors, example } = operation;
  return `<header><p class="eyebrow">API reference, ${name}</p><h1>${callName(operation)}</h1>
<p class="lead">${withCode(summary)}</p></header>
<div class="call-fields"><p class="hint">${escapeHtml(about)}</p>
${fieldsHtml("Parameters", parameters)}${fieldsHtml("Body", body)}${fieldsHtml("Answer", answer)}
${errorsHtml(errors)}</div>
<div class="call-code">${codeTabs(`${id}-sample`, requestSamples(name, operation))}
<h2>Answer <span class="tag good">${example.status}</span></h2>
${codeBlock(answerSample(example.answer))}
${tryPlace(name, operation)}</div>`;
}

/** What a form needs to send the call; the operator's calls are in the console. */
function tryPlace(group: string, operation: OperationDoc): string {
  if (group === "Admin") return "";
  const trial = forTrying(operation);
  const body = trial.example.body === undefined ? "" : JSON.stringify(trial.example.body, null, 2);
  const data = {
    method: trial.method,
    address: addressOf(trial),
    key: String(group === "Memory"),
    block: blockAddressOf(trial) ?? "",
    body,
    user: `${addressOf(trial)}${body}`.includes(TRY_USER) ? TRY_USER : "",
  };
  const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
  return `<div class="try"${attributes.join("")}></div>`;
}

function fieldsHtml(title: string, fields: readonly (Field & { readonly place?: string })[]): string {
  if (fields.length === 0) return "";
  const rows = fields.map(({ name, type, required, about, place }) => {
    const kind = [type, place === undefined ? "" : `in the ${place}`].filter(Boolean).join(", ");
    const need = title === "Answer" ? "" : required ? ' <span class="tag">required</span>' : "";
    return `<dt><code>${name}</code> <small>${kind}</small>${need}</dt><dd>${withCode(about)}</dd>`;
  });
  return `<h2 id="${title.toLowerCase()}">${title}</h2><dl class="fields">${rows.join("")}</dl>`;
}

function errorsHtml(errors: OperationDoc["errors"]): string {
  if (errors.length === 0) return "";
  const rows = errors.map(
    ({ status, code, meaning }) =>
      `<dt><a href="/docs#error-${code}"><code>${code}</code></a> <small>${status}</small></dt><dd>${withCode(meaning)}</dd>`,
  );
  return `<h2 id="errors">Errors</h2><dl class="fields">${rows.join("")}</dl>`;
}

function callMarkdown(group: string, operation: OperationDoc): string[] {
  const { method, path, summary, parameters, body, errors, example } = operation;
  const fields = [...parameters, ...body].map(({ name, type, required, about }) =>
    `- \`${name}\` (${type}${required ? "" : ", optional"}) ${about}`.trimEnd(),
  );
  const samples = requestSamples(group, operation).map(
    ({ language, text }) => `\`\`\`${language}\n${text}\n\`\`\``,
  );
  const { language, text } = answerSample(example.answer);
  return [
    `\`${method} ${path}\`: ${summary}`,
    ...(fields.length > 0 ? [fields.join("\n")] : []),
    ...samples,
    `Answer ${example.status}:`,
    `\`\`\`${language}\n${text}\n\`\`\``,
    ...(errors.length > 0 ? [`Errors: ${errors.map(({ code }) => `\`${code}\``).join(", ")}`] : []),
  ];
}

function markdownOf(head: string, parts: readonly string[]): string {
  return `${[head, ...parts].join("\n\n")}\n`;
}

function answerSample(answer: unknown): { language: string; text: string } {
  return typeof answer === "string"
    ? { language: "text", text: answer }
    : { language: "json", text: JSON.stringify(answer, null, 2) };
}
