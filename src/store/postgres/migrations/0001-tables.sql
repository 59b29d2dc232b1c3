-- The tables. Every one is led by `slot`, a number from 0 to 1023 made of a hash: of the account and the user
-- for what belongs to a user, of the API key for its limited counter, of the API key and the idempotency key for
-- a replay record. What is the operator's (accounts, keys, labels, requests) is small and stands in slot 0. A cluster
-- spreads users, facts and history over its machines by their slots; one machine does not mind.
-- Texts compare byte by byte (collation "C"). Times are milliseconds since 1970, UTC.

-- Facts at all places, and labels that have a history and no fact: a user without either is removed. The first revision of
-- a life grows with time, so that one is never used again, not even after a user was forgotten. `numbers`: the last
-- number that one of the person's free labels was given.
CREATE TABLE sideband.users (
  slot integer NOT NULL,
  facts integer NOT NULL DEFAULT 0,
  heads integer NOT NULL DEFAULT 0,
  numbers integer NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, account, user_id)
) WITH (fillfactor = 70);

CREATE INDEX users_by_account ON sideband.users (account, user_id);

CREATE TABLE sideband.facts (
  slot integer NOT NULL,
  codebook_version smallint,
  revision bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  since_ms bigint NOT NULL,
  expires_at_ms bigint,
  code_length integer,
  ordinal integer NOT NULL,
  -- That of its label, where it is a free one.
  number integer,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  written_by text COLLATE "C",
  session_id text COLLATE "C",
  origin text COLLATE "C",
  pinned boolean,
  -- Of a shared project's: who wrote the value.
  author text COLLATE "C",
  code_bytes bytea,
  -- What an embedding model has made of it.
  vector bytea,
  PRIMARY KEY (slot, account, user_id, place, label)
) WITH (fillfactor = 90);

CREATE INDEX facts_by_end ON sideband.facts (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- The values that facts had. Ordinals count the values of one label at one place.
CREATE TABLE sideband.history (
  slot integer NOT NULL,
  ordinal integer NOT NULL,
  revision bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  since_ms bigint NOT NULL,
  ended_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  ended text COLLATE "C" NOT NULL,
  written_by text COLLATE "C",
  session_id text COLLATE "C",
  origin text COLLATE "C",
  pinned boolean,
  author text COLLATE "C",
  -- As JSON: what its label was until then, where what ended the value has changed that; who ended it, in a shared project.
  ending text COLLATE "C",
  PRIMARY KEY (slot, account, user_id, place, label, ordinal)
);

-- Labels that persons have made by writing them. `uses`: places where it has a fact or a history; without one it is removed.
CREATE TABLE sideband.free_labels (
  slot integer NOT NULL,
  number integer NOT NULL,
  uses integer NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  label text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  PRIMARY KEY (slot, account, user_id, label)
);

-- The exact count of a key with a monthly limit: the row that its writes of all nodes wait for.
CREATE TABLE sideband.month_counters (
  slot integer NOT NULL,
  used bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  month text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, key_id, month)
) WITH (fillfactor = 50);

-- Encodes by day. A key without a limit counts in the slot of the user that it writes for, so that no row is
-- touched by all its writes; readers add the slots up.
CREATE TABLE sideband.day_counters (
  slot integer NOT NULL,
  used bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  day text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, key_id, day)
) WITH (fillfactor = 50);

CREATE INDEX day_counters_by_key ON sideband.day_counters (key_id, day);

-- What requests with an Idempotency-Key were answered.
CREATE TABLE sideband.replays (
  slot integer NOT NULL,
  channel_count integer NOT NULL,
  expires_at_ms bigint NOT NULL,
  revision bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  PRIMARY KEY (slot, key_id, idempotency_key)
) WITH (fillfactor = 70);

CREATE INDEX replays_by_expiry ON sideband.replays (expires_at_ms);

