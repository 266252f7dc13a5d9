-- How fast something may go that all processes do together. Unlogged: a crash of the server loses seconds of memory,
-- and no post waits for a disk.
CREATE UNLOGGED TABLE triage_paces (
    namespace text NOT NULL,
    rate text NOT NULL,
    key text NOT NULL,
    full_at timestamptz NOT NULL,
    held_until timestamptz NOT NULL DEFAULT '-infinity',
    slot_at timestamptz NOT NULL,
    PRIMARY KEY (namespace, rate, key)
) WITH (fillfactor = 50);
COMMENT ON COLUMN triage_paces.full_at IS 'when all of the burst will be there again';
COMMENT ON COLUMN triage_paces.held_until IS 'nobody goes before, as Slack asked';
COMMENT ON COLUMN triage_paces.slot_at IS 'the slot that was found for who asked last, whether they took it or not';
