-- Appends a record unless one is there that is known by one of its names; whether it did. The block is undone as a whole
-- by what is known: without a function, the caller's transaction needed two round trips more, for a savepoint.
-- The journal's row is locked first, and everything else hangs on it: two appends never wait for each other crosswise.
CREATE FUNCTION triage_append(in_namespace text, in_journal text, in_record json, in_names text[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    WITH journal AS (
        INSERT INTO triage_journals AS known (namespace, name, last) VALUES (in_namespace, in_journal, 1)
        ON CONFLICT (namespace, name) DO UPDATE SET last = known.last + 1
        RETURNING namespace, name, last
    ), appended AS (
        INSERT INTO triage_records (namespace, journal, number, record)
        SELECT namespace, name, last, in_record FROM journal
    )
    INSERT INTO triage_identities (namespace, journal, identity)
    SELECT namespace, name, identity FROM journal, unnest(in_names) AS identity;
    RETURN true;
EXCEPTION WHEN unique_violation THEN
    RETURN false;
END
$$;
