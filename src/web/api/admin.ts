/**
 * The admin API, as the console calls it: with the session cookie, which scripts cannot read, and the page's own secret,
 * which browsers do not send to other ports as they do cookies. The secret is kept with the tab, so that a reload does
 * not sign out: whoever finds it there has nothing without the cookie.
 */

import type { Static } from "typebox";
import type {
  AccountLabelsAnswer,
  AccountProjectsAnswer,
  AccountsAnswer,
  AddedOperator,
  AdminStatusAnswer,
  ApproveBody,
  ChangeLabelsBody,
  CreatedKey,
  CreateKeyBody,
  KeyRequestView,
  KeyView,
  OperatorsAnswer,
  UsageByDayAnswer,
} from "../../contract/admin-schemas.ts";
import type { AuditAnswer, UsersAnswer } from "../../contract/answers.ts";
import { type PageCall, send } from "./request.ts";

export type AccountView = Static<typeof AccountsAnswer>["accounts"][number];
export type AccountLabelsView = Static<typeof AccountLabelsAnswer>;
export type OperatorView = Static<typeof OperatorsAnswer>["operators"][number];
export type AddedOperatorView = Static<typeof AddedOperator>;
export type UsageReport = Static<typeof UsageByDayAnswer>;
export type { AdminStatusAnswer, CreatedKey, KeyRequestView, KeyView };

export interface Overview {
  readonly status: AdminStatusAnswer;
  readonly requests: readonly KeyRequestView[];
  readonly keys: readonly KeyView[];
  readonly accounts: readonly AccountView[];
  readonly usage: UsageReport;
  readonly operators: readonly OperatorView[];
}

const PAGE_SECRET = "sideband-console";
const SESSION = "/console/session";

async function call<T>(method: PageCall["method"], path: string, rest: Partial<PageCall> = {}): Promise<T> {
  const secret = sessionStorage.getItem(PAGE_SECRET);
  const headers = secret === null ? {} : { [PAGE_SECRET]: secret };
  return (await send<T>({ ...rest, method, path, headers })).data;
}

export async function signIn(token: string): Promise<void> {
  const { page_secret } = await call<{ page_secret: string }>("POST", SESSION, { body: { token } });
  sessionStorage.setItem(PAGE_SECRET, page_secret);
}

/** Whether this tab has a valid session. */
export async function isSignedIn(): Promise<boolean> {
  return (await call<{ expires_at: string | null }>("GET", SESSION)).expires_at !== null;
}

export async function signOut(): Promise<void> {
  await call("DELETE", SESSION);
  sessionStorage.removeItem(PAGE_SECRET);
}

export async function fetchOverview(): Promise<Overview> {
  const [status, { requests }, { keys }, { accounts }, usage, { operators }] = await Promise.all([
    call<AdminStatusAnswer>("GET", "/admin/status"),
    call<Pick<Overview, "requests">>("GET", "/admin/key-requests"),
    call<Pick<Overview, "keys">>("GET", "/admin/keys"),
    call<Pick<Overview, "accounts">>("GET", "/admin/accounts"),
    call<UsageReport>("GET", "/admin/usage"),
    call<Pick<Overview, "operators">>("GET", "/admin/operators"),
  ]);
  return { status, requests, keys, accounts, usage, operators };
}

export const fetchUsers = (account: string, prefix: string, cursor?: string) =>
  call<UsersAnswer>("GET", "/admin/users", { query: { account, cursor, prefix: prefix || undefined } });

export const fetchLabels = (account: string) =>
  call<AccountLabelsView>("GET", "/admin/labels", { query: { account } });

export const fetchProjects = (account: string) =>
  call<Static<typeof AccountProjectsAnswer>>("GET", "/admin/projects", { query: { account } });

export interface AuditFilter {
  readonly account: string;
  readonly user: string;
  readonly operation: string;
  /** A day; the whole of the last one counts. */
  readonly since: string;
  readonly until: string;
}

export const fetchAudit = ({ since, until, ...filter }: AuditFilter, cursor?: string) => {
  const behind = until === "" ? "" : new Date(Date.parse(until) + 86_400_000).toISOString();
  const named = Object.entries({ ...filter, since, until: behind }).filter(([, value]) => value !== "");
  return call<AuditAnswer>("GET", "/admin/audit", { query: { ...Object.fromEntries(named), cursor } });
};

export const changeLabels = (body: ChangeLabelsBody) =>
  call<AccountLabelsView>("PATCH", "/admin/labels", { body });

export const createKey = (body: CreateKeyBody) => call<CreatedKey>("POST", "/admin/keys", { body });

export const revokeKey = (id: string) => call("POST", `/admin/keys/${encodeURIComponent(id)}/revoke`);

export const changeTier = (id: string, tier: string) =>
  call("PATCH", `/admin/keys/${encodeURIComponent(id)}`, { body: { tier } });

export const limitAccount = (account: string, monthlyLimit: number | null) =>
  call("PATCH", `/admin/accounts/${encodeURIComponent(account)}`, { body: { monthly_limit: monthlyLimit } });

export const expireKey = (id: string, expiresAt: string | null) =>
  call("POST", `/admin/keys/${encodeURIComponent(id)}/expire`, { body: { expires_at: expiresAt } });

export const approveRequest = (id: string, body: ApproveBody) =>
  call<CreatedKey>("POST", `/admin/key-requests/${encodeURIComponent(id)}/approve`, { body });

export const declineRequest = (id: string) =>
  call("POST", `/admin/key-requests/${encodeURIComponent(id)}/decline`);

export const deleteRequest = (id: string) => call("DELETE", `/admin/key-requests/${encodeURIComponent(id)}`);

export const addOperator = (name: string, access: OperatorView["access"]) =>
  call<AddedOperatorView>("POST", "/admin/operators", { body: { name, access } });

export const removeOperator = (name: string) =>
  call("DELETE", `/admin/operators/${encodeURIComponent(name)}`);
