-- works with: 7
-- What is kept beside the facts: what requests with an Idempotency-Key were answered. Both lie on the coordinator of a
-- cluster. Programs before this one call the functions inside these, and keep none of it.

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

-- The batch function, and what is kept of its answers. `p_answers`: what is answered that a request does not say.
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
BEGIN
  -- Nearly all groups: nothing is repeated, and nothing forgotten.
  IF coalesce(array_remove(p_replay_slots, NULL), '{}') = '{}' AND array_position(p_values, NULL) IS NULL THEN
    RETURN QUERY SELECT f.*, NULL::text FROM sideband.write_facts(p_slots, p_accounts, p_users, p_fact_users, p_fact_places, p_fact_channels,
      p_write_users, p_sizes, p_counts, p_plain, p_places, p_nows, p_writers, p_sessions, p_quota_slots, p_quota_keys,
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
END
$$;

-- Forgets a place and those inside it, without a place the whole user, with what was answered to requests of that user.
CREATE FUNCTION sideband.forget_recorded(p_slot integer, p_account text, p_user text, p_place text, p_ticket bigint)
RETURNS TABLE (ticket bigint, forgotten boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  SELECT f.forgotten INTO forgotten FROM sideband.forget_user(p_slot, p_account, p_user, p_place, p_ticket) AS f;
  IF forgotten OR p_place IS NULL THEN
    DELETE FROM sideband.answers a WHERE a.account = p_account AND a.user_id = p_user;
  END IF;
  ticket := p_ticket;
  RETURN NEXT;
END
$$;
