/**
 * The house rules as data: which files a rule is about, what it finds in one of them, and what to do about it.
 * test/tidy/tidy.test.ts applies them to the repository. A new rule is a new entry here with an example of its
 * breach in that test.
 */

import { importFaults } from "./imports.ts";

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Rule {
  readonly name: string;
  readonly applies: RegExp;
  readonly except?: RegExp;
  readonly find: (file: SourceFile) => string[];
  readonly remedy: string;
}

const LINES_MAX = 450;
const HEADER_LINES_MAX = 12;
const CODE = /^(src|test|bench|bin|scripts)\/.*\.(ts|tsx|mts|js|mjs|sql|css)$/;
/** Data that no one reads line by line. */
const DATA = /^(src\/codec\/alphabet-data\.ts$|test\/vectors\/)|\.generated\./;

/** A token, a hash, a MAC or the like beside === or !==, but not against a literal; or beside .equals(…). */
const SECRET = String.raw`\b\w*(?:[tT]oken|[hH]ash|[mM]ac|[dD]igest|[fF]ingerprint)(?:\([^()]*\))?`;
const SECRETS_COMPARED = new RegExp(
  String.raw`(?<!typeof )${SECRET}(?:\.equals\(|\s*[!=]==(?!\s*(?:undefined|null|"|\d)))|[!=]==\s*[\w.#]*${SECRET}`,
  "g",
);

/** The files at the root, and those that agents copy. A profile, a log or a trial that lies there is a leftover. */
const KNOWN_FILES: ReadonlySet<string> = new Set([
  ...[".dockerignore", ".gitattributes", ".gitignore", ".npmrc", "Dockerfile", "LICENSE"],
  ...["AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"],
  ...[
    "biome.json",
    "package.json",
    "package-lock.json",
    "server.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "tsconfig.indexed.json",
  ],
  "agents/claude-code/.claude-plugin/marketplace.json",
  "agents/claude-code/sideband/.claude-plugin/plugin.json",
  "agents/claude-code/sideband/.mcp.json",
  "agents/claude-code/sideband/README.md",
  "agents/claude-code/sideband/hooks/hooks.json",
  "agents/claude-code/sideband/skills/memory/SKILL.md",
  "agents/claude-desktop/manifest.json",
  ...["agents/codex/config.toml", "agents/codex/hooks.json"],
  ...["agents/gemini-cli/gemini-extension.json", "agents/gemini-cli/hooks/hooks.json"],
  "agents/hermes/sideband/__init__.py",
  ...["agents/hermes/sideband/plugin.yaml", "agents/hermes/sideband/secrets.json"],
  ...["agents/openclaw/plugin/index.js", "agents/openclaw/plugin/openclaw.plugin.json"],
  ...["agents/openclaw/plugin/package.json", "agents/openclaw/skill/SKILL.md"],
  ...["agents/opencode/sideband.js", "agents/vscode/sideband.json"],
]);

