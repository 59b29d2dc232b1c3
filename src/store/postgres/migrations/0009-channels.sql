-- The channels of a person's own place, with the user: a write tells how many there are without looking at the facts.
-- Programs before this one call the same functions with the same arguments, and so keep them right.
-- works with: 7

-- Bit c of `channels` is set where channel c has a fact without an end, of `ending` where it has one with an end, expired
-- or not. `ending` is NULL where there is none.
ALTER TABLE sideband.users ADD COLUMN channels bit(256) NOT NULL DEFAULT B'0'::bit(256);
ALTER TABLE sideband.users ADD COLUMN ending bit(256);
UPDATE sideband.users u SET channels = m.channels, ending = m.ending
FROM (
  SELECT f.slot, f.account, f.user_id,
    coalesce(bit_or(set_bit(B'0'::bit(256), f.channel, 1)) FILTER (WHERE f.expires_at_ms IS NULL), B'0'::bit(256))
      AS channels,
    bit_or(set_bit(B'0'::bit(256), f.channel, 1)) FILTER (WHERE f.expires_at_ms IS NOT NULL) AS ending
  FROM sideband.facts f WHERE f.place = '' GROUP BY f.slot, f.account, f.user_id
) AS m
WHERE u.slot = m.slot AND u.account = m.account AND u.user_id = m.user_id;

-- Without the end of a fact, which nearly all entries had as NULL: shorter, and quicker to compare.
ALTER TABLE sideband.facts DROP CONSTRAINT facts_pkey;
ALTER TABLE sideband.facts ADD CONSTRAINT facts_pkey PRIMARY KEY (slot, account, user_id, place, channel);

-- Locks users, and makes those that are missing. Each takes as many revisions as told, and the channels that are written;
-- of the others (NULL) none is looked at.
DROP FUNCTION sideband.store_users;
CREATE FUNCTION sideband.store_users(
  p_life integer, p_revision_floor bigint, p_slots integer[], p_accounts text[], p_users text[], p_taken integer[],
  p_channels bit(256)[], p_ending bit(256)[]
) RETURNS TABLE (slot integer, account text, user_id text, revision bigint, channels bit(256), ending bit(256))
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    INSERT INTO sideband.users AS u (slot, life, revision, account, user_id, channels, ending)
    SELECT t.s, p_life, p_revision_floor + t.n, t.a, t.u, t.c, nullif(t.e, B'0'::bit(256))
    FROM unnest(p_slots, p_accounts, p_users, p_taken, p_channels, p_ending) AS t (s, a, u, n, c, e)
    WHERE t.n IS NOT NULL ORDER BY t.s, t.a COLLATE "C", t.u COLLATE "C"
    ON CONFLICT (slot, account, user_id) DO UPDATE SET
      revision = CASE WHEN excluded.revision = p_revision_floor THEN u.revision
        ELSE greatest(u.revision, p_revision_floor) + (excluded.revision - p_revision_floor) END,
      channels = CASE WHEN excluded.ending IS NULL THEN u.channels | excluded.channels
        ELSE u.channels & ~excluded.ending | excluded.channels END,
      ending = CASE WHEN u.ending IS NULL THEN excluded.ending
        ELSE nullif(u.ending & ~excluded.channels | coalesce(excluded.ending, B'0'::bit(256)), B'0'::bit(256)) END
    RETURNING u.slot, u.account, u.user_id, u.revision, u.channels, u.ending;
END
$$;

-- The facts that are asked for, in order, and the rows that they are in. One that is not there has no revision, and the
-- ordinal of the last value in its history, or 0. A row stays where it is while its user is locked.
DROP FUNCTION sideband.find_facts;
CREATE FUNCTION sideband.find_facts(
  p_slots integer[], p_accounts text[], p_users text[], p_fact_users integer[], p_places text[], p_channels integer[]
) RETURNS TABLE (facts sideband.fact_state[], rows tid[])
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT array_agg(ROW(t.s, t.a, t.u, t.p, t.c, coalesce(f.ordinal, h.ordinal, 0), f.revision, f.updated_at_ms,
      f.since_ms, f.expires_at_ms, f.value, f.written_by, f.session_id)::sideband.fact_state ORDER BY t.i),
      array_agg(f.ctid ORDER BY t.i)
    FROM (
      SELECT p_slots[t.x] AS s, p_accounts[t.x] AS a, p_users[t.x] AS u, t.p, t.c, t.i
      FROM unnest(p_fact_users, p_places, p_channels) WITH ORDINALITY AS t (x, p, c, i)
    ) AS t
    LEFT JOIN LATERAL (
      SELECT f.ctid, f.* FROM sideband.facts f
      WHERE f.slot = t.s AND f.account = t.a AND f.user_id = t.u AND f.place = t.p AND f.channel = t.c OFFSET 0
    ) AS f ON true
    LEFT JOIN LATERAL (
      SELECT h.ordinal FROM sideband.history h
      WHERE f.slot IS NULL
        AND h.slot = t.s AND h.account = t.a AND h.user_id = t.u AND h.place = t.p AND h.channel = t.c
      ORDER BY h.ordinal DESC LIMIT 1
    ) AS h ON true;
END
$$;

