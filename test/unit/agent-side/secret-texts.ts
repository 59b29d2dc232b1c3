/**
 * What the secret filter is measured with: 60 forms of real secrets, and 200 texts that a person might well ask to be
 * remembered; and lines as people and agents write them, in two files: a value, or a label, a tab and a value. They were
 * written apart from the filter. The secrets are forms: {a36} is 36 letters and digits, {h32} hexadecimal digits, {d9} decimal ones,
 * {b40} base64, {u58} capitals and digits. They are filled at random, so that nothing here is anybody's secret.
 */

import { readFileSync } from "node:fs";
import { seededRandom } from "../../../src/base/random.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const ALPHABETS: Readonly<Record<string, string>> = {
  a: `${LOWER}${LOWER.toUpperCase()}0123456789`,
  h: "0123456789abcdef",
  d: "0123456789",
  b: `${LOWER}${LOWER.toUpperCase()}0123456789+/`,
  u: `${LOWER.toUpperCase()}0123456789`,
};

/** The forms with random values in them. */
export function filledSecrets(seed: number): string[] {
  return filled(SECRET_FORMS, seed);
}

export interface WrittenLine {
  readonly label: string | undefined;
  readonly value: string;
}

/** What people and agents write: lines with a secret, and lines without one. */
export const secretLines = (seed: number) => writtenLines("secret-lines.txt", seed);
export const harmlessLines = () => writtenLines("harmless-lines.txt", 0);

function writtenLines(file: string, seed: number): WrittenLine[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  return filled(lines, seed).map((line) => {
    const [value, label] = line.split("\t").reverse();
    return { label, value };
  });
}

function filled(forms: readonly string[], seed: number): string[] {
  const random = seededRandom(seed);
  return forms.map((form) =>
    form.replace(/\{([ahdbu])(\d+)\}/g, (_, name: string, length: string) =>
      Array.from({ length: Number(length) }, () => {
        const alphabet = ALPHABETS[name];
        return alphabet[random.below(alphabet.length)];
      }).join(""),
    ),
  );
}

const SECRET_FORMS: readonly string[] = [
  "sk-{a48}",
  "sk-proj-{a40}",
  "sk-ant-api03-{a60}",
  "sk-or-v1-{h64}",
  "sb_live_{a36}",
  "sk_live_{a24}",
  "rk_test_{a24}",
  "whsec_{a32}",
  "gsk_{a52}",
  "xai-{a80}",
  "AKIA{u16}",
  "AWS_SECRET_ACCESS_KEY={b40}",
  "aws_secret_access_key = {b40}",
  "AIza{a35}",
  "ya29.{a60}",
  "GOCSPX-{a28}",
  "ghp_{a36}",
  "ghs_{a36}",
  "github_pat_{a22}_{a59}",
  "glpat-{a20}",
  "xoxb-{d12}-{d12}-{a24}",
  "xapp-1-{u11}-{d13}-{h64}",
  "https://hooks.slack.com/services/T{u9}/B{u9}/{a24}",
  "npm_{a36}",
  "pypi-AgEIcHlwaS5vcmc{a70}",
  "hf_{a34}",
  "hvs.{a24}",
  "dckr_pat_{a27}",
  "dop_v1_{h64}",
  "AGE-SECRET-KEY-1{u58}",
  "SG.{a22}.{a43}",
  "key-{h32}",
  "SK{h32}",
  "shpat_{h32}",
  "PMAK-{h24}-{h34}",
  "dapi{h32}",
  "glsa_{a32}_{h8}",
  "tskey-auth-{a12}CNTRL-{a32}",
  "pscale_tkn_{a43}",
  "r8_{a37}",
  "nvapi-{a64}",
  "{d10}:AA{a33}",
  "DefaultEndpointsProtocol=https;AccountName=loom;AccountKey={b86}==",
  "Endpoint=sb://loom.example/;SharedAccessKeyName=Root;SharedAccessKey={b43}=",
  "https://loom.example/blob?sv=2026-01-01&sig={a43}%3D",
  "eyJ{a17}.eyJ{a30}.{a43}",
  "Authorization: Bearer {a40}",
  "Authorization: Basic {b30}==",
  "postgres://ada:{a12}@db.example:5432/app",
  "-----BEGIN OPENSSH PRIVATE KEY----- {b40}",
  "DB_PASSWORD={a12}",
  "export PGPASSWORD='{a10}'",
  "MYSQL_PWD={a9}",
  'config has "password": "{a11}"',
  "db_password: {a10}7",
  "the password is {a8}4",
  "the password for the staging database is {a9}2",
  "mein Passwort lautet {a8}9",
  "GITLAB_TOKEN={a30}1",
  "machine db.example login ada password {a10}",
];