export const RULES: readonly Rule[] = [
  {
    name: "import table",
    applies: /^(src|bench)\/.*\.m?[jt]sx?$/,
    find: importFaults,
    remedy:
      "Move the code to the layer it belongs to, or hand the thing in (test/tidy/imports.ts has the table).",
  },
  {
    name: "known file",
    applies: /^(agents\/.*|[^/]+)$/,
    // A worktree has a file of that name.
    except: /^\.git$|(^|\/)\.DS_Store$/,
    find: ({ path }) => (KNOWN_FILES.has(path) ? [] : ["not in the list"]),
    remedy:
      "Remove it, put it into the folder that it belongs to, or add it to KNOWN_FILES (test/tidy/rules.ts).",
  },
  {
    name: "file name",
    applies: /^(src|test|bench|bin|scripts)\//,
    find: ({ path }) => path.split("/").filter((part) => !/^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(part)),
    remedy: "Name files and folders in kebab-case.",
  },
  {
    name: "catch-all name",
    applies: /^(src|test|bench|bin|scripts)\//,
    find: ({ path }) => path.split("/").filter((part) => /^(utils?|helpers?|common|misc)(\.|$)/.test(part)),
    remedy: "Name the file by the noun of the domain that it is about.",
  },
  {
    name: "file length",
    applies: CODE,
    except: DATA,
    find: ({ text }) => {
      const lines = text.trimEnd().split("\n").length;
      return lines > LINES_MAX ? [`${lines} lines`] : [];
    },
    remedy: `Split it by subject: a file has at most ${LINES_MAX} lines, and 80 to 250 read best.`,
  },
  {
    name: "leftover",
    applies: new RegExp(`${CODE.source}|^python/.*\\.py$`),
    except: DATA,
    find: matches(/\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/g),
    remedy: "Do it now, or open an issue and take the note out.",
  },
  {
    name: "skipped or lone test",
    applies: /^test\/.*\.m?[jt]sx?$/,
    find: matches(
      /\b(?:test|it|describe|suite)\.(?:skip|only|todo)\b|[{,]\s*(?:(?:skip|todo):(?!\s*false)|only:(?!\s*(?:false|")))/g,
    ),
    remedy: "Every test runs, always: mend it or take it out.",
  },
  {
    name: "header comment",
    applies: /^src\/.*\.(ts|tsx|mts|js|mjs|sql|css)$/,
    find: ({ path, text }) => {
      if (path.endsWith(".sql")) return text.startsWith("--") ? [] : ["none"];
      const header = /^(?:#!.*\n)?\/\*[\s\S]*?\*\//.exec(text)?.[0];
      if (header === undefined) return ["none"];
      const lines = header.split("\n").filter((line) => /\w/.test(line)).length;
      return lines > HEADER_LINES_MAX ? [`${lines} lines`] : [];
    },
    remedy: `Open the file with a comment of 2 to ${HEADER_LINES_MAX} lines: what it is, how it works, where from.`,
  },
  {
    name: "default export",
    applies: /^(src|test|bench|bin|scripts)\/.*\.m?[jt]sx?$/,
    find: matches(/^export default\b|^export \{[^}]*\bas default\b/gm),
    remedy: "Export by name, so that a thing has one name everywhere.",
  },
  {
    name: "passed on",
    applies: /^src\/.*\.tsx?$/,
    // What packages export, the kernel's module, and a default that the CLI shows.
    except: /^src\/((sdk|block)\/index|agents\/tools|reader\/assembly\/kernel|main\/database-upkeep)\.ts$/,
    find: matches(/^export (?:\*|\{[^}]*\})/gm),
    remedy:
      "Import it from the file that declares it; if the import table forbids that, it is in the wrong room.",
  },
  {
    name: "environment",
    applies: /^(src|bin)\/.*\.m?[jt]sx?$/,
    // The samples of the API reference are text that others run.
    except: /^src\/(config|sdk\/checked-options|web\/reference\/request-samples)\.ts$/,
    find: matches(
      /\bprocess\s*(?:\?)?(?:\.\s*|\[\s*["'])env\b|\bimport\.meta\.env\b|\benv\b[^;]*from "node:process"/g,
    ),
    remedy:
      "Read it in src/config.ts (a client's defaults in src/sdk/checked-options.ts) and pass the value by argument.",
  },
  {
    name: "value now or later",
    applies: /^src\/.*\.tsx?$/,
    // Where an answer at once saves a promise: the way of a request, and the reads that it waits for. And where one would
    // come too late: what was changed is told in the order of its commit.
    except:
      /^src\/(base\/maybe-promise|http\/request\/(dispatcher|route)|http\/access\/access|http\/routes\/recall|memory\/(authentication|blocks|context|decode|group-view|labels|local-events|ports|records|shared-projects|shared-reads))\.ts$/,
    find: matches(/\bMaybePromise\b|maybe-promise\.ts/g),
    remedy: "Use a promise: MaybePromise stays in the dispatcher, access, recall and the store's reads.",
  },
  {
    name: "data of all languages",
    applies: /^src\/.*\.ts$/,
    except: /^src\/web\//,
    find: matches(/\.toLocale\w+\(|\bIntl\./g),
    remedy: "Write it out (base/limits.ts): the first call loads that data, for which a start would wait.",
  },
  {
    name: "secret comparison",
    applies: /^src\/.*\.ts$/,
    find: matches(SECRETS_COMPARED),
    remedy: "Compare with timingSafeEqual: the time of any other comparison tells how much is right.",
  },
  {
    name: "browser storage",
    applies: /^src\/web\//,
    // The page's half of a session, worth nothing without its cookie.
    except: /^src\/web\/api\/admin\.ts$/,
    find: matches(/\b(?:localStorage|sessionStorage|indexedDB|cookieStore|document\.cookie)\b/g),
    remedy: "Keep it in the page's memory: a key that is stored outlives its page.",
  },
  {
    name: "link from the root",
    applies: /^docs\/.*\.md$/,
    find: matches(/\]\(\/[^)]*\)/g),
    remedy: "Link to a file beside this one: a page of the website is not there in the repository.",
  },
  {
    name: "lock file",
    applies: /(^|\/)package-lock\.json$/,
    find: matches(/"resolved":\s*"[^"]*"/g),
    remedy: "Run npm install with the repository's .npmrc, which keeps download addresses out.",
  },
];

/** What a rule finds wrong in a file, as lines that name file, rule and remedy. */
export function faultsOf(rule: Rule, file: SourceFile): string[] {
  if (!rule.applies.test(file.path) || rule.except?.test(file.path)) return [];
  return rule.find(file).map((found) => `${file.path}: ${rule.name}: ${found}. ${rule.remedy}`);
}

/** Every runtime dependency has a page in docs/decisions that names it. */
export function undecidedDependencies(manifest: string, decisions: readonly SourceFile[]): string[] {
  const { dependencies = {} } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  return Object.keys(dependencies)
    .filter((name) => !decisions.some(({ text }) => text.includes(`\`${name}\``)))
    .map(
      (name) =>
        `package.json: undecided dependency: ${name}. Write docs/decisions/NNNN-….md that names \`${name}\`.`,
    );
}

const STATUS = /^- Status: (accepted|withdrawn|superseded by \[\d{4}\])/m;

/**
 * Every page in docs/decisions has a status, a date and the next number, "superseded by" links to a page that exists, and
 * the index links to every page.
 */
export function decisionFaults(files: readonly SourceFile[]): string[] {
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const pages = files.filter(({ path }) => /^\d{4}-/.test(nameOf(path)));
  const names = pages.map(({ path }) => nameOf(path));
  const index = files.find(({ path }) => nameOf(path) === "README.md")?.text ?? "";
  const numbers = names.map((name) => Number(name.slice(0, 4)));
  return pages.flatMap(({ path, text }, i) => {
    const faults: string[] = [];
    if (i > 0 && numbers[i] !== numbers[i - 1] + 1) faults.push("its number does not follow the one before");
    if (!STATUS.test(text))
      faults.push('no line "- Status: accepted", "- Status: withdrawn" or "superseded by […](…)"');
    if (!/^- Date: \d{4}-\d{2}-\d{2}$/m.test(text)) faults.push('no line "- Date: YYYY-MM-DD"');
    for (const [, number, page] of text.matchAll(/superseded by (?:\[(\d{4})\]\(([^)]*)\))?/g)) {
      if (page === undefined) faults.push('"superseded by" without a link');
      else if (!names.includes(page) || !page.startsWith(number))
        faults.push(`superseded by ${page}, which is no page`);
    }
    if (!index.includes(`](${nameOf(path)})`)) faults.push("not in docs/decisions/README.md");
    return faults.map((fault) => `${path}: decision page: ${fault}`);
  });
}

function matches(pattern: RegExp): (file: SourceFile) => string[] {
  return ({ text }) =>
    [...text.matchAll(pattern)].map(
      (match) => `"${match[0].trim()}" in line ${text.slice(0, match.index).split("\n").length}`,
    );
}
