-- Takes a message: its event under its names, its class and, where it is work, its job, in one statement, so that whoever
-- delivers it waits for one answer. 'known': one of the names is there. 'in flight': its thread has a job or a record, which
-- the caller did not know of when it chose the job. Both leave nothing behind.
-- The rows of the journals are locked first, in one order: what was taken before is seen, and nobody waits crosswise.
CREATE FUNCTION triage_take(
    in_namespace text, in_events text, in_event json, in_names text[], in_classes text, in_class json,
    in_is_in_flight boolean, in_threads text, in_thread text, in_lock text, in_task text, in_priority int, in_args jsonb
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    refused_by text;
BEGIN
    WITH journals AS (
        INSERT INTO triage_journals AS known (namespace, name, last)
        VALUES (in_namespace, in_events, 1), (in_namespace, in_classes, 1)
        ON CONFLICT (namespace, name) DO UPDATE SET last = known.last + 1
        RETURNING namespace, name, last
    ), appended AS (
        INSERT INTO triage_records (namespace, journal, number, record)
        SELECT namespace, name, last, CASE name WHEN in_events THEN in_event ELSE in_class END FROM journals
    )
    INSERT INTO triage_identities (namespace, journal, identity)
    SELECT in_namespace, in_events, identity FROM unnest(in_names) AS identity;
    IF NOT in_is_in_flight AND (
        EXISTS (
            SELECT FROM procrastinate_jobs
            WHERE queue_name = in_namespace AND lock = in_lock AND status IN ('todo', 'doing')
        ) OR EXISTS (
            SELECT FROM triage_documents
            WHERE namespace = in_namespace AND collection = in_threads AND id = in_thread
        )
    ) THEN
        RAISE SQLSTATE 'TR001';
    END IF;
    IF in_task IS NOT NULL THEN
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args)
        VALUES (in_namespace, in_task, in_priority, in_lock, in_args);
    END IF;
    RETURN 'first';
EXCEPTION
    WHEN SQLSTATE 'TR001' THEN
        RETURN 'in flight';
    WHEN unique_violation THEN
        GET STACKED DIAGNOSTICS refused_by = TABLE_NAME;
        IF refused_by = 'triage_identities' THEN
            RETURN 'known';
        END IF;
        RAISE;
END
$$;
