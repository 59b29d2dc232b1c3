/**
 * The API reference as a page: every operation of the OpenAPI document with its fields, its errors, and an example that
 * the service has answered. It is made when the site is built and reads without a script.
 */

import { openApiDocument } from "../src/contract/openapi.ts";
import { codeBlock, sampleBox } from "../src/web/docs/code-samples.ts";
import type { SearchEntry } from "../src/web/docs/search.ts";
import { type Document, type Field, groupsOf, type OperationText } from "../src/web/reference/openapi.ts";
import { addressOf, blockAddressOf, requestSamples } from "../src/web/reference/request-samples.ts";
import { escapeHtml, type Page } from "../src/web/shell.ts";
import type { GuideGroup } from "./guides.ts";
import { docsFrame } from "./render-guides.ts";

const PATH = "/docs/api";
const ABOUT =
  "Every call of this service with its fields, its errors and an example. The answers are those of a real service; long blocks and lists are shortened.";

const DOCUMENT = openApiDocument({ version: "", serverUrl: "" }) as unknown as Document;

export function renderReference(groups: readonly GuideGroup[]): Page {
  const operations = groupsOf(DOCUMENT);
  const items = operations.map(
    ({ name, operations: listed }) =>
      `<li><a href="#${name.toLowerCase()}">${name}</a><ul>${listed
        .map(({ id, method, path }) => `<li><a href="#${id}">${method} ${path}</a></li>`)
        .join("")}</ul></li>`,
  );
  const contents = `<ul>${items.join("")}</ul>`;
  const sections = operations.map(
    ({
      name,
      about,
      operations: listed,
    }) => `<section class="operations" aria-labelledby="${name.toLowerCase()}">
<h2 id="${name.toLowerCase()}">${name}</h2><p class="hint">${escapeHtml(about)}</p>
${listed.map((operation) => operationHtml(name, operation)).join("\n")}</section>`,
  );
  return {
    path: PATH,
    title: "API reference",
    description: "Every call of Sideband with an example in curl, TypeScript and Python.",
    script: "reference",
    styles: ["guides"],
    group: "Start",
    markdown: markdownOf(operations),
    main: docsFrame(
      groups,
      PATH,
      `<h1>API reference</h1><p>${ABOUT} The same as a document for programs: <a href="/openapi.json">OpenAPI 3.1</a>.
Every path also exists under <code>/v1</code>.</p>
<div id="try-key"></div>
<details class="contents card"><summary>All calls</summary>${contents}</details>
${sections.join("\n")}`,
      contents,
    ),
  };
}

/** What the search finds of the reference. */
export function referenceEntries(): SearchEntry[] {
  return groupsOf(DOCUMENT).flatMap(({ operations }) =>
    operations.map(({ id, method, path, summary, parameters, body, answer, errors }) => ({
      address: `${PATH}#${id}`,
      page: "API reference",
      title: `${method} ${path}`,
      text: [
        id,
        summary,
        ...[...parameters, ...body, ...answer].flatMap(({ name, about }) => [name, about]),
        ...errors.map(({ code }) => code),
      ].join(" "),
    })),
  );
}

function operationHtml(group: string, operation: OperationText): string {
  const { id, method, path, summary, parameters, body, answer, errors, example } = operation;
  // What a form needs: the operator's calls are in the console.
  const tries =
    group === "Admin"
      ? ""
      : `<div class="try" data-method="${method}" data-address="${escapeHtml(addressOf(operation))}" data-key="${group === "Memory"}" data-block="${escapeHtml(blockAddressOf(operation) ?? "")}" data-body="${example.body === undefined ? "" : escapeHtml(JSON.stringify(example.body, null, 2))}"></div>`;
  return `<section class="operation card" id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a href="#${id}"><code class="method">${method}</code> <code>${path}</code></a></h3>
<p>${withCode(summary)}</p>
${sampleBox(`${id}-sample`, requestSamples(group, operation))}
<h4>Answer <span class="tag good">${example.status}</span></h4>
${codeBlock(answerText(example.answer))}
${tries}
<details><summary>Fields and errors</summary>
${fieldsHtml("Parameters", parameters)}${fieldsHtml("Body", body)}${fieldsHtml("Answer", answer)}
${errors.length === 0 ? "" : `<h4>Errors</h4><table class="errors"><tbody>${errors.map(({ status, code, meaning }) => `<tr><th scope="row"><a href="/docs#error-${code}"><code>${code}</code></a></th><td>${status}</td><td>${withCode(meaning)}</td></tr>`).join("")}</tbody></table>`}
</details></section>`;
}

function fieldsHtml(title: string, fields: readonly (Field & { readonly place?: string })[]): string {
  if (fields.length === 0) return "";
  const rows = fields.map(({ name, type, required, about, place }) => {
    const kind = [
      type,
      place === undefined ? "" : `in the ${place}`,
      title !== "Answer" && !required ? "optional" : "",
    ];
    return `<tr><th scope="row"><code>${name}</code></th><td>${kind.filter(Boolean).join(", ")}</td><td>${withCode(about)}</td></tr>`;
  });
  return `<h4>${title}</h4><table><tbody>${rows.join("")}</tbody></table>`;
}

function markdownOf(groups: ReturnType<typeof groupsOf>): string {
  const parts = [`# API reference\n\n${ABOUT} Every path also exists under \`/v1\`.`];
  for (const { name, about, operations } of groups) {
    parts.push(`## ${name}\n\n${about}`);
    for (const operation of operations) {
      const { id, method, path, summary, parameters, body, errors, example } = operation;
      parts.push(`### ${id}`, `\`${method} ${path}\`: ${summary}`);
      const fields = [...parameters, ...body].map(({ name: field, type, required, about: text }) =>
        `- \`${field}\` (${type}${required ? "" : ", optional"}) ${text}`.trimEnd(),
      );
      if (fields.length > 0) parts.push(fields.join("\n"));
      for (const { language, text } of requestSamples(name, operation))
        parts.push(`\`\`\`${language}\n${text}\n\`\`\``);
      parts.push(`Answer ${example.status}:`, `\`\`\`json\n${answerText(example.answer)}\n\`\`\``);
      if (errors.length > 0) parts.push(`Errors: ${errors.map(({ code }) => `\`${code}\``).join(", ")}`);
    }
  }
  return `${parts.join("\n\n")}\n`;
}

function answerText(answer: unknown): string {
  return typeof answer === "string" ? answer : JSON.stringify(answer, null, 2);
}

/** Text with `code` in it. */
function withCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
