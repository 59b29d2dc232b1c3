/** What every page is made of: its place, cards with headings, figures, and messages, which screen readers announce. */

import { type ComponentChild, type ComponentChildren, render } from "preact";
import { SidebandError } from "../../sdk/errors.ts";
import { durationText } from "./format.ts";

/** Puts a page's moving part into its place, instead of the word that it is loading. */
export function mountPage(part: ComponentChild): void {
  const place = document.getElementById("app")!;
  place.replaceChildren();
  render(part, place);
}

interface CardProps {
  /** The heading has it with "-title" behind; links of the page lead to it. */
  readonly id: string;
  readonly title: ComponentChildren;
  /** What stands beside the heading. */
  readonly head?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Card({ id, title, head, children, ...rest }: CardProps) {
  const heading = <h2 id={`${id}-title`}>{title}</h2>;
  return (
    <section class={rest.class ?? "card"} id={id} aria-labelledby={`${id}-title`}>
      {head === undefined ? (
        heading
      ) : (
        <div class="card-head">
          {heading}
          {head}
        </div>
      )}
      {children}
    </section>
  );
}

/** Numbers in a row, each with what it counts. */
export function Figures({ of }: { readonly of: readonly (readonly [number | string, string])[] }) {
  return (
    <p class="figures">
      {of.map(([count, what]) => (
        <span key={what}>
          <b>{count}</b> {what}
        </span>
      ))}
    </p>
  );
}

interface NoticeProps {
  readonly kind: "good" | "bad" | "plain";
  readonly children: ComponentChildren;
}

export function Notice({ kind, children }: NoticeProps) {
  return (
    <p class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </p>
  );
}

/** Nothing, or the error as a notice. */
export function ErrorNotice({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const requestId = SidebandError.isInstance(error) ? error.requestId : undefined;
  return (
    <Notice kind="bad">
      {errorText(error)} {requestId !== undefined && <small>Request {requestId}</small>}
    </Notice>
  );
}

/** What stands in a panel until its content is there, in about the room that it will take. */
export function Loading({ what = "Loading", tall }: { readonly what?: string; readonly tall?: boolean }) {
  return (
    <p class={tall ? "waiting tall" : "waiting"} role="status">
      {what} …
    </p>
  );
}

/** What is shown of a failed call. */
export function errorText(error: unknown): string {
  if (!SidebandError.isInstance(error)) return error instanceof Error ? error.message : String(error);
  const { code, status, message, hint, retryAfterMs = Number.POSITIVE_INFINITY } = error;
  if (code === "outcome_unknown" && status === 0)
    return "The server cannot be reached. What you asked for may have been done all the same: look before you try again.";
  if (status === 0) return "The server cannot be reached. Try again in a moment.";
  const said = code === "unexpected_answer" ? `The server answered ${status}.` : message;
  const meant = hint === undefined ? "" : ` Did you mean ${hint}?`;
  const wait = retryAfterMs > 3_600_000 ? "" : ` Try again in ${durationText(retryAfterMs / 1000)}.`;
  return said + meant + wait;
}
