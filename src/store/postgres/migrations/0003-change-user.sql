-- The other changes of one user: code bits kept with facts, and forgetting. Both lock the user's row first, as
-- the batch function does, so that they wait for one another and never in a circle. One slot each. `p_ticket` comes
-- back in the answer. Like the batch function, they do not wait long for a locked user: the caller tries again. A
-- cluster runs them on the machine of `p_slot`. No array element is assigned in an UPDATE: some releases of Citus crash
-- on that.

CREATE FUNCTION sideband.save_codes(
  p_slot integer, p_account text, p_user text,
  p_channels integer[], p_revisions bigint[], p_versions integer[], p_lengths integer[], p_bytes bytea[],
  p_ticket bigint
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
    UPDATE sideband.facts f SET code_version = v_version, code_length = v_length, code_bytes = v_bytes
    WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user
      AND f.channel = p_channels[i] AND f.revision = p_revisions[i];
  END LOOP;
  RETURN p_ticket;
END
$$;

-- Forgets the facts of the channels, where a revision is given only that one; without channels the whole user.
-- A user without facts is no user: nothing tells that there ever was one.
CREATE FUNCTION sideband.forget_facts(
  p_slot integer, p_account text, p_user text, p_channels integer[], p_revisions bigint[],
  p_ticket bigint
) RETURNS TABLE (ticket bigint, forgotten integer, channels_left integer)
LANGUAGE plpgsql AS $$
DECLARE
  v_channels bigint;
  v_forgotten integer := 0;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  PERFORM set_config('lock_timeout', '100ms', true);
  SELECT u.channels INTO v_channels FROM sideband.users u
  WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user FOR UPDATE;
  IF NOT FOUND THEN
    RETURN QUERY SELECT p_ticket, 0, 0;
    RETURN;
  END IF;
  IF p_channels IS NULL THEN
    DELETE FROM sideband.facts f WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user;
    GET DIAGNOSTICS v_forgotten = ROW_COUNT;
    v_channels := 0;
  ELSE
    FOR i IN 1 .. cardinality(p_channels) LOOP
      DELETE FROM sideband.facts f
      WHERE f.slot = p_slot AND f.account = p_account AND f.user_id = p_user AND f.channel = p_channels[i]
        AND (p_revisions[i] IS NULL OR f.revision = p_revisions[i]);
      IF FOUND THEN
        v_forgotten := v_forgotten + 1;
        v_channels := v_channels & ~(1::bigint << p_channels[i]);
      END IF;
    END LOOP;
  END IF;
  IF v_channels = 0 THEN
    DELETE FROM sideband.users u WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  ELSIF v_forgotten > 0 THEN
    UPDATE sideband.users u SET revision = u.revision + 1, channels = v_channels
    WHERE u.slot = p_slot AND u.account = p_account AND u.user_id = p_user;
  END IF;
  RETURN QUERY SELECT p_ticket, v_forgotten, bit_count(v_channels::bit(64))::integer;
END
$$;
