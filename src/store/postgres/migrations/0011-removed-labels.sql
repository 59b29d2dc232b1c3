-- Labels that were removed, and who added a label. Programs before this one would go on with removed labels.

ALTER TABLE sideband.labels ADD COLUMN created_by text COLLATE "C";
ALTER TABLE sideband.labels ADD COLUMN created_key text COLLATE "C";
ALTER TABLE sideband.labels ADD COLUMN removed boolean NOT NULL DEFAULT false;

-- Keeps labels from being removed until the commit of a write, and fails where one is gone, with its channel as the detail.
-- Call it before all else: who waits here has locked nothing that others need. The ticket comes back, so that the
-- call can stand in place of it.
CREATE FUNCTION sideband.hold_labels(p_accounts text[], p_channels integer[], p_ticket bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_label record;
BEGIN
  IF p_accounts = '{}' THEN
    RETURN p_ticket;
  END IF;
  PERFORM set_config('lock_timeout', '100ms', true);
  FOR v_label IN
    SELECT l.account, l.channel, l.removed FROM sideband.labels l
    WHERE l.slot = 0 AND l.account = ANY (p_accounts) AND l.channel = ANY (p_channels)
    ORDER BY l.account, l.channel FOR KEY SHARE
  LOOP
    IF v_label.removed AND EXISTS (SELECT FROM unnest(p_accounts, p_channels) AS t (a, c)
      WHERE t.a = v_label.account AND t.c = v_label.channel) THEN
      RAISE EXCEPTION 'a label was removed' USING ERRCODE = 'foreign_key_violation', DETAIL = v_label.channel::text;
    END IF;
  END LOOP;
  RETURN p_ticket;
END
$$;
