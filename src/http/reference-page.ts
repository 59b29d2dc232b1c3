/** The reference as one page without scripts and without outside hosts, made of the same tables as the rest. */

import { TIER_LIMITS, TIERS } from "../base/tiers.ts";
import { ERRORS } from "../contract/errors.ts";
import { ACCESS_ERRORS, OPERATIONS, type Operation } from "../contract/operations.ts";

export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{border-bottom:1px solid #8886;padding:.25rem .5rem .25rem 0;text-align:left;vertical-align:top}
h2{margin-top:2rem}h3{margin-top:1.5rem}`;

const GROUPS = [
  [
    "key",
    "Memory",
    "With <code>Authorization: Bearer &lt;API_KEY&gt;</code>; for GET also <code>?api_key=</code>.",
  ],
  ["demo", "Demo", "Without a key, on one public state that is reset periodically. Store nothing sensitive."],
  ["open", "Service", "Without a key."],
  ["admin", "Admin", "With the operator's token as Bearer token."],
] as const;

export function referencePage(info: { version: string; serverUrl: string }): string {
  const operations = Object.values(OPERATIONS) as Operation[];
  const sections = GROUPS.map(([access, title, text]) => {
    const own = operations.filter((operation) => operation.access === access);
    return `<h2 id="${access}">${title}</h2><p>${text}</p>${own.map(operationHtml).join("")}`;
  });
  const limits = TIERS.map((tier) => `${tier} ${TIER_LIMITS[tier]?.toLocaleString("en-US") ?? "none"}`).join(
    " · ",
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sideband API reference</title><style>${STYLE}</style></head><body>
<h1>Sideband API reference</h1>
<p>Version ${escapeHtml(info.version)}, at <code>${escapeHtml(info.serverUrl)}</code>. Every path also exists under <code>/v1</code>. The same as data: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<nav><p>${GROUPS.map(([access, title]) => `<a href="#${access}">${title}</a>`).join(" · ")} · <a href="#limits">Limits</a> · <a href="#errors">Errors</a></p></nav>
${sections.join("\n")}
<h2 id="limits">Limits</h2><p>Encodes a calendar month (UTC) for each key: ${limits}. Ask the operator for another tier.</p>
<h2 id="errors">Errors</h2><p>Problem details (RFC 9457) with a stable <code>code</code>.</p>
<table><thead><tr><th>status</th><th>code</th><th>meaning</th></tr></thead><tbody>${errorRows()}</tbody></table>
</body></html>`;
}

function operationHtml(operation: Operation): string {
  const { id, method, path, summary, query, params, body, answer } = operation;
  const codes = [...new Set([...operation.errors, ...ACCESS_ERRORS[operation.access]])];
  return `<h3 id="${id}"><code>${method} ${escapeHtml(path)}</code></h3><p>${inline(summary)}</p>${[
    fieldsHtml("Path", params),
    fieldsHtml("Query", query),
    fieldsHtml("Body", body),
    fieldsHtml("Answer", answer),
  ].join(
    "",
  )}${codes.length === 0 ? "" : `<p>Errors: ${codes.map((code) => `<a href="#error-${code}"><code>${code}</code></a>`).join(", ")}</p>`}`;
}

function fieldsHtml(title: string, schema: unknown): string {
  const { properties, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { type?: string; description?: string }>;
    required?: string[];
  };
  if (properties === undefined) return "";
  const rows = Object.entries(properties).map(([name, { type = "one of several", description = "" }]) => {
    const optional = required.includes(name) ? "" : ", optional";
    return `<tr><td><code>${name}</code></td><td>${type}${optional}</td><td>${inline(description)}</td></tr>`;
  });
  return `<table><thead><tr><th>${title}</th><th></th><th></th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function errorRows(): string {
  return Object.entries(ERRORS)
    .map(
      ([code, { status, meaning }]) =>
        `<tr id="error-${code}"><td>${status}</td><td><code>${code}</code></td><td>${inline(meaning)}</td></tr>`,
    )
    .join("");
}

/** Text with \`code\` in backquotes. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text.replace(
    /[&<>"]/g,
    (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[character]!,
  );
}
