-- The tables. Every one is led by `slot`, a number from 0 to 1023 made of a hash: of the account and the user
-- for what belongs to a user, of the API key for its limited counter, of the API key and the idempotency key for
-- a replay record. What is the operator's (accounts, keys, requests) is small and stands in slot 0. A cluster
-- spreads users and facts over its machines by their slots; one machine does not mind.
-- Texts compare byte by byte (collation "C"). Times are milliseconds since 1970, UTC.

CREATE TABLE sideband.users (
  slot integer NOT NULL,
  -- Random for each life of a user, so that no stamp comes back after forgetting.
  life integer NOT NULL,
  revision bigint NOT NULL,
  -- Bit c is set where channel c holds a fact.
  channels bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, account, user_id)
) WITH (fillfactor = 85);

CREATE TABLE sideband.facts (
  slot integer NOT NULL,
  channel smallint NOT NULL CHECK (channel BETWEEN 0 AND 39),
  code_version smallint,
  revision bigint NOT NULL,
  updated_at_ms bigint NOT NULL,
  code_length integer,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  code_bytes bytea,
  PRIMARY KEY (slot, account, user_id, channel)
) WITH (fillfactor = 90);

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

CREATE TABLE sideband.replays (
  slot integer NOT NULL,
  channel_count integer NOT NULL,
  expires_at_ms bigint NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  PRIMARY KEY (slot, key_id, idempotency_key)
);

CREATE INDEX replays_by_expiry ON sideband.replays (expires_at_ms);

CREATE TABLE sideband.accounts (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  created_at_ms bigint NOT NULL,
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
  PRIMARY KEY (slot, id),
  UNIQUE (slot, hash)
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

-- Small facts about the whole service: how often keys have changed, which master key the blocks are under.
CREATE TABLE sideband.settings (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, name)
);

INSERT INTO sideband.settings (slot, name, value) VALUES (0, 'keys-version', '1');

-- Nodes write here to find out whether the database can be written to.
CREATE TABLE sideband.probes (
  slot integer PRIMARY KEY,
  written_at_ms bigint NOT NULL
);