-- Stores facts in their rows, and those that have none in new ones; without a revision nothing is stored.
DROP FUNCTION sideband.store_facts;
CREATE FUNCTION sideband.store_facts(p_facts sideband.fact_state[], p_rows tid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF array_remove(p_rows, NULL) <> '{}' THEN
    UPDATE sideband.facts f SET
      ordinal = t.ordinal, revision = t.revision, updated_at_ms = t.updated_at_ms, since_ms = t.since_ms,
      expires_at_ms = t.expires_at_ms, value = t.value, written_by = t.written_by, session_id = t.session_id,
      codebook_version = NULL, code_length = NULL, code_bytes = NULL
    FROM ROWS FROM (unnest(p_rows), unnest(p_facts)) AS t (row_id, slot, account, user_id, place, channel, ordinal,
      revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id)
    WHERE f.ctid = t.row_id AND t.revision IS NOT NULL;
  END IF;
  IF array_position(p_rows, NULL) IS NOT NULL THEN
    INSERT INTO sideband.facts (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms,
      expires_at_ms, value, written_by, session_id)
    SELECT t.slot, t.account, t.user_id, t.place, t.channel, t.ordinal, t.revision, t.updated_at_ms, t.since_ms,
      t.expires_at_ms, t.value, t.written_by, t.session_id
    FROM ROWS FROM (unnest(p_rows), unnest(p_facts)) AS t (row_id, slot, account, user_id, place, channel, ordinal,
      revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id)
    WHERE t.row_id IS NULL AND t.revision IS NOT NULL;
  END IF;
END
$$;

-- How many channels have a fact in the places of each write, or are among those told.
DROP FUNCTION sideband.count_channels;
CREATE FUNCTION sideband.count_channels(
  p_writes integer[], p_slots integer[], p_accounts text[], p_users text[], p_places text[], p_nows bigint[],
  p_told bit(256)[]
) RETURNS TABLE (write integer, channels integer)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT t.w, coalesce(bit_count(coalesce(f.found | t.o, f.found, t.o)), 0)::integer
    FROM unnest(p_writes, p_slots, p_accounts, p_users, p_places, p_nows, p_told) AS t (w, s, a, u, p, m, o), LATERAL (
      SELECT bit_or(set_bit(B'0'::bit(256), f.channel, 1)) AS found FROM sideband.facts f
      WHERE f.slot = t.s AND f.account = t.a AND f.user_id = t.u
        AND f.place = ANY (CASE t.p WHEN '' THEN ARRAY[''] ELSE string_to_array(t.p, E'\n') END)
        AND (f.expires_at_ms IS NULL OR f.expires_at_ms > t.m) OFFSET 0
    ) AS f;
END
$$;

-- Forgets a place and those inside it; without a place the whole user.
CREATE OR REPLACE FUNCTION sideband.forget_user(p_slot integer, p_account text, p_user text, p_place text, p_ticket bigint)
RETURNS TABLE (ticket bigint, forgotten boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_facts bigint;
  v_history bigint;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM set_config('lock_timeout', '100ms', true);
  PERFORM 1 FROM sideband.users u WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT p_ticket, false;
    RETURN;
  END IF;
  DELETE FROM sideband.facts f
  WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user
    AND (p_place IS NULL OR f.place = p_place OR starts_with(f.place, p_place || '/'));
  GET DIAGNOSTICS v_facts = ROW_COUNT;
  DELETE FROM sideband.history h
  WHERE h.slot = p_slot AND h.account = p_account AND h.user_id = p_user
    AND (p_place IS NULL OR h.place = p_place OR starts_with(h.place, p_place || '/'));
  GET DIAGNOSTICS v_history = ROW_COUNT;
  IF v_facts + v_history > 0 AND NOT sideband.remove_if_empty(p_account, p_user, p_slot) THEN
    UPDATE sideband.users u SET revision = u.revision + 1,
      channels = CASE WHEN p_place = '' THEN B'0'::bit(256) ELSE u.channels END,
      ending = CASE WHEN p_place = '' THEN NULL ELSE u.ending END
    WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  END IF;
  RETURN QUERY SELECT p_ticket, v_facts + v_history > 0;
END
$$;

-- Moves what has expired to the history; where none is kept, removes it with what history there is.
CREATE OR REPLACE FUNCTION sideband.end_facts(
  p_slot integer, p_account text, p_user text, p_now bigint, p_history_max integer, p_ticket bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_fact record;
  v_is_changed boolean := false;
  v_ended bit(256) := B'0'::bit(256);
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  PERFORM 1 FROM sideband.users u WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  FOR v_fact IN
    SELECT f.place, f.channel, f.ordinal, f.revision, f.updated_at_ms, f.since_ms, f.expires_at_ms, f.value, f.written_by,
      f.session_id
    FROM sideband.facts f
    WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user AND f.expires_at_ms <= p_now
  LOOP
    v_is_changed := true;
    IF v_fact.place = '' THEN
      v_ended := set_bit(v_ended, v_fact.channel, 1);
    END IF;
    DELETE FROM sideband.facts f
    WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user AND f.place = v_fact.place
      AND f.channel = v_fact.channel;
    DELETE FROM sideband.history h
    WHERE h.slot = p_slot AND h.account = p_account AND h.user_id = p_user AND h.place = v_fact.place
      AND h.channel = v_fact.channel AND h.ordinal <= v_fact.ordinal - p_history_max;
    IF p_history_max > 0 THEN
      INSERT INTO sideband.history (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms,
        value, written_by, session_id, ended, ended_at_ms)
      VALUES (p_slot, p_account, p_user, v_fact.place, v_fact.channel, v_fact.ordinal, v_fact.revision,
        v_fact.updated_at_ms, v_fact.since_ms, v_fact.value, v_fact.written_by, v_fact.session_id, 'expired',
        v_fact.expires_at_ms);
    END IF;
  END LOOP;
  IF v_is_changed AND NOT sideband.remove_if_empty(p_account, p_user, p_slot) THEN
    UPDATE sideband.users u SET revision = u.revision + 1, ending = nullif(u.ending & ~v_ended, B'0'::bit(256))
    WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  END IF;
  RETURN p_ticket;
END
$$;
