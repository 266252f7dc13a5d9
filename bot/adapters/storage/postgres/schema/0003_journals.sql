-- `last` is the number of a journal's last record. Its row is locked until an append has committed, so records become
-- visible in the order of their numbers: whoever reads on from a place misses none.
CREATE TABLE triage_journals (
    namespace text NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

CREATE TABLE triage_records (
    namespace text NOT NULL,
    journal text NOT NULL,
    number bigint NOT NULL,
    record json NOT NULL,
    PRIMARY KEY (namespace, journal, number)
);

-- Under which names a record is known, so that one that is delivered to two replicas is journaled once.
CREATE TABLE triage_identities (
    namespace text NOT NULL,
    journal text NOT NULL,
    identity text NOT NULL,
    PRIMARY KEY (namespace, journal, identity)
);
