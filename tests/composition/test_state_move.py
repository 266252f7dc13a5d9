"""State that moves into a database and back is the same afterwards, and a move that fails changes nothing."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from bot.adapters.storage.files.file_documents import FILES, OF_PROCESS
from bot.adapters.storage.files.file_engine import FileStore, journal_path
from bot.adapters.storage.files.file_leases import FileLeases
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.adapters.storage.files.retention import last_touched
from bot.adapters.storage.files.spool_queue import SpoolQueue
from bot.adapters.storage.queued_jobs import decode_job
from bot.adapters.storage.state_rows import STAYS
from bot.composition.storage_engine import open_engine
from bot.config.environment import Environment
from bot.domain.events import names_of_record
from bot.domain.jobs import JobKind, queue_order
from bot.errors import ConfigError, InputError, StoreError
from bot.ports import Store
from bot.ports.collections import EVENTS, HOME, MOVED, THREADS, SingleDocument, inbox_of
from bot.ports.replicas import Role
from tests.builders import an_event, some_work
from tests.fakes import FakeClock
from tests.postgres import driver, new_database

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.database import Database

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


def up(home: Path, database: Database) -> dict[str, tuple[int, int]]:
    """Move a directory into a database; return what was counted."""
    from bot.composition.state_move import to_database

    return {f"{one.namespace}/{one.what}": (one.before, one.after) for one in to_database(home, database, print)}


def down(database: Database, home: Path) -> None:
    """Move a database into a directory."""
    from bot.composition.state_move import to_directory

    to_directory(database, home, print)


def held(store: Store) -> dict[str, Any]:
    """Return all that a store holds, as its readers see it; of an archived document also for when."""
    documents = store.documents
    found: dict[str, Any] = {
        name: [(one.id, one.version, one.value) for one in documents.list(name)] for name in COLLECTIONS
    }
    for one in documents.archived(THREADS.name):
        read = documents.read_archived(THREADS.name, one)
        found.setdefault("closed", []).append((one.doc_id, one.at, read and (read.version, read.value)))
    found["set aside"] = [(one.doc_id, one.at) for one in documents.damaged(THREADS.name)]
    found["notes"] = [(note.ref, note.whole) for note in store.notes.all()]
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
            found.append((folder, job.model_dump(mode="json", exclude={"job_id"})))
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
DOCUMENTS = st.dictionaries(
    st.tuples(st.sampled_from(MANY), IDS), st.tuples(st.integers(1, 3), OBJECTS) | RUBBISH, max_size=6
)
SINGLE = st.dictionaries(st.sampled_from(sorted(set(COLLECTIONS) - set(MANY))), OBJECTS, max_size=3)
CLOSED = st.lists(st.tuples(IDS, st.integers(0, 5 * 10**6), OBJECTS | RUBBISH), max_size=5)
RECORDS = st.dictionaries(st.sampled_from(JOURNALS), st.lists(OBJECTS | RUBBISH, max_size=8), max_size=3)
NOTES = st.dictionaries(
    st.sampled_from(["a.md", "retired/a.md", "retired/b.md", "shared/x/a.md"]), TEXTS.filter(str.strip), max_size=4
)
STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(JobKind), st.sampled_from(["wait", "run", "back", "fail"])),
    max_size=6,
)


@st.composite
def homes(draw: st.DrawFn) -> Callable[[Path], None]:
    """Return what fills a data directory."""
    documents, single, closed = draw(DOCUMENTS), draw(SINGLE), draw(CLOSED)
    records, steps, notes = draw(RECORDS), draw(STEPS), draw(NOTES)

    def fill(home: Path) -> None:
        for (collection, doc_id), held in documents.items():
            if not (collection == "overrides" and isinstance(held, bytes)):
                _keep(home, collection, doc_id, held)
        for collection, value in single.items():
            _keep(home, collection, collection, (1, value))
        for number, (doc_id, seconds, held) in enumerate(closed):
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
            content = held if isinstance(held, bytes) else json.dumps(held).encode()
            path = home / f"closed/{at:%Y-%m}/{doc_id}.{at:%Y-%m-%dT%H:%M:%SZ}.{number + 2}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name, lines in records.items():
            _journal(home, name, lines)
        _queue(home, steps)
        for path, text in notes.items():
            FileStore(home).notes.put(f"memory/{path}", text)

    return fill


def _keep(home: Path, collection: str, doc_id: str, held: tuple[int, dict[str, Any]] | bytes) -> None:
    documents = FileStore(home).documents
    if isinstance(held, bytes):
        path = Path(documents.place(collection, doc_id))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held)
        return
    for version in range(held[0]):
        documents.put(collection, doc_id, held[1], version=version)


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
        FileStore(home).journal(EVENTS).append(an_event("¿por qué? \ud800").model_dump(mode="json"))
        of_process(home)
        of_team(home / team_home)
        for place in (home, home / team_home):
            sorted_all(place)
        counted = up(home, wiped(database))
        assert all(before == after for before, after in counted.values())
        down(database, back)
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
    """A small data directory after an orderly stop: a message, a job that was claimed when the process was killed."""
    home = tmp_path / "home"
    store = FileStore(home)
    store.journal(EVENTS).append(an_event().model_dump(mode="json"))
    sorted_all(home)
    store.documents.put("briefs", "briefs", {"said_at": 1, "unknown": [2]}, version=0)
    _queue(home, [("a", JobKind.USER, "run")])
    return home


def files(home: Path) -> dict[str, bytes]:
    """Return what a directory holds, but for the files of its locks."""
    paths = [path for path in home.rglob("*") if path.is_file() and not path.name.endswith("lock")]
    return {str(path.relative_to(home)): path.read_bytes() for path in paths}


def is_empty(database: Database) -> bool:
    """Whether a database holds no state."""
    from bot.adapters.storage.postgres.database_state import moving

    with moving(database, lambda *_: ()) as state:
        return state.is_empty()


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


def test_a_message_that_was_delivered_before_the_move_is_known_after_it(database: Database, home: Path) -> None:
    """A second delivery to a replica is not journaled."""
    from bot.adapters.storage.postgres.postgres_journal import PostgresJournal

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


def test_a_directory_that_is_not_empty_is_refused(database: Database, home: Path, tmp_path: Path) -> None:
    """What stands there is somebody's."""
    up(home, wiped(database))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        down(database, tmp_path / "full")
    assert files(tmp_path / "full") == {"letter": b"mine"}


