/**
 * The admin API, as the console calls it: with the session cookie, which scripts cannot read, and the page's own secret,
 * which browsers do not send to other ports as they do cookies. The secret is kept with the tab, so that a reload does
 * not sign out: whoever finds it there has nothing without the cookie.
 */

import type { Static } from "typebox";
import type {
  AccountLabelsAnswer,
  AccountsAnswer,
  AdminStatusAnswer,
  ApproveBody,
  CreatedKey,
  CreateKeyBody,
  KeyRequestView,
  KeyView,
  UsageByDayAnswer,
} from "../../contract/admin-schemas.ts";
import type { UsersAnswer } from "../../contract/answers.ts";
import { call, type Method, type WebCallOptions } from "./request.ts";

export type AccountView = Static<typeof AccountsAnswer>["accounts"][number];
export type AccountLabelsView = Static<typeof AccountLabelsAnswer>;
export type UsageReport = Static<typeof UsageByDayAnswer>;
export type { AdminStatusAnswer, ApproveBody, CreatedKey, CreateKeyBody, KeyRequestView, KeyView };

export interface Overview {
  readonly status: AdminStatusAnswer;
  readonly requests: readonly KeyRequestView[];
  readonly keys: readonly KeyView[];
  readonly accounts: readonly AccountView[];
  readonly usage: UsageReport;
}

const PAGE_SECRET = "sideband-console";

function adminCall<T>(method: Method, path: string, options: WebCallOptions = {}) {
  const secret = sessionStorage.getItem(PAGE_SECRET);
  return call<T>(method, path, {
    ...options,
    ...(secret === null ? {} : { headers: { [PAGE_SECRET]: secret } }),
  });
}

export async function signIn(token: string): Promise<void> {
  const { data } = await adminCall<{ page_secret: string }>("POST", "/console/session", { body: { token } });
  sessionStorage.setItem(PAGE_SECRET, data.page_secret);
}

/** Whether this tab has a valid session. */
export async function isSignedIn(): Promise<boolean> {
  return (await adminCall<{ expires_at: string | null }>("GET", "/console/session")).data.expires_at !== null;
}

export async function signOut(): Promise<void> {
  await adminCall("DELETE", "/console/session");
  sessionStorage.removeItem(PAGE_SECRET);
}

export async function fetchOverview(): Promise<Overview> {
  const get = async <T>(path: string) => (await adminCall<T>("GET", path)).data;
  const [status, { requests }, { keys }, { accounts }, usage] = await Promise.all([
    get<AdminStatusAnswer>("/admin/status"),
    get<{ requests: KeyRequestView[] }>("/admin/key-requests"),
    get<{ keys: KeyView[] }>("/admin/keys"),
    get<{ accounts: AccountView[] }>("/admin/accounts"),
    get<UsageReport>("/admin/usage"),
  ]);
  return { status, requests, keys, accounts, usage };
}

export async function fetchUsers(account: string, prefix: string, cursor?: string): Promise<UsersAnswer> {
  const query = { account, cursor, ...(prefix === "" ? {} : { prefix }) };
  return (await adminCall<UsersAnswer>("GET", "/admin/users", { query })).data;
}

export async function fetchLabels(account: string): Promise<AccountLabelsView> {
  return (await adminCall<AccountLabelsView>("GET", "/admin/labels", { query: { account } })).data;
}

export async function createKey(body: CreateKeyBody): Promise<CreatedKey> {
  return (await adminCall<CreatedKey>("POST", "/admin/keys", { body })).data;
}

export async function revokeKey(id: string): Promise<void> {
  await adminCall("POST", `/admin/keys/${encodeURIComponent(id)}/revoke`);
}

export async function expireKey(id: string, expiresAt: string | null): Promise<void> {
  await adminCall("POST", `/admin/keys/${encodeURIComponent(id)}/expire`, {
    body: { expires_at: expiresAt },
  });
}

export async function approveRequest(id: string, body: ApproveBody): Promise<CreatedKey> {
  return (
    await adminCall<CreatedKey>("POST", `/admin/key-requests/${encodeURIComponent(id)}/approve`, { body })
  ).data;
}

export async function declineRequest(id: string): Promise<void> {
  await adminCall("POST", `/admin/key-requests/${encodeURIComponent(id)}/decline`);
}

export async function deleteRequest(id: string): Promise<void> {
  await adminCall("DELETE", `/admin/key-requests/${encodeURIComponent(id)}`);
}
