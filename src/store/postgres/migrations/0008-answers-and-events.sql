-- works with: 7
-- What is kept beside the facts: what requests with an Idempotency-Key were answered, and what happened to users of accounts
-- that somebody listens to. Both lie on the coordinator of a cluster. Programs before this one call the functions inside
-- these, and keep none of it.

-- The part of an answer that the request does not say, as JSON; there may be values in it. It goes when it expires, or
-- when something of its user is forgotten. It belongs to the replay record of the same revision.
CREATE TABLE sideband.answers (
  slot integer NOT NULL,
  revision bigint NOT NULL,
  expires_at_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  answer text COLLATE "C" NOT NULL,
  PRIMARY KEY (slot, key_id, idempotency_key)
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

-- Never a value. Without a channel: everything at the place, and inside it, was forgotten.
CREATE TABLE sideband.events (
  slot integer NOT NULL DEFAULT 0 CHECK (slot = 0),
  channel smallint,
  number bigint NOT NULL,
  revision bigint NOT NULL,
  at_ms bigint NOT NULL,
  account text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  written_by text COLLATE "C",
  PRIMARY KEY (slot, account, number)
);
CREATE INDEX events_by_time ON sideband.events (at_ms);
CREATE INDEX events_of_forgotten ON sideband.events (at_ms) WHERE channel IS NULL;

-- The number of the last event. Whoever records one locks this row until the commit, so that events can be read in the
-- order of their numbers, and none appears behind one that was read.
INSERT INTO sideband.settings (slot, name, value) VALUES (0, 'events', '0');

-- Records what happened in the accounts that somebody listens to. Call it last: the lock is one for all.
CREATE FUNCTION sideband.record_events(
  p_accounts text[], p_users text[], p_places text[], p_channels integer[], p_revisions bigint[], p_kinds text[],
  p_writers text[], p_times bigint[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_listened text[] := ARRAY(
    SELECT l.account FROM sideband.event_logs l WHERE l.slot = 0 AND l.account = ANY (p_accounts));
  v_count bigint;
  v_last bigint;
BEGIN
  SELECT count(*) INTO v_count FROM unnest(p_accounts) AS t (a) WHERE t.a = ANY (v_listened);
  IF v_count = 0 THEN
    RETURN;
  END IF;
  UPDATE sideband.settings s SET value = (s.value::bigint + v_count)::text WHERE s.slot = 0 AND s.name = 'events'
  RETURNING s.value::bigint INTO v_last;
  INSERT INTO sideband.events (number, account, user_id, place, channel, revision, kind, written_by, at_ms)
  SELECT v_last - v_count + row_number() OVER (ORDER BY t.i), t.a, t.u, t.p, t.c, t.r, t.k, t.w, t.m
  FROM unnest(p_accounts, p_users, p_places, p_channels, p_revisions, p_kinds, p_writers, p_times)
    WITH ORDINALITY AS t (a, u, p, c, r, k, w, m, i)
  WHERE t.a = ANY (v_listened);
END
$$;

-- Begins to record what happens in an account, or goes on. The log is `p_log` where it begins.
CREATE FUNCTION sideband.follow_events(p_account text, p_log text, p_until bigint, p_ticket bigint)
RETURNS TABLE (ticket bigint, log text, last bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_last bigint;
BEGIN
  SELECT s.value::bigint INTO v_last FROM sideband.settings s WHERE s.slot = 0 AND s.name = 'events';
  RETURN QUERY
    INSERT INTO sideband.event_logs AS l (first, until_ms, account, log) VALUES (v_last, p_until, p_account, p_log)
    ON CONFLICT (slot, account) DO UPDATE SET until_ms = greatest(l.until_ms, excluded.until_ms)
    RETURNING p_ticket, l.log::text, v_last;
END
$$;

-- Removes events up to `p_before`, what was told of users and places that were forgotten since, and the logs of accounts
-- that nobody listens to any more.
CREATE FUNCTION sideband.sweep_events(p_before bigint, p_now bigint, p_ticket bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_log record;
BEGIN
  FOR v_log IN
    SELECT e.account, max(e.number) AS number FROM sideband.events e WHERE e.at_ms <= p_before GROUP BY e.account
  LOOP
    UPDATE sideband.event_logs l SET first = greatest(l.first, v_log.number) WHERE l.slot = 0 AND l.account = v_log.account;
    DELETE FROM sideband.events e WHERE e.slot = 0 AND e.account = v_log.account AND e.at_ms <= p_before;
  END LOOP;
  -- Of those that were forgotten before the last sweeps nothing is left.
  DELETE FROM sideband.events e USING sideband.events f
  WHERE f.slot = 0 AND f.at_ms > p_now - 300000 AND f.channel IS NULL AND e.slot = 0 AND e.account = f.account
    AND e.user_id = f.user_id AND e.number < f.number
    AND (f.place = '' OR e.place = f.place OR starts_with(e.place, f.place || '/'));
  FOR v_log IN DELETE FROM sideband.event_logs l WHERE l.until_ms <= p_now RETURNING l.account LOOP
    DELETE FROM sideband.events e WHERE e.slot = 0 AND e.account = v_log.account;
  END LOOP;
  RETURN p_ticket;
END
$$;

-- The batch function, what is kept of its answers, and what is told of its changes. `p_answers`: what is answered that a request does not say.
CREATE FUNCTION sideband.write_recorded(
  p_slots integer[], p_accounts text[], p_users text[],
  p_fact_users integer[], p_fact_places text[], p_fact_channels integer[],
  p_write_users integer[], p_sizes integer[], p_counts integer[], p_plain integer[], p_places text[], p_nows bigint[],
  p_writers text[], p_sessions text[],
  p_quota_slots integer[], p_quota_keys text[], p_months text[], p_days text[], p_limits bigint[],
  p_replay_slots integer[], p_replay_owners text[], p_replay_keys text[], p_fingerprints bytea[], p_expiries bigint[],
  p_answers text[],
  p_change_writes integer[], p_change_facts integer[], p_values text[], p_times bigint[], p_ordinals integer[],
  p_ends bigint[], p_keeps integer[], p_conditions bigint[],
  p_history_max integer, p_ticket bigint
) RETURNS TABLE (
  ticket bigint, write bigint, outcome text, channel_count integer, quota_used bigint, user_revision bigint,
  forgotten integer, conflict integer, place text, channel integer, ordinal integer, revision bigint,
  updated_at_ms bigint, since_ms bigint, expires_at_ms bigint, value text, written_by text, session_id text,
  answer text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_row record;
  -- The change of a row; where it is the last one of its write, how many there are.
  v_change integer := 0;
  v_last integer := 0;
  v_previous json[] := '{}';
  v_has_previous boolean := false;
  v_is_gone boolean := false;
  -- What is kept: the writes, and their answers.
  v_writes integer[] := '{}';
  v_revisions bigint[] := '{}';
  v_answers text[] := '{}';
  -- Whether somebody listens; then the changes that are told, and their revisions.
  v_is_heard boolean;
  v_told integer[] := '{}';
  v_told_revisions bigint[] := '{}';
BEGIN
  -- The transaction first: who begins to listen waits for those that did not see it.
  PERFORM pg_current_xact_id();
  v_is_heard := EXISTS (SELECT FROM sideband.event_logs l WHERE l.slot = 0 AND l.account = ANY (p_accounts));
  -- Nearly all groups: nobody listens, nothing is repeated, and nothing forgotten.
  IF NOT v_is_heard AND coalesce(array_remove(p_replay_slots, NULL), '{}') = '{}'
    AND array_position(p_values, NULL) IS NULL THEN
    RETURN QUERY
      SELECT f.*, NULL::text
      FROM sideband.write_facts(p_slots, p_accounts, p_users, p_fact_users, p_fact_places, p_fact_channels, p_write_users,
      p_sizes, p_counts, p_plain, p_places, p_nows, p_writers, p_sessions, p_quota_slots, p_quota_keys,
      p_months, p_days, p_limits, p_replay_slots, p_replay_owners, p_replay_keys, p_fingerprints, p_expiries,
      p_change_writes, p_change_facts, p_values, p_times, p_ordinals, p_ends, p_keeps, p_conditions, p_history_max,
      p_ticket) AS f;
    RETURN;
  END IF;
  FOR v_row IN
    SELECT * FROM sideband.write_facts(p_slots, p_accounts, p_users, p_fact_users, p_fact_places, p_fact_channels,
      p_write_users, p_sizes, p_counts, p_plain, p_places, p_nows, p_writers, p_sessions, p_quota_slots, p_quota_keys,
      p_months, p_days, p_limits, p_replay_slots, p_replay_owners, p_replay_keys, p_fingerprints, p_expiries,
      p_change_writes, p_change_facts, p_values, p_times, p_ordinals, p_ends, p_keeps, p_conditions, p_history_max,
      p_ticket)
  LOOP
    ticket := v_row.ticket; write := v_row.write; outcome := v_row.outcome; channel_count := v_row.channel_count;
    quota_used := v_row.quota_used; user_revision := v_row.user_revision; forgotten := v_row.forgotten;
    conflict := v_row.conflict; place := v_row.place; channel := v_row.channel; ordinal := v_row.ordinal;
    revision := v_row.revision; updated_at_ms := v_row.updated_at_ms; since_ms := v_row.since_ms;
    expires_at_ms := v_row.expires_at_ms; value := v_row.value; written_by := v_row.written_by;
    session_id := v_row.session_id; answer := NULL;
    IF p_sizes[write] > 0 THEN
      v_change := v_change + 1;
    END IF;
    IF v_change > v_last OR p_sizes[write] = 0 THEN
      v_last := v_last + p_sizes[write];
      v_previous := '{}';
      v_has_previous := false;
      v_is_gone := false;
      IF outcome = 'replayed' THEN
        SELECT a.answer INTO answer FROM sideband.answers a
        WHERE a.slot = p_replay_slots[write] AND a.key_id = p_replay_owners[write]
          AND a.idempotency_key = p_replay_keys[write] AND a.revision = v_row.user_revision;
      END IF;
    END IF;
    RETURN NEXT;
    CONTINUE WHEN outcome <> 'stored';
    IF p_sizes[write] > 0 THEN
      IF v_is_heard AND (p_values[v_change] IS NOT NULL OR v_row.revision IS NOT NULL) THEN
        v_told := v_told || v_change;
        v_told_revisions := v_told_revisions || (user_revision - v_last + v_change);
      END IF;
      v_is_gone := v_is_gone OR p_values[v_change] IS NULL AND (p_keeps[v_change] = 0 OR p_history_max = 0);
      IF p_values[v_change] IS NULL OR v_row.revision IS NULL THEN
        v_previous := v_previous || NULL::json;
      ELSE
        v_has_previous := true;
        v_previous := v_previous || json_build_object('value', v_row.value, 'revision', v_row.revision,
          'updatedAtMs', v_row.updated_at_ms, 'writtenBy', v_row.written_by);
      END IF;
    END IF;
    CONTINUE WHEN v_change < v_last;
    -- With the last change of a write.
    IF v_is_gone AND forgotten > 0 THEN
      DELETE FROM sideband.answers a
      WHERE a.account = p_accounts[p_write_users[write]] AND a.user_id = p_users[p_write_users[write]];
      SELECT coalesce(array_agg(t.w), '{}'), coalesce(array_agg(t.r), '{}'), coalesce(array_agg(t.a), '{}')
      INTO v_writes, v_revisions, v_answers FROM unnest(v_writes, v_revisions, v_answers) AS t (w, r, a)
      WHERE p_write_users[t.w] <> p_write_users[write];
    END IF;
    IF p_replay_slots[write] IS NOT NULL AND (v_has_previous OR p_answers[write] IS NOT NULL) THEN
      v_writes := v_writes || write::integer;
      v_revisions := v_revisions || user_revision;
      v_answers := v_answers || json_build_object('answer', p_answers[write], 'previous', v_previous)::text;
    END IF;
  END LOOP;
  IF v_writes <> '{}' THEN
    INSERT INTO sideband.answers AS a (slot, revision, expires_at_ms, account, user_id, key_id, idempotency_key, answer)
    SELECT p_replay_slots[t.w], t.r, p_expiries[t.w], p_accounts[p_write_users[t.w]], p_users[p_write_users[t.w]],
      p_replay_owners[t.w], p_replay_keys[t.w], t.a
    FROM unnest(v_writes, v_revisions, v_answers) AS t (w, r, a)
    ON CONFLICT (slot, key_id, idempotency_key) DO UPDATE SET revision = excluded.revision,
      expires_at_ms = excluded.expires_at_ms, account = excluded.account, user_id = excluded.user_id,
      answer = excluded.answer;
  END IF;
  IF v_told <> '{}' THEN
    PERFORM sideband.record_events(array_agg(p_accounts[p_write_users[t.w]]), array_agg(p_users[p_write_users[t.w]]),
      array_agg(p_fact_places[p_change_facts[t.c]]), array_agg(p_fact_channels[p_change_facts[t.c]]), array_agg(t.r),
      array_agg(CASE WHEN p_values[t.c] IS NULL THEN 'forgotten' ELSE 'written' END), array_agg(p_writers[t.w]),
      array_agg(p_nows[t.w]))
    FROM (SELECT p_change_writes[u.c] AS w, u.c, u.r, u.i FROM unnest(v_told, v_told_revisions) WITH ORDINALITY
      AS u (c, r, i) ORDER BY u.i) AS t;
  END IF;
END
$$;

-- Forgets a place and those inside it, without a place the whole user, with what was answered to requests of that user and
-- what was told of what is forgotten.
CREATE FUNCTION sideband.forget_recorded(
  p_user_slot integer, p_account text, p_user text, p_place text, p_now bigint, p_ticket bigint
) RETURNS TABLE (ticket bigint, forgotten boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT f.forgotten INTO forgotten
  FROM sideband.forget_user(p_user_slot, p_account, p_user, p_place, p_ticket) AS f;
  IF forgotten OR p_place IS NULL THEN
    DELETE FROM sideband.answers a WHERE a.account = p_account AND a.user_id = p_user;
  END IF;
  IF forgotten THEN
    -- Other nodes may not have told their listeners of the last moments; those go with the next sweep.
    DELETE FROM sideband.events e WHERE e.slot = 0 AND e.account = p_account AND e.user_id = p_user
      AND e.at_ms <= p_now - 5000 AND (p_place IS NULL OR e.place = p_place OR starts_with(e.place, p_place || '/'));
    PERFORM sideband.record_events(ARRAY[p_account], ARRAY[p_user], ARRAY[coalesce(p_place, '')], ARRAY[NULL::integer],
      ARRAY[0::bigint], ARRAY['forgotten'], ARRAY[NULL::text], ARRAY[p_now]);
  END IF;
  ticket := p_ticket;
  RETURN NEXT;
END
$$;

-- Removes a user without facts and history.
CREATE FUNCTION sideband.remove_empty_user(p_user_slot integer, p_account text, p_user text, p_ticket bigint)
RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  PERFORM 1 FROM sideband.users u WHERE u.slot = p_user_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  PERFORM sideband.remove_if_empty(p_account, p_user, p_user_slot);
  RETURN p_ticket;
END
$$;

-- Moves what has expired of a user to the history, and tells of it with the moment at which it did.
CREATE FUNCTION sideband.end_recorded(
  p_user_slot integer, p_account text, p_user text, p_now bigint, p_history_max integer, p_ticket bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_places text[];
  v_channels integer[];
  v_revisions bigint[];
  v_times bigint[];
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  PERFORM 1 FROM sideband.users u WHERE u.slot = p_user_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  SELECT array_agg(f.place::text ORDER BY f.expires_at_ms, f.revision),
    array_agg(f.channel::integer ORDER BY f.expires_at_ms, f.revision),
    array_agg(f.revision ORDER BY f.expires_at_ms, f.revision),
    array_agg(f.expires_at_ms ORDER BY f.expires_at_ms, f.revision)
  INTO v_places, v_channels, v_revisions, v_times
  FROM sideband.facts f
  WHERE f.slot = p_user_slot AND f.account = p_account AND f.user_id = p_user AND f.expires_at_ms <= p_now;
  PERFORM sideband.end_facts(p_user_slot, p_account, p_user, p_now, p_history_max, p_ticket);
  IF v_places IS NOT NULL THEN
    PERFORM sideband.record_events(array_fill(p_account, ARRAY[cardinality(v_places)]),
      array_fill(p_user, ARRAY[cardinality(v_places)]), v_places, v_channels, v_revisions,
      array_fill('expired'::text, ARRAY[cardinality(v_places)]),
      array_fill(NULL::text, ARRAY[cardinality(v_places)]), v_times);
  END IF;
  RETURN p_ticket;
END
$$;
