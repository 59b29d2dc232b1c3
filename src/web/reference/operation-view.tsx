/** One operation of the reference, folded until it is opened. */

import type { Field, OperationText } from "./openapi.ts";

export function OperationView({ operation }: { readonly operation: OperationText }) {
  const { id, method, path, summary, parameters, body, answer, errors } = operation;
  return (
    <details class="operation card" id={id}>
      <summary>
        <code class="method">{method}</code>
        <code>{path}</code>
        <span class="summary">{withCode(summary)}</span>
      </summary>
      <Fields title="Parameters" fields={parameters} />
      <Fields title="Body" fields={body} />
      <Fields title="Answer" fields={answer} />
      {errors.length > 0 && (
        <>
          <h3>Errors</h3>
          <table class="errors">
            <tbody>
              {errors.map(({ status, code, meaning }) => (
                <tr key={code}>
                  <th scope="row">
                    <code>{code}</code>
                  </th>
                  <td>{status}</td>
                  <td>{withCode(meaning)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </details>
  );
}

function Fields({
  title,
  fields,
}: {
  readonly title: string;
  readonly fields: readonly (Field & { place?: string })[];
}) {
  if (fields.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <table>
        <tbody>
          {fields.map(({ name, type, required, about, place }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                {type}
                {place !== undefined && `, in the ${place}`}
                {title !== "Answer" && !required && ", optional"}
              </td>
              <td>{withCode(about)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Text with `code` in it. */
function withCode(text: string) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}
