/** The admin API, as the console calls it: with the session cookie, which scripts cannot read. */

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
import { call } from "./request.ts";

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

export async function signIn(token: string): Promise<void> {
  await call("POST", "/console/session", { body: { token } });
}

/** Whether this browser has a valid session. */
export async function isSignedIn(): Promise<boolean> {
  return (await call<{ expires_at: string | null }>("GET", "/console/session")).data.expires_at !== null;
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/console/session");
}

export async function fetchOverview(): Promise<Overview> {
  const get = async <T>(path: string) => (await call<T>("GET", path)).data;
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
  return (await call<UsersAnswer>("GET", "/admin/users", { query })).data;
}

export async function fetchLabels(account: string): Promise<AccountLabelsView> {
  return (await call<AccountLabelsView>("GET", "/admin/labels", { query: { account } })).data;
}

export async function createKey(body: CreateKeyBody): Promise<CreatedKey> {
  return (await call<CreatedKey>("POST", "/admin/keys", { body })).data;
}

export async function revokeKey(id: string): Promise<void> {
  await call("POST", `/admin/keys/${encodeURIComponent(id)}/revoke`);
}

export async function expireKey(id: string, expiresAt: string | null): Promise<void> {
  await call("POST", `/admin/keys/${encodeURIComponent(id)}/expire`, { body: { expires_at: expiresAt } });
}

export async function approveRequest(id: string, body: ApproveBody): Promise<CreatedKey> {
  return (await call<CreatedKey>("POST", `/admin/key-requests/${encodeURIComponent(id)}/approve`, { body }))
    .data;
}

export async function declineRequest(id: string): Promise<void> {
  await call("POST", `/admin/key-requests/${encodeURIComponent(id)}/decline`);
}

export async function deleteRequest(id: string): Promise<void> {
  await call("DELETE", `/admin/key-requests/${encodeURIComponent(id)}`);
}
