-- The forms that the functions of migrations 0005 and 0009 have on a cluster; `sideband db distribute` and later migrations
-- put them in place. Citus runs INSERT … SELECT over many shards about twenty times as slowly as INSERT … VALUES, which is why the
-- rows become VALUES here, and what is looked for a list. One shard after the other, so that two nodes lock rows in the
-- same order.

CREATE OR REPLACE FUNCTION sideband.store_users(
  p_life integer, p_revision_floor bigint, p_slots integer[], p_accounts text[], p_users text[], p_taken integer[],
  p_channels bit(256)[], p_ending bit(256)[]
) RETURNS TABLE (slot integer, account text, user_id text, revision bigint, channels bit(256), ending bit(256))
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
  SELECT string_agg(format('(%s,%s,%s,%L,%L,%L::bit(256),%L::bit(256))', t.s, p_life, p_revision_floor + t.n, t.a, t.u,
    t.c, nullif(t.e, B'0'::bit(256))), ',' ORDER BY t.s, t.a COLLATE "C", t.u COLLATE "C") INTO v_rows
  FROM unnest(p_slots, p_accounts, p_users, p_taken, p_channels, p_ending) AS t (s, a, u, n, c, e)
  WHERE t.n IS NOT NULL;
  IF v_rows IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format(
    'INSERT INTO sideband.users AS u (slot, life, revision, account, user_id, channels, ending) VALUES %s '
    'ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = CASE WHEN excluded.revision = %s THEN u.revision '
    'ELSE greatest(u.revision, %s) + (excluded.revision - %s) END, '
    'channels = CASE WHEN excluded.ending IS NULL THEN u.channels | excluded.channels '
    'ELSE u.channels & ~excluded.ending | excluded.channels END, '
    'ending = CASE WHEN u.ending IS NULL THEN excluded.ending '
    'ELSE nullif(u.ending & ~excluded.channels | coalesce(excluded.ending, B''0''::bit(256)), B''0''::bit(256)) END '
    'RETURNING u.slot, u.account, u.user_id, u.revision, u.channels, u.ending',
    v_rows, p_revision_floor, p_revision_floor, p_revision_floor);
END
$$;

CREATE OR REPLACE FUNCTION sideband.find_facts(
  p_slots integer[], p_accounts text[], p_users text[], p_fact_users integer[], p_places text[], p_channels integer[]
) RETURNS TABLE (facts sideband.fact_state[], rows tid[])
LANGUAGE plpgsql AS $$
DECLARE
  v_found sideband.fact_state[] := '{}';
  v_fact sideband.fact_state;
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%L,%s)', p_slots[t.x], p_accounts[t.x], p_users[t.x], t.p, t.c), ',') INTO v_rows
  FROM unnest(p_fact_users, p_places, p_channels) AS t (x, p, c);
  IF v_rows IS NULL THEN
    RETURN;
  END IF;
  FOR v_fact IN EXECUTE format(
    'SELECT slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms, expires_at_ms, value, '
    'written_by, session_id FROM sideband.facts WHERE (slot, account, user_id, place, channel) IN (%s)', v_rows)
  LOOP
    v_found := v_found || v_fact;
  END LOOP;
  SELECT string_agg(format('(%s,%L,%L,%L,%s)', p_slots[t.x], p_accounts[t.x], p_users[t.x], t.p, t.c), ',') INTO v_rows
  FROM unnest(p_fact_users, p_places, p_channels) AS t (x, p, c)
  WHERE NOT EXISTS (SELECT FROM unnest(v_found) AS f WHERE f.slot = p_slots[t.x] AND f.account = p_accounts[t.x]
    AND f.user_id = p_users[t.x] AND f.place = t.p AND f.channel = t.c);
  IF v_rows IS NOT NULL THEN
    FOR v_fact IN EXECUTE format(
      'SELECT slot, account, user_id, place, channel, max(ordinal), NULL, NULL, NULL, NULL, NULL, NULL, NULL '
      'FROM sideband.history WHERE (slot, account, user_id, place, channel) IN (%s) '
      'GROUP BY slot, account, user_id, place, channel', v_rows)
    LOOP
      v_found := v_found || v_fact;
    END LOOP;
  END IF;
  RETURN QUERY
    SELECT array_agg(ROW(p_slots[t.x], p_accounts[t.x], p_users[t.x], t.p, t.c, coalesce(f.ordinal, 0), f.revision,
      f.updated_at_ms, f.since_ms, f.expires_at_ms, f.value, f.written_by, f.session_id)::sideband.fact_state
      ORDER BY t.i), NULL::tid[]
    FROM unnest(p_fact_users, p_places, p_channels) WITH ORDINALITY AS t (x, p, c, i)
    LEFT JOIN unnest(v_found) AS f ON f.slot = p_slots[t.x] AND f.account = p_accounts[t.x]
      AND f.user_id = p_users[t.x] AND f.place = t.p AND f.channel = t.c;
END
$$;

