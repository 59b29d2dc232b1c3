/**
 * The API reference, made from this server's OpenAPI document: operations grouped by who may call them, each with its
 * parameters, body, answer and errors. It handles only what that document has: schemas are inline.
 */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../api/request.ts";
import { ErrorNotice } from "../parts/notice.tsx";
import { type Document, groupsOf } from "../reference/openapi.ts";
import { OperationView } from "../reference/operation-view.tsx";

function Reference() {
  const [document, setDocument] = useState<Document>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    call<Document>("GET", "/openapi.json").then(({ data }) => setDocument(data), setError);
  }, []);
  // The browser looks for the address's anchor before the element exists.
  useEffect(() => {
    const anchor = location.hash.slice(1);
    const target = anchor === "" ? null : window.document.getElementById(anchor);
    if (target instanceof HTMLDetailsElement) target.open = true;
    target?.scrollIntoView();
  }, [document]);
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (document === undefined) return <p class="hint">Loading …</p>;

  return (
    <>
      <p>
        Version {document.info.version}. {document.info.description}
      </p>
      {groupsOf(document).map(({ name, about, operations }) => (
        <section key={name} aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`}>{name}</h2>
          <p class="hint">{about}</p>
          {operations.map((operation) => (
            <OperationView key={operation.id} operation={operation} />
          ))}
        </section>
      ))}
    </>
  );
}

render(<Reference />, document.getElementById("app")!);
