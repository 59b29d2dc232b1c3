/**
 * The samples of docs/CLUSTER.md, and a shell that runs them as they stand there against a server of the tests. Only
 * names change: the address of the database, and "sideband" as the name of a database and a role, because the
 * superuser of the tests' servers has that name.
 */

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { PostgresServer } from "../../bench/store/postgres-server.ts";
import { packageFolder } from "../agents/built.ts";
import { type Finished, makeHost } from "../agents/host.ts";

const GUIDE = readFileSync(join(packageFolder, "docs", "CLUSTER.md"), "utf8");
const PROGRAMS = fileURLToPath(new URL("./client-programs.mjs", import.meta.url));

export const GUIDE_SAMPLES = [...GUIDE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language, text]) => ({ language, text }),
);

/** The only sample of that language with these words. */
export function guideSample(language: string, words: string): string {
  const found = GUIDE_SAMPLES.filter((sample) => sample.language === language && sample.text.includes(words));
  if (found.length !== 1) throw new Error(`docs/CLUSTER.md: ${found.length} samples with "${words}"`);
  return found[0].text;
}

/** A sample with another name of the database and the role. */
export function renamed(sample: string, name: string): string {
  return sample.replace(/\b(UTF8|psql|ROLE|AUTHORIZATION) sideband\b/g, `$1 ${name}`);
}

/** Starts the node as the sample does, waits until it is ready, makes a key as the page says, and stops it. */
const SERVE = `: > said
sideband serve > said &
trap "kill $!" EXIT
until grep -q "listening on" said; do kill -0 $!; sleep 0.1; done
curl -s --fail --retry 30 --retry-delay 1 "$(sed -n 's/^listening on //p' said)/readyz"
sideband keys create --account acme
trap - EXIT
kill $!
wait $!
`;

export interface GuideShell {
  readonly home: string;
  /** Runs lines of a sample with this server as the one that createdb and psql find. */
  run(lines: string, server: PostgresServer, env?: Record<string, string>): Promise<Finished>;
}

export function guideShell(t: TestContext): GuideShell {
  const { home, shell } = makeHost(t);
  for (const program of ["createdb", "psql"]) {
    const path = join(home, "bin", program);
    writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAMS}" ${program} "$@"\n`);
    chmodSync(path, 0o755);
  }
  return {
    home,
    run: (lines, server, env = {}) =>
      shell(`set -e\n${lines.replace(/^sideband serve\n/m, SERVE)}`, {
        env: {
          PGHOST: "127.0.0.1",
          PGPORT: String(server.port),
          PGUSER: "sideband",
          SIDEBAND_PORT: "0",
          SIDEBAND_LOG_LEVEL: "fatal",
          ...env,
        },
      }),
  };
}