CREATE OR REPLACE FUNCTION sideband.store_facts(p_facts sideband.fact_state[], p_rows tid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%L,%s,%s,%s,%s,%s,%L,%L,%L,%L)', t.slot, t.account, t.user_id, t.place, t.channel,
    t.ordinal, t.revision, t.updated_at_ms, t.since_ms, t.expires_at_ms, t.value, t.written_by, t.session_id), ',')
    INTO v_rows FROM unnest(p_facts) AS t WHERE t.revision IS NOT NULL;
  IF v_rows IS NOT NULL THEN
    EXECUTE format(
      'INSERT INTO sideband.facts (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms, '
      'expires_at_ms, value, written_by, session_id) VALUES %s '
      'ON CONFLICT (slot, account, user_id, place, channel) DO UPDATE SET '
      'ordinal = excluded.ordinal, revision = excluded.revision, updated_at_ms = excluded.updated_at_ms, '
      'since_ms = excluded.since_ms, expires_at_ms = excluded.expires_at_ms, value = excluded.value, '
      'written_by = excluded.written_by, session_id = excluded.session_id, '
      'codebook_version = NULL, code_length = NULL, code_bytes = NULL', v_rows);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION sideband.remove_facts(p_facts sideband.fact_state[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%L,%s)', t.slot, t.account, t.user_id, t.place, t.channel), ',') INTO v_rows
  FROM unnest(p_facts) AS t;
  IF v_rows IS NOT NULL THEN
    EXECUTE format('DELETE FROM sideband.facts WHERE (slot, account, user_id, place, channel) IN (%s)', v_rows);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION sideband.store_history(
  p_facts sideband.fact_state[], p_ends text[], p_end_times bigint[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%L,%s,%s,%s,%s,%s,%L,%L,%L,%L,%s)', t.slot, t.account, t.user_id, t.place, t.channel,
    t.ordinal, t.revision, t.updated_at_ms, t.since_ms, t.value, t.written_by, t.session_id, t.e, t.m), ',') INTO v_rows
  FROM ROWS FROM (unnest(p_facts), unnest(p_ends), unnest(p_end_times)) AS t (slot, account, user_id, place, channel,
    ordinal, revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id, e, m);
  IF v_rows IS NOT NULL THEN
    EXECUTE format(
      'INSERT INTO sideband.history (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms, '
      'value, written_by, session_id, ended, ended_at_ms) VALUES %s', v_rows);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION sideband.remove_history(p_facts sideband.fact_state[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('slot = %s AND account = %L AND user_id = %L AND place = %L AND channel = %s AND ordinal < %s',
    t.slot, t.account, t.user_id, t.place, t.channel, t.ordinal), ' OR ') INTO v_rows
  FROM unnest(p_facts) AS t;
  IF v_rows IS NOT NULL THEN
    EXECUTE format('DELETE FROM sideband.history WHERE %s', v_rows);
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION sideband.count_channels(
  p_writes integer[], p_slots integer[], p_accounts text[], p_users text[], p_places text[], p_nows bigint[],
  p_told bit(256)[]
) RETURNS TABLE (write integer, channels integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_found sideband.fact_state[] := '{}';
  v_fact sideband.fact_state;
  v_rows text;
BEGIN
  SELECT string_agg(DISTINCT format('(%s,%L,%L,%L)', t.s, t.a, t.u, p.place), ',') INTO v_rows
  FROM unnest(p_slots, p_accounts, p_users, p_places) AS t (s, a, u, p), regexp_split_to_table(t.p, '\n') AS p (place);
  FOR v_fact IN EXECUTE format(
    'SELECT slot, account, user_id, place, channel, NULL, NULL, NULL, NULL, expires_at_ms, NULL, NULL, NULL '
    'FROM sideband.facts WHERE (slot, account, user_id, place) IN (%s)', v_rows)
  LOOP
    v_found := v_found || v_fact;
  END LOOP;
  RETURN QUERY
    SELECT t.w, coalesce(bit_count(coalesce(f.found | t.o, f.found, t.o)), 0)::integer
    FROM unnest(p_writes, p_slots, p_accounts, p_users, p_places, p_nows, p_told) AS t (w, s, a, u, p, m, o), LATERAL (
      SELECT bit_or(set_bit(B'0'::bit(256), f.channel, 1)) AS found FROM unnest(v_found) AS f
      WHERE f.slot = t.s AND f.account = t.a AND f.user_id = t.u AND f.place = ANY (regexp_split_to_array(t.p, '\n'))
        AND (f.expires_at_ms IS NULL OR f.expires_at_ms > t.m)
    ) AS f;
END
$$;

CREATE OR REPLACE FUNCTION sideband.count_days(p_slots integer[], p_keys text[], p_days text[], p_counts bigint[])
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%s)', t.s, t.y, t.d, t.c), ','
    ORDER BY t.s, t.y COLLATE "C", t.d COLLATE "C") INTO v_rows
  FROM unnest(p_slots, p_keys, p_days, p_counts) AS t (s, y, d, c);
  IF v_rows IS NOT NULL THEN
    EXECUTE format(
      'INSERT INTO sideband.day_counters AS c (slot, key_id, day, used) VALUES %s '
      'ON CONFLICT (slot, key_id, day) DO UPDATE SET used = c.used + excluded.used', v_rows);
  END IF;
END
$$;
