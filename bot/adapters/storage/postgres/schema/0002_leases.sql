-- A row stays when its lease is released: its token must never be given out twice.
CREATE TABLE triage_leases (
    namespace text NOT NULL,
    name text NOT NULL,
    token bigint NOT NULL,
    holder text,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (namespace, name)
);
