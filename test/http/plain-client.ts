/** A small client that speaks plain HTTP to a service. */

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at answers of any shape.
  readonly json: any;
}

export interface RequestOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

export async function send(
  url: string,
  method: string,
  path: string,
  options: RequestOptions,
): Promise<Answer> {
  const { key, body, raw, headers = {} } = options;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key == null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    redirect: "manual",
  });
  const text = await response.text();
  const isJson = /[+/]json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text ? JSON.parse(text) : undefined,
  };
}

/** Checks that an answer is a whole problem, and says which. */
export function problemCode(answer: Answer): string {
  const { json, status } = answer;
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("application/problem+json"))
    throw new Error(`no problem: ${status} ${type} ${answer.text}`);
  for (const field of ["type", "title", "detail", "code", "request_id"]) {
    if (typeof json[field] !== "string" || json[field] === "") throw new Error(`no ${field}: ${answer.text}`);
  }
  if (json.status !== status) throw new Error(`status ${status} is not ${json.status}`);
  if (json.request_id !== answer.headers.get("x-request-id")) throw new Error("request ids differ");
  return `${status} ${json.code}`;
}
