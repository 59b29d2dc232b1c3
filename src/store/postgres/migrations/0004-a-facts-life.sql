-- A fact's life (docs/decisions/0050): places, an end, a history and writers; labels of an account's own; keys for one
-- user. Programs before this one would take the facts of all places for those of one. They are refused at their start,
-- and what still runs fails: its functions are gone, and the column that its reads name has another name.

DROP FUNCTION sideband.write_facts;
DROP FUNCTION sideband.store_users;
DROP FUNCTION sideband.store_facts;
DROP FUNCTION sideband.save_codes;
DROP FUNCTION sideband.forget_facts;

ALTER TABLE sideband.users DROP COLUMN channels;
CREATE INDEX users_by_account ON sideband.users (account, user_id);

ALTER TABLE sideband.facts RENAME COLUMN code_version TO codebook_version;
ALTER TABLE sideband.facts DROP CONSTRAINT facts_pkey;
ALTER TABLE sideband.facts DROP CONSTRAINT facts_channel_check;
ALTER TABLE sideband.facts ADD CONSTRAINT facts_channel_check CHECK (channel BETWEEN 0 AND 255);
ALTER TABLE sideband.facts ADD COLUMN since_ms bigint;
ALTER TABLE sideband.facts ADD COLUMN expires_at_ms bigint;
ALTER TABLE sideband.facts ADD COLUMN ordinal integer NOT NULL DEFAULT 1;
ALTER TABLE sideband.facts ADD COLUMN place text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sideband.facts ADD COLUMN written_by text COLLATE "C";
ALTER TABLE sideband.facts ADD COLUMN session_id text COLLATE "C";
-- Writes the table once. An UPDATE would leave it twice as large.
ALTER TABLE sideband.facts ALTER COLUMN since_ms TYPE bigint USING updated_at_ms;
ALTER TABLE sideband.facts ALTER COLUMN since_ms SET NOT NULL;
ALTER TABLE sideband.facts ALTER COLUMN ordinal DROP DEFAULT;
ALTER TABLE sideband.facts ALTER COLUMN place DROP DEFAULT;

-- Our clients kept a person's facts of a project under the user PERSON/PROJECT. They move to the person, at that place,
-- with new revisions in the old order. The slot is that of cluster/placement.ts. The tables in between let a cluster
-- do it, too: there a row cannot change its slot.
CREATE TEMPORARY TABLE moved_facts ON COMMIT DROP AS
SELECT f.account, regexp_replace(f.user_id, '/[^/]*$', '') COLLATE "C" AS person,
  substring(f.user_id FROM '[^/]*$') COLLATE "C" AS place, f.channel, f.revision, f.updated_at_ms, f.value
FROM sideband.facts f
WHERE f.user_id ~ '^.+/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}$'
  AND f.user_id !~ '/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}/[^/]*$';

-- Above all that there are, and as in the batch function not below the clock.
CREATE TEMPORARY TABLE last_revision ON COMMIT DROP AS
SELECT greatest(max(u.revision), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS revision
FROM sideband.users u;

CREATE TEMPORARY TABLE moved_users ON COMMIT DROP AS
SELECT get_byte(p.hash, 0) % 4 * 256 + get_byte(p.hash, 1) AS slot, p.account, p.person, p.facts, l.revision
FROM last_revision l, (
  SELECT m.account, m.person, count(*) AS facts,
    sha256(convert_to('user', 'UTF8') || '\x00' || convert_to(m.account, 'UTF8') || '\x00' || convert_to(m.person, 'UTF8'))
      AS hash
  FROM moved_facts m GROUP BY m.account, m.person
) AS p;

DELETE FROM sideband.facts f
WHERE f.user_id ~ '^.+/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}$'
  AND f.user_id !~ '/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}/[^/]*$';
DELETE FROM sideband.users u
WHERE u.user_id ~ '^.+/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}$'
  AND u.user_id !~ '/[A-Za-z0-9_-]{0,40}-[0-9a-f]{12}/[^/]*$';

INSERT INTO sideband.users (slot, life, revision, account, user_id)
SELECT m.slot, floor(random() * 2147483647)::integer, m.revision + m.facts, m.account, m.person FROM moved_users m
ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = excluded.revision;

INSERT INTO sideband.facts (slot, account, user_id, place, channel, revision, updated_at_ms, since_ms, ordinal, value)
SELECT m.slot, f.account, f.person, f.place, f.channel,
  m.revision + row_number() OVER (PARTITION BY f.account, f.person ORDER BY f.revision, f.place),
  f.updated_at_ms, f.updated_at_ms, 1, f.value
FROM moved_facts f JOIN moved_users m ON m.account = f.account AND m.person = f.person;

-- With the end, so that counting a user's channels need not read the facts.
ALTER TABLE sideband.facts ADD CONSTRAINT facts_pkey
  PRIMARY KEY (slot, account, user_id, place, channel) INCLUDE (expires_at_ms);
CREATE INDEX facts_by_end ON sideband.facts (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- The values that facts had. Ordinals count the values of one label at one place.
CREATE TABLE sideband.history (
  slot integer NOT NULL,
  ordinal integer NOT NULL,
  revision bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  since_ms bigint NOT NULL,
  ended_at_ms bigint NOT NULL,
  channel smallint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  ended text COLLATE "C" NOT NULL,
  written_by text COLLATE "C",
  session_id text COLLATE "C",
  PRIMARY KEY (slot, account, user_id, place, channel, ordinal)
);

CREATE TABLE sideband.labels (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  channel smallint NOT NULL CHECK (channel BETWEEN 0 AND 255),
  hidden boolean NOT NULL,
  created_at_ms bigint NOT NULL,
  ttl_s bigint,
  max_bytes integer,
  account text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  description text COLLATE "C" NOT NULL,
  example text COLLATE "C" NOT NULL,
  -- The values as JSON.
  one_of text COLLATE "C",
  scope text COLLATE "C",
  PRIMARY KEY (slot, account, channel),
  UNIQUE (slot, account, label)
);

ALTER TABLE sideband.api_keys ADD COLUMN bound_user text COLLATE "C";
ALTER TABLE sideband.api_keys ADD COLUMN access text COLLATE "C" NOT NULL DEFAULT 'write';
ALTER TABLE sideband.replays ADD COLUMN revision bigint NOT NULL DEFAULT 0;
