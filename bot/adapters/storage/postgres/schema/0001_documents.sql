-- `json`, not `jsonb`: chat text may hold U+0000 and halves of surrogate pairs, which jsonb refuses.
CREATE TABLE triage_documents (
    namespace text NOT NULL,
    collection text NOT NULL,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    content json NOT NULL,
    written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, collection, id)
);

CREATE TABLE triage_archive (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    collection text NOT NULL,
    id text COLLATE "C" NOT NULL,
    archived_for timestamptz NOT NULL,
    version bigint NOT NULL,
    content json NOT NULL,
    written_at timestamptz NOT NULL
);
CREATE INDEX triage_archive_by_id ON triage_archive (namespace, collection, id, archived_for, number);
CREATE INDEX triage_archive_by_age ON triage_archive (namespace, collection, archived_for, number);

CREATE TABLE triage_damaged (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    collection text NOT NULL,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    content json NOT NULL,
    written_at timestamptz NOT NULL
);
CREATE INDEX triage_damaged_by_collection ON triage_damaged (namespace, collection);
