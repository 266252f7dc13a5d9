"""State that moves into a database and back is the same afterwards, and a move that fails changes nothing."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Condition
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.adapters.storage.files.file_documents import ALL_COLLECTIONS, FILES, OF_PROCESS
from bot.adapters.storage.files.file_engine import FileEngine, FileStore, journal_path
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.retention import last_touched
from bot.adapters.storage.files.spool_queue import SpoolQueue, decode_job
from bot.composition import state_move
from bot.composition.state_move import STAYS, Moved, Side, move, rewrite
from bot.composition.storage_engine import open_engine
from bot.config.environment import Environment
from bot.domain.events import names_of_record
from bot.domain.jobs import JobKind, queue_order
from bot.domain.threads import PendingReason, ThreadStatus
from bot.domain.waits import Doubt, DoubtCode
from bot.errors import ConfigError, InputError, StoreError
from bot.ports import Engine, Store
from bot.ports.collections import EVENTS, HOME, MOVED, SESSIONS, THREADS, Collection, SingleDocument, inbox_of
from bot.ports.migrations import SCHEMA_KEY, SCHEMA_VERSION, NewerSchema, refuse_newer
from bot.ports.system import Role
from bot.ports.threads import Threads
from tests.builders import an_event, in_status, some_work
from tests.fakes import FakeClock
from tests.postgres import driver, new_database
from tests.tables import each_row

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

DOUBTFUL = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL).in_doubt(
    [Doubt(code=DoubtCode.SETTLED, by="U1", about="never mind")]
)
TEAM = "payments"
COLLECTIONS = sorted(set(FILES) - STAYS - {"wakes"})
MANY = [name for name in COLLECTIONS if "*" in FILES[name] or name == "overrides"]


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A database of its own, whose tables are emptied before each use."""
    driver()
    from bot.adapters.storage.postgres.database import Database

    opened = Database(new_database())
    yield opened
    opened.close()


def wiped(database: Database) -> Database:
    """Empty every table that state is in."""
    with database.writing() as connection:
        connection.execute(
            "TRUNCATE triage_documents, triage_archive, triage_damaged, triage_journals, triage_records, "
            "triage_identities, triage_leases, triage_replicas, triage_run_folders, procrastinate_jobs, "
            "procrastinate_workers CASCADE"
        )
    return database


def sorted_all(home: Path) -> None:
    """Have the last journaled message sorted, as an orderly stop leaves it."""
    last = next(FileStore(home).journal(EVENTS).newest_first(), None)
    if last is not None:
        FileStore(home).journal("events-classified").append(last)


def engine_of(database: Database, home: Path) -> PostgresEngine:
    """Return the engine of a replica."""
    from bot.adapters.storage.postgres.postgres_engine import PostgresEngine

    return PostgresEngine(database, home)


def up(home: Path, database: Database) -> Moved:
    """Move a directory into a database."""
    return move(Side(FileEngine(home), str(home)), database_side(database, home), home, print)


def down(database: Database, home: Path) -> Moved:
    """Move a database into a directory."""
    return move(database_side(database, home), Side(FileEngine(home), str(home)), home, print)


def database_side(database: Database, home: Path) -> Side:
    return Side(engine_of(database, home), database.place())


def counts(moved: Moved) -> dict[str, tuple[int, int]]:
    """Return what was counted."""
    return {f"{one.namespace}/{one.what}": (one.before, one.after) for one in moved.counted}


def held(store: Store) -> dict[str, Any]:
    """Return all that a store holds, as its readers see it; of an archived document also for when."""
    documents = store.documents
    found: dict[str, Any] = {
        name: [(one.id, one.version, one.value) for one in documents.list(name)] for name in COLLECTIONS
    }
    for one in documents.archived(THREADS.name):
        read = documents.read_archived(THREADS.name, one)
        found.setdefault("closed", []).append((one.doc_id, one.at, read and (read.version, read.value)))
    found["notes"] = [(note.ref, note.whole) for note in store.notes.all()]
    found["all notes"] = sorted(whole for _, whole in store.notes.stored())
    found["decisions"] = store.decisions.text()
    for name in (EVENTS, *JOURNALS):
        journal = store.journal(name)
        found[name] = list(journal.records()), list(journal.newest_first())[::-1]
        found[f"bad lines of {name}"] = journal.bad_lines
    return found


