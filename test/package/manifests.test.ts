/** What registries and hosts are told about the package agrees with the package: names, versions, variables, tools. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { zip } from "../../scripts/zip.ts";
import { MEMORY_TOOLS } from "../../src/agent-side/memory-tools.ts";
import { AGENT_SETTINGS, SETTINGS } from "../../src/settings.ts";
import { packageFolder } from "../agents/built.ts";
import { fieldsOf } from "../fixtures/fields.ts";

const read = (path: string) => JSON.parse(readFileSync(join(packageFolder, path), "utf8"));
const manifest = read("package.json");

test("server.json has the package's name and version, and describes every variable of the agent's side", () => {
  const server = read("server.json");
  assert.equal(server.name, manifest.mcpName);
  assert.equal(server.version, manifest.version);
  // By the registry's schema: a name in reverse-DNS form, and texts of at most 100 characters.
  assert.match(server.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  for (const text of [server.title, server.description]) assert.ok(text.length >= 1 && text.length <= 100);
  // A name of the domains that are reserved for examples (RFC 2606) cannot be somebody else's, and the file says so.
  const note = server._meta["io.modelcontextprotocol.registry/publisher-provided"]?.note ?? "";
  assert.equal(/placeholder/.test(note), server.name.startsWith("com.example/"));
  const [entry, ...others] = server.packages;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [entry.registryType, entry.identifier, entry.version],
    ["npm", manifest.name, manifest.version],
  );
  assert.deepEqual(entry.transport, { type: "stdio" });
  assert.deepEqual(fieldsOf(entry.packageArguments, "value"), ["mcp"]);
  const described = Object.fromEntries(
    entry.environmentVariables.map(({ name, description }: Record<string, string>) => [name, description]),
  );
  assert.deepEqual(described, { ...AGENT_SETTINGS, SIDEBAND_DATA: SETTINGS.SIDEBAND_DATA.meaning });
  const secret = entry.environmentVariables.filter(({ isSecret }: { isSecret?: boolean }) => isSecret);
  assert.deepEqual(fieldsOf(secret, "name"), ["SIDEBAND_API_KEY"]);
});

test("the bundle's manifest starts the package's command, with variables and tools that there are", () => {
  const bundle = read("agents/claude-desktop/manifest.json");
  assert.deepEqual([bundle.name, bundle.version], [manifest.name, manifest.version]);
  assert.equal(bundle.license, manifest.license);
  assert.equal(bundle.compatibility.runtimes.node, manifest.engines.node);
  const { entry_point, mcp_config } = bundle.server;
  assert.equal(entry_point, manifest.bin.sideband);
  assert.deepEqual(mcp_config.args, [`\${__dirname}/${entry_point}`, "mcp"]);
  for (const [name, value] of Object.entries<string>(mcp_config.env)) {
    assert.ok(name in AGENT_SETTINGS, name);
    const [, field] = /^\$\{user_config\.(\w+)\}$/.exec(value) ?? [];
    // Without a default, a host leaves the words of the manifest in the variable.
    assert.equal(bundle.user_config[field].default, "");
  }
  assert.equal(Object.keys(bundle.user_config).length, Object.keys(mcp_config.env).length);
  assert.equal(bundle.user_config.api_key.sensitive, true);
  const known = MEMORY_TOOLS.map(({ name }) => name as string);
  for (const { name } of bundle.tools) assert.ok(known.includes(name), name);
});

test("the files for agents have the package's version", () => {
  for (const path of [
    "agents/claude-code/sideband/.claude-plugin/plugin.json",
    "agents/gemini-cli/gemini-extension.json",
    "agents/openclaw/plugin/package.json",
  ])
    assert.equal(read(path).version, manifest.version, path);
});

test("a ZIP archive gives its files back, by its directory", () => {
  const files = [
    { name: "manifest.json", bytes: Buffer.from("{}"), mode: 0o644 },
    { name: "bin/näme.js", bytes: Buffer.from("x".repeat(100_000)), mode: 0o755 },
    { name: "empty", bytes: Buffer.alloc(0), mode: 0o644 },
  ];
  const archive = Buffer.from(zip(files));
  const end = archive.length - 22;
  assert.equal(archive.readUInt32LE(end), 0x06054b50);
  assert.equal(archive.readUInt16LE(end + 10), files.length);
  let at = archive.readUInt32LE(end + 16);
  for (const { name, bytes, mode } of files) {
    assert.equal(archive.readUInt32LE(at), 0x02014b50);
    const [packed, length, nameLength] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt32LE(at + 24),
      archive.readUInt16LE(at + 28),
    ];
    assert.equal(archive.toString("utf8", at + 46, at + 46 + nameLength), name);
    assert.equal((archive.readUInt32LE(at + 38) >>> 16) & 0o777, mode);
    const local = archive.readUInt32LE(at + 42);
    assert.equal(archive.readUInt32LE(local), 0x04034b50);
    const data = local + 30 + nameLength;
    const found = inflateRawSync(archive.subarray(data, data + packed));
    assert.ok(found.equals(bytes) && found.length === length, name);
    at += 46 + nameLength;
  }
  assert.equal(at, end);
});
