-- The batch function: any number of writes in, one row out for each, in their order. Three sets of arrays: users
-- (each once), writes, facts. A write names its user by its place among the users, a fact its write by its place
-- among the writes; quota and replay columns are NULL where a write has none. Each write is stored whole or not.
--
-- Locks are taken in one order by every caller: replay records, month counters, users, day counters, each sorted.
-- So two nodes wait for one another but never in a circle. `p_ticket` comes back in every row: it tells the caller
-- that the answer is its own.
--
-- The three functions before it store its rows. On a cluster they have another form (cluster.sql). No array element
-- is assigned in an UPDATE: some releases of Citus crash on that.

CREATE FUNCTION sideband.store_users(
  p_life integer, p_revision_floor bigint,
  p_slots integer[], p_accounts text[], p_users text[], p_facts integer[], p_masks bigint[]
) RETURNS TABLE (slot integer, account text, user_id text, revision bigint, channels bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    INSERT INTO sideband.users AS u (slot, life, revision, channels, account, user_id)
    SELECT t.s, p_life, p_revision_floor + t.f, t.m, t.a, t.u
    FROM unnest(p_slots, p_accounts, p_users, p_facts, p_masks) AS t (s, a, u, f, m)
    WHERE t.f > 0 ORDER BY t.s, t.a COLLATE "C", t.u COLLATE "C"
    ON CONFLICT (slot, account, user_id) DO UPDATE SET
      revision = greatest(u.revision + (excluded.revision - p_revision_floor), excluded.revision),
      channels = u.channels | excluded.channels
    RETURNING u.slot, u.account, u.user_id, u.revision, u.channels;
END
$$;

CREATE FUNCTION sideband.store_facts(
  p_slots integer[], p_accounts text[], p_users text[], p_channels integer[], p_revisions bigint[], p_times bigint[],
  p_values text[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sideband.facts (slot, account, user_id, channel, revision, updated_at_ms, value)
  SELECT * FROM unnest(p_slots, p_accounts, p_users, p_channels, p_revisions, p_times, p_values)
  ON CONFLICT (slot, account, user_id, channel) DO UPDATE SET
    revision = excluded.revision, updated_at_ms = excluded.updated_at_ms, value = excluded.value,
    code_version = NULL, code_length = NULL, code_bytes = NULL;
END
$$;

CREATE FUNCTION sideband.count_days(p_slots integer[], p_keys text[], p_days text[], p_counts bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sideband.day_counters AS c (slot, key_id, day, used)
  SELECT * FROM unnest(p_slots, p_keys, p_days, p_counts) AS t (s, y, d, c)
  ORDER BY t.s, t.y COLLATE "C", t.d COLLATE "C"
  ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used;
END
$$;

CREATE FUNCTION sideband.write_facts(
  p_slots integer[], p_accounts text[], p_users text[],
  p_user_places integer[], p_counts integer[], p_masks bigint[], p_nows bigint[],
  p_quota_slots integer[], p_quota_keys text[], p_months text[], p_days text[], p_limits bigint[],
  p_replay_slots integer[], p_replay_owners text[], p_replay_keys text[], p_fingerprints bytea[], p_expiries bigint[],
  p_write_places integer[], p_channels integer[], p_values text[], p_times bigint[],
  p_ticket bigint
) RETURNS TABLE (ticket bigint, ordinal bigint, outcome text, channel_count integer, quota_used bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- Of each write.
  v_outcomes text[] := array_fill(NULL::text, ARRAY[cardinality(p_counts)]);
  v_channel_counts integer[] := array_fill(0, ARRAY[cardinality(p_counts)]);
  v_used bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_counts)]);
  -- Of each user: facts to be written, their channels, the user's last revision and channels afterwards.
  v_facts integer[] := array_fill(0, ARRAY[cardinality(p_slots)]);
  v_masks bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_slots)]);
  v_revisions bigint[];
  v_channels bigint[];
  -- Revisions grow with time, so that one is never used again, not even after a user was forgotten.
  v_revision_floor bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  v_life integer := floor(random() * 2147483647)::integer;
  v_replay record;
  v_group record;
  v_count bigint;
  v_expiry bigint;
  v_fingerprint bytea;
  v_channel_count integer;
  v_user integer;
  i integer;
