-- Folders of runs as they were last published. `touched_at` is when one was last written to, by its machine's clock.
CREATE TABLE triage_run_folders (
    namespace text NOT NULL,
    folder text COLLATE "C" NOT NULL,
    touched_at timestamptz NOT NULL,
    PRIMARY KEY (namespace, folder)
);
CREATE INDEX triage_run_folders_by_age ON triage_run_folders (namespace, touched_at);

-- Each chunk is compressed by itself with zlib, which the server need not try again.
CREATE TABLE triage_run_files (
    namespace text NOT NULL,
    folder text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    number int NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (namespace, folder, name, number),
    FOREIGN KEY (namespace, folder) REFERENCES triage_run_folders ON DELETE CASCADE
);
ALTER TABLE triage_run_files ALTER COLUMN content SET STORAGE EXTERNAL;
