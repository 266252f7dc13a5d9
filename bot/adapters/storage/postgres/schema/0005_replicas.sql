-- Unlogged, as every process writes its row anew within seconds.
CREATE UNLOGGED TABLE triage_replicas (
    id text PRIMARY KEY,
    host text NOT NULL,
    pid bigint NOT NULL,
    version text NOT NULL,
    role text NOT NULL,
    clock_ahead interval NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