-- The part of an answer that the request does not say, as JSON; there may be values in it. It goes when it expires, or
-- when something of its user is forgotten: the person, or the hidden user of a shared project. It belongs to the replay
-- record of the same revision.
CREATE TABLE sideband.answers (
  slot integer NOT NULL,
  revision bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  answer text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, key_id, idempotency_key, user_id)
);

CREATE INDEX answers_by_user ON sideband.answers (account, user_id);
CREATE INDEX answers_by_expiry ON sideband.answers (expires_at_ms);

-- The accounts that somebody listens to, on any node, or did so until an hour ago. Another log: events in between were not
-- recorded. Up to number `first` events may be missing.
CREATE TABLE sideband.event_logs (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  first bigint NOT NULL,
  until_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, account)
);

-- Never a value. Without a label: everything at the place, and inside it, was forgotten.
CREATE TABLE sideband.events (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  number bigint NOT NULL,
  revision bigint NOT NULL,
  at_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  label text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  written_by text COLLATE "C",
  PRIMARY KEY (slot, account, number)
);

CREATE INDEX events_by_time ON sideband.events (at_ms);
CREATE INDEX events_of_forgotten ON sideband.events (at_ms) WHERE label IS NULL;

CREATE TABLE sideband.accounts (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
  -- Encodes a month of all its keys together.
  monthly_limit bigint,
  account text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, account)
);

CREATE TABLE sideband.api_keys (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  last_used_at_ms bigint,
  id text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  tier text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  note text COLLATE "C" NOT NULL,
  bound_user text COLLATE "C",
  access text COLLATE "C" NOT NULL,
  groups text COLLATE "C",
  write_labels text COLLATE "C",
  -- What a person has allowed an application, as JSON.
  grant_terms text COLLATE "C",
  PRIMARY KEY (slot, id),
  UNIQUE (slot, hash)
);

CREATE TABLE sideband.labels (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  channel smallint NOT NULL CHECK (channel BETWEEN 0 AND 255),
  hidden boolean NOT NULL,
  -- Of a removed label the row is left: its channel is given to no other.
  removed boolean NOT NULL DEFAULT false,
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
  writers text COLLATE "C",
  created_by text COLLATE "C",
  created_key text COLLATE "C",
  PRIMARY KEY (slot, account, channel),
  UNIQUE (slot, account, label)
);

-- Projects that are shared, and by whom: what is shared is the memory of a hidden user.
CREATE TABLE sideband.projects (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  access text COLLATE "C" NOT NULL,
  -- The user_ids as JSON; null: all of the account.
  members text COLLATE "C",
  PRIMARY KEY (slot, account, project)
);

CREATE TABLE sideband.key_requests (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
  decided_at_ms bigint,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  tier text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  key_id text COLLATE "C",
  PRIMARY KEY (slot, id)
);

CREATE TABLE sideband.operators (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  access text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, name)
);

-- Who has changed what, and when: an entry is stored in the transaction of its change. Its persons are hashes; the names to them
-- are apart, and go when the person is erased.
CREATE TABLE sideband.audit (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  at_ms bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  account text COLLATE "C",
  operation text COLLATE "C" NOT NULL,
  entry text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, at_ms, id)
);

CREATE TABLE sideband.audit_names (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  last_at_ms bigint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, hash)
);
CREATE INDEX audit_names_by_name ON sideband.audit_names (slot, account, name);

-- Small facts about the whole service: how often keys have changed, which master key the blocks are under. `events`: the
-- number of the last event. Whoever records one locks its row until the commit, so that events can be read in the order
-- of their numbers, and none appears behind one that was read.
CREATE TABLE sideband.settings (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, name)
);

INSERT INTO sideband.settings (slot, name, value) VALUES (0, 'keys-version', '1'), (0, 'events', '0');

-- Nodes write here to find out whether the database can be written to.
CREATE TABLE sideband.probes (
  slot integer PRIMARY KEY,
  written_at_ms bigint NOT NULL
);
