-- What the batch function (0006) finds and stores, each for many users at once. On a cluster these functions have another
-- form (cluster.sql).

-- Locks users, and makes those that are missing. Each takes as many revisions as told; of the others (NULL) none is
-- looked at.
CREATE FUNCTION sideband.store_users(
  p_life integer, p_revision_floor bigint, p_slots integer[], p_accounts text[], p_users text[], p_taken integer[]
) RETURNS TABLE (slot integer, account text, user_id text, revision bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    INSERT INTO sideband.users AS u (slot, life, revision, account, user_id)
    SELECT t.s, p_life, p_revision_floor + t.n, t.a, t.u
    FROM unnest(p_slots, p_accounts, p_users, p_taken) AS t (s, a, u, n)
    WHERE t.n IS NOT NULL ORDER BY t.s, t.a COLLATE "C", t.u COLLATE "C"
    ON CONFLICT (slot, account, user_id) DO UPDATE SET revision = CASE
      WHEN excluded.revision = p_revision_floor THEN u.revision
      ELSE greatest(u.revision, p_revision_floor) + (excluded.revision - p_revision_floor) END
    RETURNING u.slot, u.account, u.user_id, u.revision;
END
$$;

-- A fact inside the batch function. Where there is none its revision is NULL, and its ordinal that of the last value in
-- its history, or 0.
CREATE TYPE sideband.fact_state AS (
  slot integer, account text, user_id text, place text, channel integer, ordinal integer, revision bigint,
  updated_at_ms bigint, since_ms bigint, expires_at_ms bigint, value text, written_by text, session_id text
);

-- One for each that is asked for, in order.
CREATE FUNCTION sideband.find_facts(
  p_slots integer[], p_accounts text[], p_users text[], p_places text[], p_channels integer[]
) RETURNS SETOF sideband.fact_state
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT t.s, t.a, t.u, t.p, t.c, coalesce(f.ordinal, h.ordinal, 0), f.revision,
      f.updated_at_ms, f.since_ms, f.expires_at_ms, f.value::text, f.written_by::text, f.session_id::text
    FROM unnest(p_slots, p_accounts, p_users, p_places, p_channels) WITH ORDINALITY AS t (s, a, u, p, c, i)
    LEFT JOIN LATERAL (
      SELECT * FROM sideband.facts f
      WHERE f.slot = t.s AND f.account = t.a AND f.user_id = t.u AND f.place = t.p AND f.channel = t.c OFFSET 0
    ) AS f ON true
    LEFT JOIN LATERAL (
      SELECT h.ordinal FROM sideband.history h
      WHERE f.slot IS NULL
        AND h.slot = t.s AND h.account = t.a AND h.user_id = t.u AND h.place = t.p AND h.channel = t.c
      ORDER BY h.ordinal DESC LIMIT 1
    ) AS h ON true
    ORDER BY t.i;
END
$$;

CREATE FUNCTION sideband.store_facts(p_facts sideband.fact_state[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sideband.facts (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms,
    expires_at_ms, value, written_by, session_id)
  SELECT * FROM unnest(p_facts)
  ON CONFLICT (slot, account, user_id, place, channel) DO UPDATE SET
    ordinal = excluded.ordinal, revision = excluded.revision, updated_at_ms = excluded.updated_at_ms,
    since_ms = excluded.since_ms, expires_at_ms = excluded.expires_at_ms, value = excluded.value,
    written_by = excluded.written_by, session_id = excluded.session_id,
    codebook_version = NULL, code_length = NULL, code_bytes = NULL;
END
$$;

CREATE FUNCTION sideband.remove_facts(p_facts sideband.fact_state[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sideband.facts f USING unnest(p_facts) AS t
  WHERE f.slot = t.slot AND f.account = t.account AND f.user_id = t.user_id AND f.place = t.place
    AND f.channel = t.channel;
END
$$;

CREATE FUNCTION sideband.store_history(p_facts sideband.fact_state[], p_ends text[], p_end_times bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sideband.history (slot, account, user_id, place, channel, ordinal, revision, updated_at_ms, since_ms, value,
    written_by, session_id, ended, ended_at_ms)
  SELECT t.slot, t.account, t.user_id, t.place, t.channel, t.ordinal, t.revision, t.updated_at_ms, t.since_ms, t.value,
    t.written_by, t.session_id, t.e, t.m
  FROM ROWS FROM (unnest(p_facts), unnest(p_ends), unnest(p_end_times)) AS t (slot, account, user_id, place, channel,
    ordinal, revision, updated_at_ms, since_ms, expires_at_ms, value, written_by, session_id, e, m);
END
$$;

-- Removes the history of the facts below their ordinals.
CREATE FUNCTION sideband.remove_history(p_facts sideband.fact_state[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sideband.history h USING unnest(p_facts) AS t
  WHERE h.slot = t.slot AND h.account = t.account AND h.user_id = t.user_id AND h.place = t.place
    AND h.channel = t.channel AND h.ordinal < t.ordinal;
END
$$;

-- How many channels have a fact in the places of each write; a line for each place.
CREATE FUNCTION sideband.count_channels(
  p_writes integer[], p_slots integer[], p_accounts text[], p_users text[], p_places text[], p_nows bigint[]
) RETURNS TABLE (write integer, channels integer)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY
    SELECT t.w, f.n::integer
    FROM unnest(p_writes, p_slots, p_accounts, p_users, p_places, p_nows) AS t (w, s, a, u, p, m), LATERAL (
      SELECT count(DISTINCT f.channel) AS n FROM sideband.facts f
      WHERE f.slot = t.s AND f.account = t.a AND f.user_id = t.u
        AND f.place = ANY (CASE t.p WHEN '' THEN ARRAY[''] ELSE string_to_array(t.p, E'\n') END)
        AND (f.expires_at_ms IS NULL OR f.expires_at_ms > t.m) OFFSET 0
    ) AS f;
END
$$;

-- A user without facts and history is no user: nothing tells that there ever was one.
CREATE FUNCTION sideband.remove_if_empty(p_account text, p_user text, p_slot integer) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sideband.users u
  WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user
    AND NOT EXISTS (SELECT FROM sideband.facts f
      WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user)
    AND NOT EXISTS (SELECT FROM sideband.history h
      WHERE h.slot = p_slot AND h.account = p_account AND h.user_id = p_user);
  RETURN FOUND;
END
$$;
