/** Messages of success and failure, which screen readers announce. */

import type { ComponentChildren } from "preact";
import { ApiError } from "../api/request.ts";

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
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <Notice kind="bad">
      {messageOf(error)} {requestId !== undefined && <small>Request {requestId}</small>}
    </Notice>
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
