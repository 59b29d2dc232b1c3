-- The other changes of one user: code bits kept with facts, forgetting, and facts that have expired. All lock the user's
-- row first, as the batch function does, so that they wait for one another and never in a circle. One slot each.
-- `p_ticket` comes back in the answer. Like the batch function, they do not wait long for a locked user: the caller tries
-- again. A cluster runs them on the machine of `p_slot`. No array element is assigned in an UPDATE: some releases of Citus
-- crash on that.

CREATE FUNCTION sideband.save_codes(
  p_slot integer, p_account text, p_user text, p_places text[], p_channels integer[], p_revisions bigint[],
  p_versions integer[], p_lengths integer[], p_bytes bytea[], p_ticket bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_version integer;
  v_length integer;
  v_bytes bytea;
BEGIN
  PERFORM set_config('lock_timeout', '100ms', true);
  PERFORM 1 FROM sideband.users u WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  FOR i IN 1 .. cardinality(p_channels) LOOP
    v_version := p_versions[i];
    v_length := p_lengths[i];
    v_bytes := p_bytes[i];
    UPDATE sideband.facts f SET codebook_version = v_version, code_length = v_length, code_bytes = v_bytes
    WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user AND f.place = p_places[i]
      AND f.channel = p_channels[i] AND f.revision = p_revisions[i];
  END LOOP;
  RETURN p_ticket;
END
$$;

-- Forgets a place and those inside it; without a place the whole user.
CREATE FUNCTION sideband.forget_user(p_slot integer, p_account text, p_user text, p_place text, p_ticket bigint)
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
    UPDATE sideband.users u SET revision = u.revision + 1
    WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  END IF;
  RETURN QUERY SELECT p_ticket, v_facts + v_history > 0;
END
$$;

-- Moves what has expired to the history; where none is kept, removes it with what history there is.
CREATE FUNCTION sideband.end_facts(
  p_slot integer, p_account text, p_user text, p_now bigint, p_history_max integer, p_ticket bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_fact record;
  v_is_changed boolean := false;
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
    UPDATE sideband.users u SET revision = u.revision + 1
    WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  END IF;
  RETURN p_ticket;
END
$$;
