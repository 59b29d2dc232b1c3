/**
 * The metadata documents of applications that many people use, as their makers published them in autumn 2026. They
 * stand in where the document itself cannot be fetched: a service without a way out, or a maker's server that is away.
 */

export interface KnownClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const LOOPBACK_CALLBACKS = ["http://localhost/callback", "http://127.0.0.1/callback"];

export const KNOWN_CLIENTS: Readonly<Record<string, KnownClient>> = {
  "https://claude.ai/oauth/mcp-oauth-client-metadata": {
    name: "Claude",
    redirectUris: ["https://claude.ai/api/mcp/auth_callback"],
  },
  "https://claude.ai/oauth/claude-code-client-metadata": {
    name: "Claude Code",
    redirectUris: LOOPBACK_CALLBACKS,
  },
  "https://chatgpt.com/oauth/client.json": {
    name: "ChatGPT",
    redirectUris: ["https://chatgpt.com/connector_platform_oauth_redirect"],
  },
  "https://chatgpt.com/oauth/codex/client.json": {
    name: "Codex",
    redirectUris: LOOPBACK_CALLBACKS,
  },
  "https://vscode.dev/oauth/client-metadata.json": {
    name: "Visual Studio Code",
    redirectUris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
  },
  "https://zed.dev/oauth/client-metadata.json": {
    name: "Zed",
    redirectUris: ["http://127.0.0.1/callback"],
  },
  "https://opencode.ai/oauth/opencode/client.json": {
    name: "opencode",
    redirectUris: LOOPBACK_CALLBACKS,
  },
};