/** Texts without a secret, one on a line. */
export const HARMLESS_TEXTS: readonly string[] = `
Ada Lovelace
the password policy is strict
the password is rotated every month
uses a password manager
the password for production is rotated every 90 days
password reset mails go to ops@example.com
password: required on first login
Password: required
passwords must have at least 12 characters
the password is stored in 1Password
the password is SHA-256 hashed before it is stored
password hashes use argon2id with 64 MiB
password length is 16 to 64 characters
PGPASSWORD is read from the vault
DB_PASSWORD comes from the secret store
DB_PASSWORD=$VAULT_DB_PASSWORD
PASSWORD=\${DB_PASSWORD}
password=<your password>
password=***
API_KEY=xxxxxxxx
AWS_SECRET_ACCESS_KEY is set in CI only
set OPENAI_API_KEY before you start
API key: OPENAI_API_KEY in .env
API key: ask Grace
ask before you print an API key
the API key is stored in the keychain
api keys are rotated quarterly
access key rotation is on the first of the month
secret santa on 2026-12-20
the secret is consistency!
his secret: practise every day
secrets live in Vault, never in the repository
secret scanning is on for all repositories
client secret: see op://team/loom/oauth
token budget 200,000
max_tokens=4096
tokens per second: 85
tokens are kept in 1Password
the token bucket refills at 100 per second
token: the smallest unit of text
refresh tokens live for 30 days
session token lifetime is 15 minutes
bot token is in the keyring
bearer authentication is used everywhere
bearer tokens in headers, never in the query
basic understanding-of-distributed-systems
Basic internationalisation is done
JWT with RS256, 15 minutes
eyJ is how every JWT begins
prefers passphrases over passwords
passcode on the door changes weekly
PIN pad at the back door
pwd prints the working directory
pwd is /home/ada/loom
cd $(pwd) first
pass rate 98.5 %
tests pass = 412
first_pass=12ms
compass app for hikers
bypass the cache with no-store
https://github.com/ada/loom.git
git@github.com:ada/loom.git
ssh://git@example.com:2222/ada/loom.git
http://localhost:8787/docs
postgres://db.example:5432/app
postgres://ada@db.example/app
postgres://ada:$PGPASSWORD@db.example/app
redis://cache.example:6379/0
https://example.com/a:b@c
mailto:ada@example.com
https://example.com/?q=key:value&page=2
2f6c1d0e9b8a7f6c5d4e3f2a1b0c9d8e7f6a5b4c
9b255c4
commit 07f2d78 fixed it
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
md5 d41d8cd98f00b204e9800998ecf8427e
550e8400-e29b-41d4-a716-446655440000
order 550e8400-e29b-41d4-a716-446655440000 is late
01ARZ3NDEKTSV4RRFFQ69G5FAV
primary_key=550e8400-e29b-41d4-a716-446655440000
cache_key=user:1234:profile:v2
partition key: tenant_id
sort key: created_at
foreign key: orders.customer_id
public key: ssh-ed25519 in authorized_keys
the key is under the mat
key-value store with LMDB
key results for Q3: 40 % fewer pages
keys: ctrl+shift+p
/home/ada/loom/src/contract/secrets.ts
C:\\Users\\ada\\loom\\src
~/.ssh/id_ed25519 is the deploy key's path
/run/secrets/db_password
secrets/prod/db.yaml
~/.config/sideband/config.json
src/main/secrets.ts
gpt-4o-mini-2024-07-18
claude-3-5-sonnet-20241022
llama-3.1-405b-instruct-fp8
Qwen2.5-Coder-32B-Instruct-AWQ
mixtral-8x22b-instruct-v0.1
text-embedding-3-large
xai-org/grok-1
hf.co/meta-llama/Llama-3.1-8B
sk-learn 1.5 for the baselines
scikit-learn and sk-video
sk-internationalisation-team
pk of the table is (tenant, id)
rk4 integrator with step 0.01
gsk plc, London
hvs is the name of the host
whsec is checked by the webhook
npm_config_registry is unset
npm_lifecycle_event=test
hf_hub_download(repo_id="bert-base-uncased")
pypi-mirror.example.com
pypi-server on port 8080
dockerhub user adalovelace
ghp is short for GitHub Pages here
glpat tokens are per project
AKIA is the prefix of AWS key ids
AIza is the prefix of Google keys
SK Telecom, Seoul
key-performance-indicators
ya29 is no model
age: 36, London
DefaultEndpointsProtocol=https
AccountName=loom
shared access for the whole team
signing key lives in the HSM
encryption key: managed by KMS
master key rotation is yearly
private key: never leaves the YubiKey
private keys are encrypted at rest
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
ssh-ed25519 public keys only
+49 30 901820
+1 (415) 555-0132
0800 123 4567
call +44 20 7946 0958 after 9
4111 is the first group of a test card
DE89 is how German IBANs begin
192.168.178.24
fe80::1ff:fe23:4567:890a
2001:db8::8a2e:370:7334
00:1B:44:11:3A:B7
2026-11-16T14:05:39Z
1763301939123
v1.23.4-beta.5+build.678
node 20.19, npm 10.8
RTX 5090, driver 575.57
CUDA 12.8 on Debian 13
0x7ffee4c0a8d0
#ff8800 on #101418
U+202E is a direction override
PROJ-1234, PROJ-1235
JIRA LOOM-482: token refresh fails
ISBN 978-3-16-148410-0
DOI 10.1145/3292500.3330701
arXiv:1706.03762
RFC 9457 problem details
ISO27001 audit in May
GDPR: delete after 30 days
S3 bucket loom-artifacts-eu-central-1
arn:aws:s3:::loom-artifacts
projects/loom-prod-4711/secrets/db
registry.example.com/loom/api:1.4.2
ghcr.io/ada/loom@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
docker run -u 1000:1000 loom
curl -u needs a user, ask ops
mysql -u root on the socket
psql -h db.example -U ada
sshpass is not installed
TypeScript, strict; no default exports
List<string> over string[]
a < b && c > d
C++ -> Rust by summer
Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz
pneumonoultramicroscopicsilicovolcanoconiosis
Donaudampfschifffahrtsgesellschaftskapitän
YWJj is abc in base64
dGVzdA== is the test fixture
lorem-ipsum-dolor-sit-amet-consectetur
ThisIsTheNameOfAVeryLongClassInJava
this_is_the_name_of_a_very_long_function_in_c
NEXT_PUBLIC_FEATURE_FLAGS=a,b,c
NODE_ENV=production
RUST_BACKTRACE=1
LD_LIBRARY_PATH=/usr/local/cuda/lib64
AUTH_MODE=oidc
AUTH_URL=https://id.example.com
login: ada
login page is slow on Safari
user: ada, role: admin
das Passwort ist im Tresor
das Kennwort wird monatlich geändert
le mot de passe est dans le coffre
パスワードは金庫にある
she said the magic word is please
`
  .trim()
  .split("\n");
