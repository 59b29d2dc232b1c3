/**
 * The API reference, drawn from this server's own OpenAPI document: operations by who may call them, each with
 * its parameters, body, answer and errors. Made for that document: schemas are inline, and one level deep is enough.
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
  // The browser looked for the address's anchor before it was there.
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