def test_a_running_bot_is_named_and_nothing_moves(database: Database, home: Path, tmp_path: Path) -> None:
    """On the files by their lock, in the database by its sign of life."""
    from bot.adapters.storage.postgres.postgres_replicas import PostgresReplicas

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


def test_messages_that_a_crash_left_unsorted_do_not_move(database: Database, home: Path) -> None:
    """Only a start on the files sorts them; replicas journal and sort in one step."""
    FileStore(home).journal(EVENTS).append(an_event(ts="1700000099.000100").model_dump(mode="json"))
    with pytest.raises(InputError, match="not sorted"):
        up(home, wiped(database))
    assert is_empty(database)


def test_a_move_that_fails_changes_nothing(database: Database, home: Path) -> None:
    """A damaged job is met last, when all else is written; the directory is not marked."""
    (home / "queue" / "user_1_2.json").write_text("{half")
    before = files(home)
    with pytest.raises(StoreError, match="start triage once"):
        up(home, wiped(database))
    assert is_empty(database)
    assert files(home) == before


def test_a_way_back_that_fails_leaves_an_empty_directory(database: Database, home: Path, tmp_path: Path) -> None:
    """The database stays the one that is worked on."""
    up(home, wiped(database))
    with database.writing() as connection:
        connection.execute("UPDATE procrastinate_jobs SET args = '{}', status = 'todo'")
    with pytest.raises(StoreError, match="cannot be read"):
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
    assert {key.partition("/")[0] for key in up(home, wiped(database))} == {"default"}
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
    assert up(home, wiped(database))["default/files of runs"] == (3, 3)
    down(database, back := tmp_path / "back")
    fetched = PostgresStore(database, "default", tmp_path / "replica").runs.fetch("runs/T1.C1.1-r1")
    assert files(fetched) == files(back / "runs" / "T1.C1.1-r1") == files(run)
    assert last_touched(back / "runs" / "T1.C1.1-r1") == last_touched(run)


def test_every_table_moves_or_is_known_to_stay(database: Database) -> None:
    """A new table has to be decided on: what holds state belongs to TABLES and to DatabaseState."""
    from bot.adapters.storage.postgres.database_state import TABLES

    stay = {"triage_migrations", "triage_leases", "triage_paces", "triage_replicas"}
    with database.reading() as connection:
        found = {
            name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'triage%'")
        }
    assert found == {name for name in TABLES if name.startswith("triage")} | stay
