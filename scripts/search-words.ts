/**
 * What people ask for, in their words, with the page or section that answers it: the search finds it by these words too.
 * A test fails where an address is not in the docs.
 */

export const SEARCH_WORDS: Readonly<Record<string, string>> = {
  "/docs": "getting started, installation, setup, tutorial, first fact, example",
  "/docs#2-write": "write a fact, save, store, remember something",
  "/docs#3-read": "read a fact, get, recall",
  "/docs/using-the-api#quota": "pricing, tiers, plans, cost, how many facts a month, quota",
  "/docs/memory-page":
    "see what is remembered, edit a fact by hand, web page, dashboard, browser, user interface",
  "/docs/using-the-api#facts":
    "newline, line break, multiline value, allowed characters, unicode, emoji, value format",
  "/docs/using-the-api#limits": "maximum size, length of a value, rate limit, body limit",
  "/docs/using-the-api#facts-that-end":
    "expire, expires, expiry, ttl, temporary fact, ttl_s, expires_at, time to live",
  "/docs/using-the-api#with-a-key": "authentication, authorization, bearer token, api key header",
  "/docs/api/encode":
    "write a fact, save, store, set, edit a fact, change, update, overwrite, modify a value",
  "/docs/api/encode-batch": "write several facts at once, many, multiple, bulk, batch insert",
  "/docs/api/decode": "read one fact by label, get a value, look up, fetch, recall",
  "/docs/api/context": "all facts for a prompt, system prompt, plain text",
  "/docs/api/facts": "list all facts of a user, show, dump",
  "/docs/api/find": "search facts, look for a fact by words, forgot the label, typo, full text search",
  "/docs/api/users": "list users, all users of an account, who is stored",
  "/docs/api/channels": "list of labels, all labels, which labels are there",
  "/docs/api/add-label": "own label, custom label, new label, define a label, create a label",
  "/docs/api/forget-fact": "delete a fact, remove one fact, erase",
  "/docs/api/forget-user": "delete a user, remove a person, erase everything, gdpr, right to be forgotten",
  "/docs/api/history": "earlier values, old versions, previous value, audit",
  "/docs/api/restore": "undo a write, bring back an old value, revert",
  "/docs/api/rollback": "roll back to yesterday, undo everything since a moment, revert, point in time",
  "/docs/api/changes": "what changed last night, since yesterday, audit log, who wrote what",
  "/docs/api/events": "subscribe to changes, webhook, live updates, stream, notifications, sse",
  "/docs/api/export": "export a user, download the data, gdpr copy",
  "/docs/api/create-token": "token for a browser, short-lived token, front end, mobile app",
  "/docs/api/append": "list, add an item, array",
  "/docs/api/read": "read a damaged block, decode a block, recover",
  "/docs/api/move-project": "rename a project, move a repository",
  "/docs/operations#running": "deploy, production, reverse proxy, tls, https, nginx, self-hosting, systemd",
  "/docs/operations#backup-and-restore": "backup, snapshot, disaster recovery",
  "/docs/operations#watching": "monitoring, health check, alerts, metrics, logs",
  "/docs/operations#keys": "create a key, rotate a key, revoke, new api key",
  "/docs/config": "environment variables, settings, options, rate limit",
  "/docs/cluster": "several nodes, high availability, scaling, postgres, citus, load balancer",
  "/docs/format": "how the block works, sealed block, encryption, error correction",
  "/docs/agents": "which agents, integrations, supported tools",
  "/docs/agents/editors":
    "cursor, vs code, visual studio code, copilot, windsurf, gemini cli, opencode, cline, claude desktop, mcpb, ide",
  "/docs/agents/connect-by-address":
    "oauth, claude.ai, chatgpt, connector, custom connector, login, sign in, caddy",
  "/docs/agents/sdk": "client library, typescript client, javascript, node, npm package",
  "/docs/agents/import": "migrate, bring memory along, mem0, chatgpt memory, CLAUDE.md, AGENTS.md",
};
