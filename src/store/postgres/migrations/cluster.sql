-- The forms that the storing functions of the batch function have on a cluster; `sideband db distribute` puts them in
-- place. Citus runs INSERT … SELECT over many shards about twenty times as slowly as INSERT … VALUES, which is why the
-- rows become VALUES here. One shard after the other, so that two nodes lock rows in the same order.

CREATE OR REPLACE FUNCTION sideband.store_users(
  p_life integer, p_revision_floor bigint,
  p_slots integer[], p_accounts text[], p_users text[], p_facts integer[], p_masks bigint[]
) RETURNS TABLE (slot integer, account text, user_id text, revision bigint, channels bigint)
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
  SELECT string_agg(format('(%s,%s,%s,%s,%L,%L)', t.s, p_life, p_revision_floor + t.f, t.m, t.a, t.u), ','
    ORDER BY t.s, t.a COLLATE "C", t.u COLLATE "C") INTO v_rows
  FROM unnest(p_slots, p_accounts, p_users, p_facts, p_masks) AS t (s, a, u, f, m) WHERE t.f > 0;
  IF v_rows IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format(
    'INSERT INTO sideband.users AS u (slot, life, revision, channels, account, user_id) VALUES %s '
    'ON CONFLICT (slot, account, user_id) DO UPDATE SET '
    'revision = greatest(u.revision + (excluded.revision - %s), excluded.revision), '
    'channels = u.channels | excluded.channels '
    'RETURNING u.slot, u.account, u.user_id, u.revision, u.channels', v_rows, p_revision_floor);
END
$$;

CREATE OR REPLACE FUNCTION sideband.store_facts(
  p_slots integer[], p_accounts text[], p_users text[], p_channels integer[], p_revisions bigint[], p_times bigint[],
  p_values text[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_rows text;
BEGIN
  SELECT string_agg(format('(%s,%L,%L,%s,%s,%s,%L)', t.s, t.a, t.u, t.c, t.r, t.t, t.v), ',') INTO v_rows
  FROM unnest(p_slots, p_accounts, p_users, p_channels, p_revisions, p_times, p_values) AS t (s, a, u, c, r, t, v);
  IF v_rows IS NOT NULL THEN
    EXECUTE format(
      'INSERT INTO sideband.facts (slot, account, user_id, channel, revision, updated_at_ms, value) VALUES %s '
      'ON CONFLICT (slot, account, user_id, channel) DO UPDATE SET '
      'revision = excluded.revision, updated_at_ms = excluded.updated_at_ms, value = excluded.value, '
      'code_version = NULL, code_length = NULL, code_bytes = NULL', v_rows);
  END IF;
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