def waiting(home: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the jobs of a directory by state, in the order in which they are worked off, without their numbers."""
    found = []
    for folder in ("queue", "queue/running", "queue/failed"):
        for path in sorted((home / folder).glob("*_*_*.json"), key=lambda path: queue_order(path.name)):
            job = decode_job(json.loads(path.read_text()))
            found.append((folder, job.model_dump(mode="json", exclude={"job_id", "epoch_ms"})))
    return found


JOURNALS = ("events-classified", "replies", inbox_of("api"))
IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9.-]{0,12}[A-Za-z0-9]", fullmatch=True)
TEXTS = st.text(max_size=12) | st.sampled_from(["\x00", "\ud800 half", "\u2028", "\ufeff", "%s", "\\N"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS.filter(lambda key: key != "version"), VALUES, max_size=4)
RUBBISH = st.binary(max_size=12).map(lambda raw: b"\xff{" + raw.replace(b"\n", b"")).filter(lambda raw: raw.strip())
DOCUMENTS = st.dictionaries(st.tuples(st.sampled_from(MANY), IDS), st.tuples(st.integers(1, 3), OBJECTS), max_size=6)
SINGLE = st.dictionaries(st.sampled_from(sorted(set(COLLECTIONS) - set(MANY))), OBJECTS, max_size=3)
CLOSED = st.lists(st.tuples(IDS, st.integers(0, 5 * 10**6), OBJECTS), max_size=5)
RECORDS = st.dictionaries(st.sampled_from(JOURNALS), st.lists(OBJECTS | RUBBISH, max_size=8), max_size=3)
NOTES = st.dictionaries(
    st.sampled_from(["a.md", "retired/a.md", "retired/b.md", "shared/x/a.md"]), TEXTS.filter(str.strip), max_size=4
)
STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(JobKind), st.sampled_from(["wait", "run", "back", "fail"])),
    max_size=6,
)


LINES = st.lists(TEXTS.filter(str.strip), max_size=3)


@st.composite
def homes(draw: st.DrawFn) -> Callable[[Path], None]:
    """Return what fills a data directory."""
    documents, single, closed = draw(DOCUMENTS), draw(SINGLE), draw(CLOSED)
    records, steps, notes, lines = (
        draw(RECORDS),
        draw(STEPS),
        draw(NOTES),
        draw(st.lists(TEXTS.filter(str.strip), max_size=3)),
    )

    def fill(home: Path) -> None:
        store = FileStore(home)
        for (collection, doc_id), (version, value) in documents.items():
            for before in range(version):
                store.documents.put(collection, doc_id, value, version=before)
        for collection, value in single.items():
            store.documents.put(collection, collection, value, version=0)
        for number, (doc_id, seconds, value) in enumerate(closed):
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
            path = home / f"closed/{at:%Y-%m}/{doc_id}.{at:%Y-%m-%dT%H:%M:%SZ}.{number + 2}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        for name, kept in records.items():
            _journal(home, name, kept)
        _queue(home, steps)
        for path, text in notes.items():
            store.notes.put(f"memory/{path}", text)
        for line in lines:
            store.decisions.note(line, line)

    return fill


def _journal(home: Path, name: str, lines: list[dict[str, Any] | bytes]) -> None:
    path = journal_path(home, name)
    journal = NdjsonJournal(path, rotate_bytes=100)
    for line in lines:
        if isinstance(line, bytes):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(line + b"\n")
        else:
            journal.append(line)


def _queue(home: Path, steps: list[tuple[str, JobKind, str]]) -> None:
    clock = FakeClock()
    queue = SpoolQueue(home / "queue", clock)
    for number, (key, kind, fate) in enumerate(steps):
        clock.advance(1)
        queue.put(some_work(f"{key}{number}", kind, number=number))
        while fate != "wait" and (job := queue.claim()) is not None and fate != "run":
            if not queue.give_back(job, why="no luck") or fate == "back":
                break


@settings(
    max_examples=settings().max_examples // 5,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(of_process=homes(), of_team=homes())
def test_what_goes_there_and_back_is_the_same(
    database: Database, of_process: Callable[[Path], None], of_team: Callable[[Path], None]
) -> None:
    """Documents with versions, closed threads with moments, records, damage and jobs, in their order, of every team."""
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    with tempfile.TemporaryDirectory() as folder:
        home, back = Path(folder, "home"), Path(folder, "back")
        team_home = Path("teams", TEAM)
        of_process(home)
        of_team(home / team_home)
        for place in (home, home / team_home):
            FileStore(place).journal(EVENTS).append(an_event("¿por qué? \ud800").model_dump(mode="json"))
            sorted_all(place)
        assert counts(up(home, wiped(database))) == counts(down(database, back))
        for namespace, place in (("default", Path()), (TEAM, team_home)):
            before, there, after = (
                held(store)
                for store in (
                    FileStore(home / place, is_reader=True),
                    PostgresStore(database, namespace, home),
                    FileStore(back / place, is_reader=True),
                )
            )
            for one in (before, there, after):
                for name in OF_PROCESS & one.keys() if namespace == TEAM else ():
                    del one[name]  # a team finds it in the process's directory
            assert there == before
            assert after == before
            assert waiting(back / place) == waiting(home / place)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A small data directory."""
    return small_home(tmp_path / "home")


def small_home(home: Path) -> Path:
    """Fill a data directory as an orderly stop leaves it: a message, a document and a job."""
    store = FileStore(home)
    store.journal(EVENTS).append(an_event().model_dump(mode="json"))
    sorted_all(home)
    store.documents.put("briefs", "briefs", {"said_at": 1, "unknown": [2]}, version=0)
    _queue(home, [("a", JobKind.USER, "wait")])
    return home


def files(home: Path) -> dict[str, bytes]:
    """Return what a directory holds, but for the files of its locks."""
    paths = [path for path in home.rglob("*") if path.is_file() and not path.name.endswith("lock")]
    return {str(path.relative_to(home)): path.read_bytes() for path in paths}


def is_empty(database: Database) -> bool:
    """Whether a database holds no state."""
    tables = ("triage_documents", "triage_archive", "triage_journals", "triage_records", "procrastinate_jobs")
    with database.reading() as connection:
        return not any(connection.execute(f"SELECT 1 FROM {table}".encode()).fetchone() for table in tables)


@contextmanager
def forgetful(database: Database) -> Iterator[None]:
    """Have the database drop every document it is given, without a word, for as long as the block lasts."""
    with database.writing() as connection:
        connection.execute("CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
        connection.execute(
            "CREATE TRIGGER forget BEFORE INSERT ON triage_documents FOR EACH ROW EXECUTE FUNCTION forget()"
        )
    try:
        yield
    finally:
        with database.writing() as connection:
            connection.execute("DROP FUNCTION forget() CASCADE")


def test_a_move_that_loses_a_document_is_undone_and_says_which(database: Database, home: Path) -> None:
    """Both sides are counted before anything is kept."""
    before = files(home)
    wiped(database)
    with forgetful(database), pytest.raises(StoreError, match=r"briefs of default: 1 here, 0 there"):
        up(home, database)
    assert is_empty(database)
    assert files(home) == before


def test_a_command_that_writes_while_its_state_is_copied_loses_nothing(
    database: Database, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the terminal answered must not stand in the old copy alone."""
    Collection(FileStore(home).documents, SESSIONS).evolve("web", every_s=60)
    copied = state_move._copy

    def copy(*states: Any) -> None:
        copied(*states)
        Collection(FileStore(home).documents, SESSIONS).evolve("web", every_s=90)

    monkeypatch.setattr(state_move, "_copy", copy)
    with pytest.raises(StoreError, match="while it was copied"):
        up(home, wiped(database))
    assert SingleDocument(FileStore(home).documents, MOVED).read() == {}


def test_a_message_that_was_delivered_before_the_move_is_known_after_it(database: Database, home: Path) -> None:
    """A second delivery to a replica is not journaled."""
    from bot.adapters.storage.postgres.postgres_documents import PostgresJournal

    up(home, wiped(database))
    journal = PostgresJournal(database, "default", EVENTS)
    again, other = (an_event(ts=ts).model_dump(mode="json") for ts in (an_event().message_id, "1700000099.000100"))
    assert not journal.append_once(again, names_of_record(again))
    assert journal.append_once(other, names_of_record(other))
    assert len(list(journal.records())) == 2


def test_a_job_that_was_claimed_when_the_process_died_is_returned_in_the_database(
    database: Database, home: Path
) -> None:
    """It counts as a death alone and as no attempt, as a start on the files counts it."""
    from bot.adapters.storage.postgres.procrastinate_queue import ProcrastinateQueue

    assert SpoolQueue(home / "queue", FakeClock()).claim() is not None
    up(home, wiped(database))
    queue = ProcrastinateQueue(database, "default", FakeClock())
    try:
        job = queue.claim()
    finally:
        queue.close()
    there = SpoolQueue(home / "queue", FakeClock()).claim()
    assert job is not None
    assert there is not None
    assert (job.key, job.attempts, job.deaths, job.deaths_alone) == ("a0", 1, 1, 1)
    assert (there.key, there.attempts, there.deaths, there.deaths_alone) == ("a0", 1, 1, 1)


def test_a_database_that_holds_state_is_refused(database: Database, home: Path, tmp_path: Path) -> None:
    """Nothing of it is mixed with what a directory holds, and the directory stays usable."""
    up(home, wiped(database))
    other = tmp_path / "other"
    FileStore(other).documents.put("briefs", "briefs", {}, version=0)
    before = files(other)
    with pytest.raises(InputError, match="holds state of triage already"):
        up(other, database)
    assert files(other) == before


def test_a_running_bot_is_named_and_nothing_moves(database: Database, home: Path, tmp_path: Path) -> None:
    """On the files by their lock, in the database by its sign of life."""
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    wiped(database)
    lease = FileLeases(home).take(HOME)
    with pytest.raises(ConfigError, match=rf"process {os.getpid()}\b"):
        up(home, database)
    lease.release()
    replicas = PostgresReplicas(database)
    replicas.beat("1.0", Role.ALL, timedelta())
    with pytest.raises(ConfigError, match=rf"process {os.getpid()} on "):
        up(home, database)
    replicas.leave()
    assert is_empty(database)
    up(home, database)
    replicas.beat("1.0", Role.ALL, timedelta())
    with pytest.raises(ConfigError, match=rf"process {os.getpid()} on "):
        down(database, tmp_path / "back")
    replicas.leave()
    assert files(tmp_path / "back") == {}


def a_damaged_document(home: Path) -> str:
    (home / "paused.json").write_text("{half")
    return "paused.json"


def a_damaged_closed_thread(home: Path) -> str:
    (home / "closed" / "2026-01").mkdir(parents=True)
    (home / "closed" / "2026-01" / "T1.C1.1.2026-01-01T00:00:00Z.json").write_text("[1]")
    return "T1.C1.1.2026-01-01T00:00:00Z.json"


def a_damaged_document_of_many(home: Path) -> str:
    (home / "overrides.json").write_text('{"api": 1}')
    return "overrides.json"


def a_message_that_was_not_sorted(home: Path) -> str:
    FileStore(home).journal(EVENTS).append(an_event(ts="1700000099.000100").model_dump(mode="json"))
    return "not sorted"


@each_row(
    "left", [a_damaged_document, a_damaged_closed_thread, a_damaged_document_of_many, a_message_that_was_not_sorted]
)
def test_what_only_a_start_or_a_person_can_settle_is_refused(
    database: Database, tmp_path: Path, left: Callable[[Path], str]
) -> None:
    """It is named, and both sides stay as they are."""
    home = small_home(tmp_path / "home")
    name, before = left(home), files(home)
    with pytest.raises(InputError, match=rf"{re.escape(name)}.* start triage once, stop it, and type this again"):
        up(home, wiped(database))
    assert is_empty(database)
    assert files(home) == before


def test_a_damaged_job_is_refused_until_its_message_can_be_queued_again(database: Database, home: Path) -> None:
    """It is set aside as a start does it; with its file here, the start knows from when on messages have no job."""
    (home / "queue" / "user_1_2.json").write_text("{half")
    for _ in range(2):
        with pytest.raises(InputError, match="start triage once"):
            up(home, wiped(database))
    assert is_empty(database)
    (home / "queue" / "user_1_2.json.corrupt").unlink()
    up(home, database)


def test_what_was_set_aside_stays_and_is_named(database: Database, home: Path, tmp_path: Path) -> None:
    """In either direction."""
    (home / "state").mkdir()
    (home / "state" / "T1.C1.1.json.corrupt").write_text("{half")
    assert up(home, wiped(database)).stays == ["T1.C1.1.json.corrupt"]
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO triage_damaged (namespace, collection, id, version, content, written_at) "
            "VALUES ('default', 'threads', 'T1.C1.2', 1, '1', now())"
        )
    [stays] = down(database, tmp_path / "back").stays
    assert stays.startswith("T1.C1.2.")


def test_a_way_back_that_fails_leaves_an_empty_directory(database: Database, home: Path, tmp_path: Path) -> None:
    """The database stays the one that is worked on."""
    up(home, wiped(database))
    with database.writing() as connection:
        connection.execute("UPDATE procrastinate_jobs SET args = '{}', status = 'todo'")
    with pytest.raises(InputError, match="cannot be read"):
        down(database, tmp_path / "back")
    assert files(tmp_path / "back") == {}
    open_engine(Environment(home=home, database_url=SecretStr(database._url))).close()


def test_no_start_works_on_the_copy_that_was_left(database: Database, home: Path, tmp_path: Path) -> None:
    """It says where the state went, and what to set; the database's own start does not mind."""
    url = SecretStr(database._url)
    up(home, wiped(database))
    with pytest.raises(ConfigError, match=r"moved to the database .*TRIAGE_DATABASE_URL"):
        open_engine(Environment(home=home))
    open_engine(Environment(home=home, database_url=url)).close()
    back = tmp_path / "back"
    down(database, back)
    with pytest.raises(ConfigError, match=rf"moved to {back} .*TRIAGE_HOME"):
        open_engine(Environment(home=home, database_url=url))
    open_engine(Environment(home=back)).close()
    with pytest.raises(InputError, match="move it from there"):
        down(database, tmp_path / "another")


def test_a_copy_that_was_cut_off_is_not_worked_on(home: Path) -> None:
    """The mark of an unfinished copy goes when it is whole."""
    SingleDocument(FileStore(home).documents, MOVED).update({"unfinished": True})
    with pytest.raises(ConfigError, match="not finished"):
        open_engine(Environment(home=home))


def test_a_team_that_a_link_gave_the_first_state_has_it_again(database: Database, home: Path, tmp_path: Path) -> None:
    """It keeps the process's own namespace there, each replica learns whose that is, and here it gets its link."""
    from bot.adapters.storage.postgres.postgres_documents import PostgresDocuments

    (home / "teams").mkdir()
    (home / "teams" / TEAM).symlink_to("..", target_is_directory=True)
    assert {one.namespace for one in up(home, wiped(database)).counted} == {"default"}
    assert PostgresDocuments(database, "default").get("handed_over", "handed_over").value["to"] == TEAM
    down(database, tmp_path / "back")
    assert (tmp_path / "back" / "teams" / TEAM).resolve() == tmp_path / "back"


def test_files_of_runs_move_in_chunks_and_keep_their_age(database: Database, home: Path, tmp_path: Path) -> None:
    """What a replica fetches there and what lies here afterwards is what was here."""
    from bot.adapters.storage.postgres.postgres_engine import PostgresStore

    run = home / "runs" / "T1.C1.1-r1"
    (run / "deep").mkdir(parents=True)
    for name, content in (("trace.json", b"{}"), ("deep/log", os.urandom(3_000_000)), ("empty", b"")):
        (run / name).write_bytes(content)
    for path in (*run.rglob("*"), run):
        os.utime(path, (1.7e9, 1.7e9))
    assert counts(up(home, wiped(database)))["default/folders of runs"] == (1, 1)
    down(database, back := tmp_path / "back")
    fetched = PostgresStore(database, "default", tmp_path / "replica").runs.fetch("runs/T1.C1.1-r1")
    assert files(fetched) == files(back / "runs" / "T1.C1.1-r1") == files(run)
    assert last_touched(back / "runs" / "T1.C1.1-r1") == last_touched(run)


def kept_home(home: Path) -> Path:
    """Return a data directory with something in it that each schema changed, or might have."""
    documents = FileStore(home).documents
    threads, sessions = Threads(documents), Collection(documents, SESSIONS)
    threads.put(DOUBTFUL)
    ended = in_status(ThreadStatus.CLOSED, thread_id="T1.C1.1.1")
    threads.put(ended)
    threads.archive(ended.thread_id)
    sessions.change("shop", lambda now: now.evolve(inbox_read=3))
    documents.put("briefs", "briefs", {"later": [1], SCHEMA_KEY: SCHEMA_VERSION}, version=0)
    FileStore(home).notes.create("limits", "of the API")
    documents.put("clones", "shop", {SCHEMA_KEY: SCHEMA_VERSION}, version=0)
    _queue(home, [("a", JobKind.USER, "wait"), ("b", JobKind.USER, "fail")])
    return home


def engines(database: Database, home: Path) -> Mapping[str, Callable[[], Engine]]:
    """Return what opens the same state in either engine."""
    return {"files": lambda: FileEngine(home), "postgres": lambda: engine_of(database, home)}


@pytest.mark.parametrize("kind", ["files", "postgres"])
def test_state_goes_back_to_an_earlier_schema(database: Database, tmp_path: Path, kind: str) -> None:
    """Open and closed threads, sessions and jobs; a second time nothing is left, and this version reads on."""
    home = kept_home(tmp_path / "home")
    if kind == "postgres":
        up(home, wiped(database))
    engine = engines(database, home)[kind]()
    counted = {"threads": 1, "sessions": 1, "briefs": 1, "closed threads": 1, "jobs": 2, "clones": 1}
    more = {"moved": 1, "notes": 1} if kind == "postgres" else {}
    assert rewrite(engine, home, 1) == counted | more
    refuse_newer(engine.store(home).documents, ALL_COLLECTIONS)
    assert rewrite(engine, home, 1) == {}
    documents = engine.store(home).documents
    [thread] = documents.list(THREADS.name)
    assert thread.value is not None
    assert (thread.value[SCHEMA_KEY], "doubts" in thread.value, thread.version) == (1, False, 1)
    again = Threads(documents).get(thread.id)
    assert again is not None
    assert again.doubts == DOUBTFUL.doubts
    assert Threads(documents).last_closed("T1.C1.1.1") == in_status(
        ThreadStatus.CLOSED, thread_id="T1.C1.1.1", version=1
    )
    assert Collection(documents, SESSIONS).get("shop").inbox_read == 3
    assert SingleDocument(documents, "briefs").read() == {"later": [1]}
    jobs = engine.jobs(home, FakeClock(), changed=Condition())
    assert (len(jobs.unclaimed()), len(jobs.failed())) == (1, 1)


@pytest.mark.parametrize("kind", ["files", "postgres"])
def test_what_a_later_release_wrote_is_for_that_release_to_lead_back(
    database: Database, tmp_path: Path, kind: str
) -> None:
    """This one does not know how, and another number alone would make damage of it."""
    home = kept_home(tmp_path / "home")
    if kind == "postgres":
        up(home, wiped(database))
    engine = engines(database, home)[kind]()
    engine.store(home).documents.put("pause", "pause", {SCHEMA_KEY: SCHEMA_VERSION + 1}, version=0)
    before = engine.store(home).documents.list(THREADS.name)
    with pytest.raises(NewerSchema):
        rewrite(engine, home, 1)
    assert engine.store(home).documents.list(THREADS.name) == before


def test_every_table_moves_or_is_known_to_stay(database: Database) -> None:
    """A new table has to be decided on: what holds state is locked, and belongs to a port that is copied."""
    from bot.adapters.storage.postgres.postgres_engine import _TABLES

    stay = {"triage_migrations", "triage_leases", "triage_paces", "triage_replicas"}
    with database.reading() as connection:
        found = {
            name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'triage%'")
        }
    assert found == {name for name in _TABLES.split(", ") if name.startswith("triage")} | stay
