-- The batch function: any number of writes in, a row out for each of their changes, those of a write in order. Four sets of arrays: users
-- (each once), facts (each place and channel of a user that is changed, once), writes, and changes with those of one
-- write together. A write names its user, a change its fact, by its number; quota and replay columns are NULL where a
-- write has none. Each write is stored whole or not, as if they came one after the other (docs/decisions/0050); only
-- the counts of channels are those after all of them.
--
-- Locks are taken in one order by every caller: replay records, month counters, users, day counters, each sorted.
-- So two nodes wait for one another but never in a circle. `p_ticket` comes back in every row: it tells the caller
-- that the answer is its own. No array element is assigned in an UPDATE: some releases of Citus crash on that.
-- works with: 7

CREATE OR REPLACE FUNCTION sideband.write_facts(
  p_slots integer[], p_accounts text[], p_users text[],
  p_fact_users integer[], p_fact_places text[], p_fact_channels integer[],
  -- Of a write: its user, how many changes, how many of them are values, 1 where it is nothing but values; the places
  -- whose channels it counts, one in a line.
  p_write_users integer[], p_sizes integer[], p_counts integer[], p_plain integer[], p_places text[], p_nows bigint[],
  p_writers text[], p_sessions text[],
  p_quota_slots integer[], p_quota_keys text[], p_months text[], p_days text[], p_limits bigint[],
  p_replay_slots integer[], p_replay_owners text[], p_replay_keys text[], p_fingerprints bytea[], p_expiries bigint[],
  p_change_writes integer[], p_change_facts integer[], p_values text[], p_times bigint[], p_ordinals integer[],
  p_ends bigint[], p_keeps integer[], p_conditions bigint[],
  p_history_max integer, p_ticket bigint
) RETURNS TABLE (
  ticket bigint, write bigint, outcome text, channel_count integer, quota_used bigint, user_revision bigint,
  forgotten integer, conflict integer, place text, channel integer, ordinal integer, revision bigint,
  updated_at_ms bigint, since_ms bigint, expires_at_ms bigint, value text, written_by text, session_id text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  -- Of each write.
  v_outcomes text[] := array_fill(NULL::text, ARRAY[cardinality(p_sizes)]);
  v_channel_counts integer[] := array_fill(0, ARRAY[cardinality(p_sizes)]);
  v_used bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_sizes)]);
  v_user_revisions bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_sizes)]);
  v_forgotten integer[] := array_fill(0, ARRAY[cardinality(p_sizes)]);
  v_conflicts integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_sizes)]);
  -- The month counter of a write with a limit; of each counter one of its writes, and what is used.
  v_counters integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_sizes)]);
  v_counter_writes integer[] := '{}';
  v_counts bigint[] := '{}';
  -- Of each user: how many revisions the writes take, NULL where there is none to store; whether that is certain before
  -- the facts are known; the revision that was found, and the last one.
  v_taken integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_slots)]);
  v_certain boolean[] := array_fill(true, ARRAY[cardinality(p_slots)]);
  v_found bigint[];
  v_revisions bigint[];
  -- Of each user: the channels of the person's own place (0009). Before the users are locked, those that are written.
  v_channels bit(256)[] := array_fill(B'0'::bit(256), ARRAY[cardinality(p_slots)]);
  v_ending bit(256)[] := array_fill(NULL::bit(256), ARRAY[cardinality(p_slots)]);
  -- Of each fact: as it was, and the row that it is in; as it is, below which ordinal its history goes, and the last
  -- change with which its history was forgotten.
  v_stored sideband.fact_state[];
  v_rows tid[];
  v_facts sideband.fact_state[];
  v_floors integer[] := array_fill(0, ARRAY[cardinality(p_fact_users)]);
  v_wiped integer[] := array_fill(NULL::integer, ARRAY[cardinality(p_fact_users)]);
  -- Of each change: the fact that was there before, expired or not, and how it ended if it becomes history.
  v_previous sideband.fact_state[] := array_fill(NULL::sideband.fact_state, ARRAY[cardinality(p_change_facts)]);
  v_endings text[] := array_fill(NULL::text, ARRAY[cardinality(p_change_facts)]);
  -- What is removed and shortened in the end.
  v_removed sideband.fact_state[] := '{}';
  v_shortened sideband.fact_state[] := '{}';
  -- The writes whose channels are counted by looking at the facts.
  v_looked integer[] := '{}';
  -- Revisions grow with time, so that one is never used again, not even after a user was forgotten.
  v_revision_floor bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  v_life integer := floor(random() * 2147483647)::integer;
  v_old sideband.fact_state;
  v_new sideband.fact_state;
  v_is_live boolean;
  v_is_same boolean;
  v_value text;
  v_ended text;
  v_ordinal integer;
  v_revision bigint;
  v_replay record;
  v_group record;
  v_count bigint;
  v_sum bigint;
  v_now bigint;
  v_expiry bigint;
  v_fingerprint bytea;
  v_channel_count integer;
  v_user integer;
  v_slot integer;
  v_own bit(256);
  v_own_ending bit(256);
  v_last integer := 0;
  i integer;
  f integer;