BEGIN
  -- An answer means "on disk", also where the server was told to be quick.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  -- 1. Idempotency keys: the first to insert one goes on; the others see what was answered.
  FOR i IN
    SELECT t.i::integer FROM unnest(p_replay_slots, p_replay_owners, p_replay_keys) WITH ORDINALITY AS t (s, o, y, i)
    WHERE t.s IS NOT NULL ORDER BY t.s, t.o COLLATE "C", t.y COLLATE "C"
  LOOP
    LOOP
      INSERT INTO sideband.replays (slot, channel_count, expires_at_ms, key_id, idempotency_key, fingerprint)
      VALUES (p_replay_slots[i], 0, p_expiries[i], p_replay_owners[i], p_replay_keys[i], p_fingerprints[i])
      ON CONFLICT (slot, key_id, idempotency_key) DO NOTHING;
      EXIT WHEN FOUND;
      SELECT r.fingerprint, r.channel_count, r.expires_at_ms INTO v_replay FROM sideband.replays r
      WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i]
      FOR UPDATE;
      -- Swept away between the two statements: once more.
      CONTINUE WHEN NOT FOUND;
      IF v_replay.expires_at_ms <= p_nows[i] THEN
        v_expiry := p_expiries[i];
        v_fingerprint := p_fingerprints[i];
        UPDATE sideband.replays r SET expires_at_ms = v_expiry, fingerprint = v_fingerprint
        WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i];
      ELSIF v_replay.fingerprint = p_fingerprints[i] THEN
        v_outcomes[i] := 'replayed';
        v_channel_counts[i] := v_replay.channel_count;
      ELSE
        v_outcomes[i] := 'mismatch';
      END IF;
      EXIT;
    END LOOP;
  END LOOP;

  -- 2. Monthly limits: one row for each limited key, locked until the commit; so the count is exact on all nodes.
  FOR v_group IN
    SELECT t.s, t.y, t.m, array_agg(t.i::integer ORDER BY t.i) AS members
    FROM unnest(p_quota_slots, p_quota_keys, p_months, p_limits) WITH ORDINALITY AS t (s, y, m, l, i)
    WHERE t.l IS NOT NULL GROUP BY t.s, t.y, t.m ORDER BY t.s, t.y COLLATE "C", t.m COLLATE "C"
  LOOP
    LOOP
      SELECT c.used INTO v_count FROM sideband.month_counters c
      WHERE c.slot = v_group.s AND c.key_id = v_group.y AND c.month = v_group.m FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO sideband.month_counters (slot, used, key_id, month) VALUES (v_group.s, 0, v_group.y, v_group.m)
      ON CONFLICT (slot, key_id, month) DO NOTHING;
    END LOOP;
    FOREACH i IN ARRAY v_group.members LOOP
      IF v_outcomes[i] IS NULL THEN
        IF v_count + p_counts[i] <= p_limits[i] THEN
          v_count := v_count + p_counts[i];
        ELSE
          v_outcomes[i] := 'limit';
        END IF;
      END IF;
      v_used[i] := v_count;
    END LOOP;
    UPDATE sideband.month_counters c SET used = v_count
    WHERE c.slot = v_group.s AND c.key_id = v_group.y AND c.month = v_group.m AND c.used <> v_count;
  END LOOP;

  -- 3. What is left is stored: first the users, then their facts. Nobody waits long for a user that somebody else has
  -- locked: the caller tries again with fewer users.
  PERFORM set_config('lock_timeout', '100ms', true);
  FOR i IN 1 .. cardinality(p_counts) LOOP
    IF v_outcomes[i] IS NULL THEN
      v_outcomes[i] := 'stored';
      v_user := p_user_places[i];
      v_facts[v_user] := v_facts[v_user] + p_counts[i];
      v_masks[v_user] := v_masks[v_user] | p_masks[i];
    END IF;
  END LOOP;
  SELECT array_agg(w.revision ORDER BY t.i), array_agg(w.channels ORDER BY t.i) INTO v_revisions, v_channels
  FROM unnest(p_slots, p_accounts, p_users) WITH ORDINALITY AS t (s, a, u, i)
  LEFT JOIN sideband.store_users(v_life, v_revision_floor, p_slots, p_accounts, p_users, v_facts, v_masks) AS w
    ON w.slot = t.s AND w.account = t.a AND w.user_id = t.u;

  -- In the order in which they came; of two for one channel the later counts.
  PERFORM sideband.store_facts(
    array_agg(p_slots[t.p]), array_agg(p_accounts[t.p]), array_agg(p_users[t.p]),
    array_agg(t.c), array_agg(t.r), array_agg(t.t), array_agg(t.v))
  FROM (
    SELECT p.p, p.c, p.v, p.t, p.o,
      v_revisions[p.p] - v_facts[p.p] + row_number() OVER (PARTITION BY p.p ORDER BY p.o) AS r,
      max(p.o) OVER (PARTITION BY p.p, p.c) AS last
    FROM (
      SELECT p_user_places[q.w] AS p, q.c, q.v, q.t, q.o
      FROM unnest(p_write_places, p_channels, p_values, p_times) WITH ORDINALITY AS q (w, c, v, t, o)
      WHERE v_outcomes[q.w] = 'stored'
    ) AS p
  ) AS t
  WHERE t.o = t.last;
  FOR i IN 1 .. cardinality(p_counts) LOOP
    IF v_outcomes[i] = 'stored' THEN
      v_channel_counts[i] := bit_count(v_channels[p_user_places[i]]::bit(64));
    END IF;
  END LOOP;

  -- 4. Encodes by day.
  PERFORM sideband.count_days(array_agg(d.s), array_agg(d.y), array_agg(d.d), array_agg(d.c))
  FROM (
    SELECT t.s, t.y, t.d, sum(t.c) AS c
    FROM unnest(p_quota_slots, p_quota_keys, p_days, p_counts, v_outcomes) AS t (s, y, d, c, o)
    WHERE t.s IS NOT NULL AND t.o = 'stored' GROUP BY t.s, t.y, t.d
  ) AS d;

  -- 5. What an idempotency key answers from now on. A refusal is not kept.
  FOR i IN
    SELECT t.i::integer FROM unnest(p_replay_slots, v_outcomes) WITH ORDINALITY AS t (s, o, i)
    WHERE t.s IS NOT NULL AND t.o IN ('stored', 'limit')
  LOOP
    IF v_outcomes[i] = 'stored' THEN
      v_channel_count := v_channel_counts[i];
      UPDATE sideband.replays r SET channel_count = v_channel_count
      WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i];
    ELSE
      DELETE FROM sideband.replays r
      WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i];
    END IF;
  END LOOP;

  RETURN QUERY SELECT p_ticket, t.i, t.o, t.c, t.u
    FROM unnest(v_outcomes, v_channel_counts, v_used) WITH ORDINALITY AS t (o, c, u, i) ORDER BY t.i;
END
$$;