BEGIN
  -- An answer means "on disk", also where the server was told to be quick.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  -- A plan that was made while a table was small stays in use when it has grown.
  PERFORM set_config('enable_seqscan', 'off', true);

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
      SELECT r.fingerprint, r.channel_count, r.revision, r.expires_at_ms INTO v_replay FROM sideband.replays r
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
        v_user_revisions[i] := v_replay.revision;
      ELSE
        v_outcomes[i] := 'mismatch';
      END IF;
      EXIT;
    END LOOP;
  END LOOP;

  -- 2. Monthly limits: one row for each limited key, locked until the commit; so the count is exact on all nodes.
  FOR v_group IN
    SELECT t.s, t.y, t.m, array_agg(t.i::integer ORDER BY t.i) AS members, min(t.l) AS limit, sum(t.c) AS counts
    FROM unnest(p_quota_slots, p_quota_keys, p_months, p_limits, p_counts) WITH ORDINALITY AS t (s, y, m, l, c, i)
    WHERE t.l IS NOT NULL GROUP BY t.s, t.y, t.m ORDER BY t.s, t.y COLLATE "C", t.m COLLATE "C"
  LOOP
    LOOP
      SELECT c.used INTO v_count FROM sideband.month_counters c
      WHERE c.slot = v_group.s AND c.key_id = v_group.y AND c.month = v_group.m FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO sideband.month_counters (slot, used, key_id, month) VALUES (v_group.s, 0, v_group.y, v_group.m)
      ON CONFLICT (slot, key_id, month) DO NOTHING;
    END LOOP;
    v_counts := v_counts || v_count;
    v_counter_writes := v_counter_writes || v_group.members[1];
    v_sum := v_count;
    FOREACH i IN ARRAY v_group.members LOOP
      v_counters[i] := cardinality(v_counts);
      CONTINUE WHEN v_count + v_group.counts <= v_group.limit;
      -- Refused whatever the others do. The rest is certain only if there is room for all.
      IF v_outcomes[i] IS NULL AND p_counts[i] > 0 AND v_count + p_counts[i] > p_limits[i] THEN
        v_outcomes[i] := 'limit';
      ELSIF v_outcomes[i] IS NULL THEN
        v_sum := v_sum + p_counts[i];
        IF v_sum > p_limits[i] THEN
          p_plain[i] := 0;
        END IF;
      END IF;
    END LOOP;
  END LOOP;

  -- 3. The users. Nobody waits long for a user that somebody else has locked: the caller tries again with fewer users.
  PERFORM set_config('lock_timeout', '100ms', true);
  FOR i IN 1 .. cardinality(p_sizes) LOOP
    v_last := v_last + p_sizes[i];
    CONTINUE WHEN v_outcomes[i] IS NOT NULL;
    v_user := p_write_users[i];
    v_taken[v_user] := coalesce(v_taken[v_user], 0) + p_counts[i];
    v_certain[v_user] := v_certain[v_user] AND p_plain[i] = 1;
    FOR c IN v_last - p_sizes[i] + 1 .. v_last LOOP
      f := p_change_facts[c];
      CONTINUE WHEN p_fact_places[f] <> '';
      IF p_ends[c] IS NULL AND v_ending[v_user] IS NULL THEN
        v_channels[v_user] := set_bit(v_channels[v_user], p_fact_channels[f], 1);
      ELSE
        v_channels[v_user] := set_bit(v_channels[v_user], p_fact_channels[f], (p_ends[c] IS NULL)::integer);
        v_ending[v_user] := set_bit(coalesce(v_ending[v_user], B'0'::bit(256)), p_fact_channels[f],
          (p_ends[c] IS NOT NULL)::integer);
      END IF;
    END LOOP;
  END LOOP;
  FOR i IN 1 .. cardinality(p_slots) LOOP
    IF NOT v_certain[i] THEN
      v_taken[i] := 0;
      v_channels[i] := B'0'::bit(256);
      v_ending[i] := NULL;
    END IF;
  END LOOP;
  SELECT array_agg(w.revision), array_agg(w.before), array_agg(w.channels), array_agg(w.ending)
  INTO v_found, v_revisions, v_channels, v_ending
  FROM (
    SELECT w.revision, CASE WHEN t.c THEN w.revision - t.n ELSE greatest(w.revision, v_revision_floor) END AS before,
      w.channels, w.ending
    FROM unnest(p_slots, p_accounts, p_users, v_taken, v_certain) WITH ORDINALITY AS t (s, a, u, n, c, i)
    LEFT JOIN sideband.store_users(v_life, v_revision_floor, p_slots, p_accounts, p_users, v_taken, v_channels, v_ending)
      AS w ON w.slot = t.s AND w.account = t.a AND w.user_id = t.u
    ORDER BY t.i
  ) AS w;
  SELECT t.facts, t.facts, t.rows INTO v_stored, v_facts, v_rows
  FROM sideband.find_facts(p_slots, p_accounts, p_users, p_fact_users, p_fact_places, p_fact_channels) AS t;

  -- 4. One write after the other, one change after the other.
  v_last := 0;
  FOR i IN 1 .. cardinality(p_sizes) LOOP
    v_last := v_last + p_sizes[i];
    IF v_counters[i] IS NOT NULL THEN
      v_used[i] := v_counts[v_counters[i]];
    END IF;
    CONTINUE WHEN v_outcomes[i] IS NOT NULL;
    IF p_counts[i] > 0 AND v_used[i] + p_counts[i] > p_limits[i] THEN
      v_outcomes[i] := 'limit';
      CONTINUE;
    END IF;
    v_now := p_nows[i];
    FOR c IN v_last - p_sizes[i] + 1 .. CASE p_plain[i] WHEN 1 THEN 0 ELSE v_last END LOOP
      CONTINUE WHEN p_conditions[c] IS NULL;
      v_old := v_facts[p_change_facts[c]];
      IF v_old.expires_at_ms <= v_now THEN
        v_old.revision := NULL;
      END IF;
      IF coalesce(v_old.revision, 0) <> p_conditions[c] THEN
        v_outcomes[i] := 'conflict';
        v_conflicts[i] := c - (v_last - p_sizes[i] + 1);
        v_previous[c] := v_old;
        EXIT;
      END IF;
    END LOOP;
    CONTINUE WHEN v_outcomes[i] IS NOT NULL;

    v_outcomes[i] := 'stored';
    v_user := p_write_users[i];
    v_revision := v_revisions[v_user];
    FOR c IN v_last - p_sizes[i] + 1 .. v_last LOOP
      f := p_change_facts[c];
      v_old := v_facts[f];
      v_value := p_values[c];
      v_ended := CASE WHEN v_old.revision IS NULL THEN NULL WHEN v_old.expires_at_ms <= v_now THEN 'expired'
        WHEN v_old.value <> v_value THEN 'replaced' WHEN v_value IS NULL AND p_keeps[c] = 1 THEN 'forgotten' END;
      IF v_old.revision IS NOT NULL THEN
        v_previous[c] := v_old;
        v_endings[c] := v_ended;
      END IF;
      v_ordinal := v_old.ordinal;
      -- Where no history is kept, the end of a fact is the end of its ordinals.
      IF p_history_max = 0 AND v_ended <> 'replaced' THEN
        v_ordinal := 0;
        v_wiped[f] := c;
      END IF;
      IF v_value IS NOT NULL THEN
        v_revision := v_revision + 1;
        v_is_same := v_old.revision IS NOT NULL AND v_ended IS NULL;
        -- A clock may have been set back meanwhile.
        v_facts[f] := ROW(v_old.slot, v_old.account, v_old.user_id, v_old.place, v_old.channel,
          CASE WHEN v_is_same THEN v_ordinal ELSE greatest(v_ordinal + 1, p_ordinals[c]) END, v_revision, p_times[c],
          CASE WHEN v_is_same THEN least(v_old.since_ms, p_times[c]) ELSE p_times[c] END, p_ends[c], v_value,
          CASE WHEN v_is_same THEN v_old.written_by ELSE p_writers[i] END,
          CASE WHEN v_is_same THEN v_old.session_id ELSE p_sessions[i] END)::sideband.fact_state;
      ELSE
        v_is_live := v_old.revision IS NOT NULL AND v_ended IS DISTINCT FROM 'expired';
        IF v_is_live OR v_ended IS NOT NULL OR p_keeps[c] = 0 AND v_ordinal > 0 THEN
          v_revision := v_revision + 1;
        END IF;
        IF v_is_live OR p_keeps[c] = 0 AND v_ordinal > 0 THEN
          v_forgotten[i] := v_forgotten[i] + 1;
        END IF;
        IF p_keeps[c] = 0 THEN
          v_ordinal := 0;
          v_wiped[f] := c;
        END IF;
        v_old.revision := NULL;
        v_old.expires_at_ms := NULL;
        v_old.ordinal := v_ordinal;
        v_facts[f] := v_old;
      END IF;
    END LOOP;
    v_user_revisions[i] := v_revision;
    -- Nothing has changed: the revision that was there, or none of a user that was not.
    IF v_revision = greatest(v_found[v_user], v_revision_floor) AND NOT v_certain[v_user] THEN
      v_user_revisions[i] := CASE v_found[v_user] WHEN v_revision_floor THEN 0 ELSE v_found[v_user] END;
    END IF;
    v_revisions[v_user] := v_revision;
    IF v_counters[i] IS NOT NULL THEN
      v_used[i] := v_used[i] + p_counts[i];
      v_counts[v_counters[i]] := v_used[i];
    END IF;
  END LOOP;

  -- 5. What has come of it is stored.
  FOR f IN 1 .. cardinality(p_fact_users) LOOP
    v_old := v_stored[f];
    v_new := v_facts[f];
    IF v_new.revision IS NOT DISTINCT FROM v_old.revision AND v_new.ordinal = v_old.ordinal THEN
      v_facts[f] := NULL;
      CONTINUE;
    END IF;
    IF v_new.revision IS NULL AND v_old.revision IS NOT NULL THEN
      v_removed := v_removed || v_old;
    END IF;
    v_user := p_fact_users[f];
    IF NOT v_certain[v_user] AND p_fact_places[f] = '' THEN
      v_channels[v_user] := set_bit(v_channels[v_user], p_fact_channels[f],
        (v_new.revision IS NOT NULL AND v_new.expires_at_ms IS NULL)::integer);
      v_ending[v_user] := nullif(set_bit(coalesce(v_ending[v_user], B'0'::bit(256)), p_fact_channels[f],
        (v_new.revision IS NOT NULL AND v_new.expires_at_ms IS NOT NULL)::integer), B'0'::bit(256));
    END IF;
    v_floors[f] := v_new.ordinal - p_history_max + CASE WHEN v_new.revision IS NULL THEN 1 ELSE 0 END;
    IF v_wiped[f] IS NOT NULL THEN
      v_old.ordinal := 2147483647;
      v_shortened := v_shortened || v_old;
    -- With every fourth value: it costs less than with each, and readers leave out what is too old.
    ELSIF v_floors[f] > 1 AND (v_new.ordinal / 4 > v_old.ordinal / 4 OR v_new.revision IS NULL) THEN
      v_old.ordinal := v_floors[f];
      v_shortened := v_shortened || v_old;
    END IF;
  END LOOP;
  IF v_removed <> '{}' THEN
    PERFORM sideband.remove_facts(v_removed);
  END IF;
  IF v_shortened <> '{}' THEN
    PERFORM sideband.remove_history(v_shortened);
  END IF;
  IF p_history_max > 0 THEN
    PERFORM sideband.store_history(array_agg(v_previous[t.c]), array_agg(t.e), array_agg(CASE t.e
      WHEN 'expired' THEN (v_previous[t.c]).expires_at_ms WHEN 'replaced' THEN t.m ELSE p_nows[t.w] END))
    FROM unnest(v_endings, p_change_facts, p_change_writes, p_times) WITH ORDINALITY AS t (e, f, w, m, c)
    WHERE t.e IS NOT NULL AND (v_previous[t.c]).ordinal >= v_floors[t.f] AND t.c > coalesce(v_wiped[t.f], 0)
    HAVING count(*) > 0;
  END IF;
  PERFORM sideband.store_facts(v_facts, v_rows);

  -- The users of whom more is known now than when they were locked.
  IF false = ANY (v_certain) THEN
    FOR i IN 1 .. cardinality(p_slots) LOOP
      CONTINUE WHEN v_certain[i];
      v_slot := p_slots[i];
      v_revision := v_revisions[i];
      v_own := v_channels[i];
      v_own_ending := v_ending[i];
      UPDATE sideband.users u SET revision = v_revision, channels = v_own, ending = v_own_ending
      WHERE u.slot = v_slot AND u.account = p_accounts[i] AND u.user_id = p_users[i]
        AND v_revision > greatest(u.revision, v_revision_floor);
      PERFORM sideband.remove_if_empty(p_accounts[i], p_users[i], v_slot);
    END LOOP;
  END IF;

  -- 6. What was counted: encodes by month and by day, the channels of each write.
  FOR i IN 1 .. cardinality(v_counts) LOOP
    v_count := v_counts[i];
    v_user := v_counter_writes[i];
    UPDATE sideband.month_counters c SET used = v_count
    WHERE c.slot = p_quota_slots[v_user] AND c.key_id = p_quota_keys[v_user] AND c.month = p_months[v_user]
      AND c.used <> v_count;
  END LOOP;
  PERFORM sideband.count_days(array_agg(d.s), array_agg(d.y), array_agg(d.d), array_agg(d.c))
  FROM (
    SELECT t.s, t.y, t.d, sum(t.c) AS c
    FROM unnest(p_quota_slots, p_quota_keys, p_days, p_counts, v_outcomes) AS t (s, y, d, c, o)
    WHERE t.s IS NOT NULL AND t.c > 0 AND t.o = 'stored' GROUP BY t.s, t.y, t.d
  ) AS d;
  FOR i IN 1 .. cardinality(p_sizes) LOOP
    CONTINUE WHEN v_outcomes[i] <> 'stored';
    IF p_places[i] = '' AND v_ending[p_write_users[i]] IS NULL THEN
      v_channel_counts[i] := bit_count(v_channels[p_write_users[i]]);
    ELSIF p_places[i] IS NOT NULL THEN
      v_looked := v_looked || i;
    END IF;
  END LOOP;
  IF v_looked <> '{}' THEN
    FOR v_group IN
      SELECT c.write, c.channels
      FROM (
        SELECT array_agg(t.i) AS w, array_agg(p_slots[t.x]) AS s, array_agg(p_accounts[t.x]) AS a,
          array_agg(p_users[t.x]) AS u, array_agg(CASE WHEN t.o IS NULL THEN t.p ELSE substr(t.p, 2) END) AS p,
          array_agg(p_nows[t.i]) AS m, array_agg(t.o) AS o
        FROM (
          SELECT t.i, p_write_users[t.i] AS x, p_places[t.i] AS p, CASE
            WHEN starts_with(p_places[t.i], E'\n') AND v_ending[p_write_users[t.i]] IS NULL
            THEN v_channels[p_write_users[t.i]] END AS o
          FROM unnest(v_looked) AS t (i)
        ) AS t
      ) AS t, sideband.count_channels(t.w, t.s, t.a, t.u, t.p, t.m, t.o) AS c
    LOOP
      v_channel_counts[v_group.write] := v_group.channels;
    END LOOP;
  END IF;

  -- 7. What an idempotency key answers from now on. A refusal is not kept.
  FOR i IN
    SELECT t.i::integer FROM unnest(p_replay_slots, v_outcomes) WITH ORDINALITY AS t (s, o, i)
    WHERE t.s IS NOT NULL AND t.o IN ('stored', 'limit', 'conflict')
  LOOP
    IF v_outcomes[i] = 'stored' THEN
      v_channel_count := v_channel_counts[i];
      v_revision := v_user_revisions[i];
      UPDATE sideband.replays r SET channel_count = v_channel_count, revision = v_revision
      WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i];
    ELSE
      DELETE FROM sideband.replays r
      WHERE r.slot = p_replay_slots[i] AND r.key_id = p_replay_owners[i] AND r.idempotency_key = p_replay_keys[i];
    END IF;
  END LOOP;

  RETURN QUERY
    SELECT p_ticket, c.w::bigint, v_outcomes[c.w], v_channel_counts[c.w], v_used[c.w], v_user_revisions[c.w],
      v_forgotten[c.w], v_conflicts[c.w], c.place, c.channel, c.ordinal,
      CASE WHEN c.e = 'expired' THEN NULL ELSE c.revision END, c.updated_at_ms, c.since_ms, c.expires_at_ms, c.value,
      c.written_by, c.session_id
    FROM ROWS FROM (unnest(p_change_writes), unnest(v_endings), unnest(v_previous)) AS c (w, e, slot, account, user_id,
      place, channel, ordinal, revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id);
  IF 0 = ANY (p_sizes) THEN
    RETURN QUERY
      SELECT p_ticket, t.i, v_outcomes[t.i], v_channel_counts[t.i], v_used[t.i], v_user_revisions[t.i], 0, NULL::integer,
        p.place, p.channel, p.ordinal, p.revision, p.updated_at_ms, p.since_ms, p.expires_at_ms, p.value, p.written_by,
        p.session_id
      FROM unnest(p_sizes) WITH ORDINALITY AS t (n, i), unnest(ARRAY[NULL::sideband.fact_state]) AS p
      WHERE t.n = 0;
  END IF;
END
$$;
