"""The contract of the port Journal, run over every implementation; below it, what only the disk can do."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.errors import StoreError
from bot.ports import Journal
from tests import fork_server
from tests.fakes import MemoryJournal
from tests.postgres import new_namespace, shared_database

Open = Callable[[], Journal]


@pytest.fixture(params=["ndjson", "postgres", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open the same journal again and again, as a process that restarts does."""
    if request.param == "ndjson":
        return lambda: NdjsonJournal(tmp_path / "log.ndjson")
    if request.param == "postgres":
        return postgres(new_namespace())
    lines: list[str] = []
    return lambda: MemoryJournal(lines)


def postgres(namespace: str) -> Open:
    database = shared_database()
    from bot.adapters.storage.postgres.postgres_documents import PostgresJournal

    return lambda: PostgresJournal(database, namespace, "log")


def test_records_come_back_in_order(reopen: Open) -> None:
    """What was appended is read, oldest first."""
    journal = reopen()
    for number in range(5):
        journal.append({"n": number})
    assert [record["n"] for record in journal.records()] == [0, 1, 2, 3, 4]


def test_records_survive_a_restart(reopen: Open) -> None:
    """A journal opened again goes on where it was."""
    reopen().append({"n": 1})
    reopen().append({"n": 2})
    assert list(reopen().records()) == [{"n": 1}, {"n": 2}]


def test_an_empty_journal_has_no_records(reopen: Open) -> None:
    """A journal nobody wrote to is empty and not an error."""
    assert list(reopen().records()) == []
    assert list(reopen().records(last_bytes=10)) == []


def test_any_text_makes_one_record(reopen: Open) -> None:
    """Line ends, separators and emoji inside a text do not split a record."""
    text = "a\nb\r\nc\u2028d\u0085e\x00 🧵 <!channel> \\n \" 'ü"
    reopen().append({"text": text})
    assert list(reopen().records()) == [{"text": text}]


def test_the_last_bytes_are_the_newest_records(reopen: Open) -> None:
    """With last_bytes only whole records near the end are read, oldest first."""
    journal = reopen()
    for number in range(100, 200):
        journal.append({"n": number})
    tail = [record["n"] for record in journal.records(last_bytes=60)]
    assert 0 < len(tail) <= 6
    assert tail == list(range(200 - len(tail), 200))


def test_last_bytes_beyond_the_size_is_everything(reopen: Open) -> None:
    """A journal smaller than last_bytes is read whole."""
    reopen().append({"n": 1})
    assert list(reopen().records(last_bytes=10**9)) == [{"n": 1}]


def test_records_that_hold_a_text_are_found_by_it(reopen: Open) -> None:
    """Quotes and line ends in what is looked for are those of the text, not of its JSON."""
    journal = reopen()
    for text in ("plain", 'say "hi"\n', "ünï 🧵", "other"):
        journal.append({"text": text})
    assert [one["text"] for one in journal.records(containing='"hi"\n')] == ['say "hi"\n']
    assert [one["text"] for one in journal.records(containing="ï 🧵")] == ["ünï 🧵"]
    assert list(journal.records(containing="nobody wrote this")) == []


def test_the_newest_record_comes_first_on_the_way_back(reopen: Open) -> None:
    """All records, the last one first, however long their lines are; an empty journal has none."""
    assert list(reopen().newest_first()) == []
    journal = reopen()
    for number in range(400):
        journal.append({"n": number, "pad": "x" * (200_000 if number == 200 else number)})
    assert [record["n"] for record in reopen().newest_first()] == list(reversed(range(400)))


def test_eight_threads_lose_and_tear_nothing(reopen: Open) -> None:
    """Appends from many threads come out whole, each thread's in its own order."""
    journal = reopen()

    def write(who: int) -> None:
        for number in range(20):
            journal.append({"who": who, "n": number, "pad": "x" * 500})

    writers = [threading.Thread(target=write, args=(who,)) for who in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    records = list(reopen().records())
    assert len(records) == 160
    assert all([r["n"] for r in records if r["who"] == who] == list(range(20)) for who in range(8))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)


@given(records=st.lists(st.dictionaries(st.text(), _JSON, max_size=3), max_size=8), cut=st.integers(0, 400))
def test_a_crash_in_the_middle_of_a_line_costs_that_line_only(
    tmp_path: Path, records: list[dict[str, object]], cut: int
) -> None:
    """Wherever the file is cut off, every whole record before is read and the next append is whole too."""
    path = tmp_path / "log.ndjson"
    path.unlink(missing_ok=True)
    journal = NdjsonJournal(path)
    for record in records:
        journal.append(record)
    data = path.read_bytes() if path.exists() else b""
    path.write_bytes(data[:cut])
    again = NdjsonJournal(path)
    again.append({"after": "the crash"})
    whole = data[:cut].count(b"\n") if cut <= len(data) else len(records)
    read = list(again.records())
    assert read[:whole] == records[:whole]
    assert read[-1] == {"after": "the crash"}
    assert len(read) + again.bad_lines <= whole + 2


class TestOnDisk:
    """What the contract cannot say because only files can be damaged."""

    def test_a_torn_last_line_costs_one_record(self, tmp_path: Path) -> None:
        """A line without its end is closed off before the next append, skipped when read, and counted."""
        path = tmp_path / "log.ndjson"
        path.write_bytes(b'{"n":1}\n{"n":2,"text":"to')
        journal = NdjsonJournal(path)
        journal.append({"n": 3})
        assert [record["n"] for record in journal.records()] == [1, 3]
        assert journal.bad_lines == 1

    @pytest.mark.parametrize("line", [b"{", b"[1]", b'"text"', b"\xff\xfe", b"[" * 100_000, b"NaN!"])
    def test_an_unreadable_line_is_skipped_and_counted(self, tmp_path: Path, line: bytes) -> None:
        """Damage in the middle hides no other record."""
        path = tmp_path / "log.ndjson"
        path.write_bytes(b'{"n":1}\n' + line + b'\n{"n":2}\n')
        journal = NdjsonJournal(path)
        assert [record["n"] for record in journal.records()] == [1, 2]
        assert journal.bad_lines == 1

    def test_bad_lines_are_counted_afresh_at_every_reading(self, tmp_path: Path) -> None:
        """Reading twice does not report the damage twice."""
        path = tmp_path / "log.ndjson"
        path.write_bytes(b"{\n")
        journal = NdjsonJournal(path)
        assert list(journal.records()) == list(journal.records()) == []
        assert journal.bad_lines == 1

    def test_a_full_file_is_renamed_and_a_new_one_begun(self, tmp_path: Path) -> None:
        """Rotation keeps every record: .1 is the oldest, the plain name the newest, and reading goes through all."""
        journal = NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=100)
        for number in range(40):
            journal.append({"n": number})
        files = sorted(path.name for path in tmp_path.iterdir())
        assert "log.ndjson" in files
        assert "log.ndjson.1" in files
        assert "log.ndjson.2" in files
        assert all(path.stat().st_size <= 100 for path in tmp_path.iterdir())
        assert [record["n"] for record in journal.records()] == list(range(40))
        first = (tmp_path / "log.ndjson.1").read_text().splitlines()
        assert json.loads(first[0]) == {"n": 0}

    def test_rotated_files_stay_in_order_past_nine(self, tmp_path: Path) -> None:
        """The tenth rotated file comes after the ninth, also in a journal opened again."""
        for number in range(15):
            NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=10).append({"n": number})
        again = NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=10)
        assert [record["n"] for record in again.records()] == list(range(15))

    def test_a_record_larger_than_a_file_is_written_all_the_same(self, tmp_path: Path) -> None:
        """The size is a limit for files, never a reason to lose a record."""
        journal = NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=50)
        journal.append({"n": 1})
        journal.append({"text": "x" * 500})
        journal.append({"n": 2})
        assert len(list(journal.records())) == 3

    def test_the_tail_reaches_back_into_the_file_rotated_last(self, tmp_path: Path) -> None:
        """Just after a rotation the newest records are in the renamed file; last_bytes still finds them."""
        journal = NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=100)
        for number in range(100, 140):
            journal.append({"n": number})
            tail = [record["n"] for record in journal.records(last_bytes=45)]
            assert tail == list(range(number + 1 - len(tail), number + 1))
            assert len(tail) >= min(number - 99, 4)

    def test_the_way_back_leads_through_rotated_files(self, tmp_path: Path) -> None:
        """However many there are."""
        journal = NdjsonJournal(tmp_path / "log.ndjson", rotate_bytes=100)
        for number in range(60):
            journal.append({"n": number})
            assert next(journal.newest_first())["n"] == number
        assert [record["n"] for record in journal.newest_first()] == list(reversed(range(60)))
        assert (tmp_path / "log.ndjson.2").exists()

    @pytest.mark.parametrize("is_kept", [True, False])
    def test_what_is_appended_after_somebody_moved_the_file_stands_in_a_new_one(
        self, tmp_path: Path, is_kept: bool
    ) -> None:
        """As another process that rotates does, or a tidy-up; nothing is written where nobody reads it."""
        path = tmp_path / "log.ndjson"
        journal = NdjsonJournal(path)
        journal.append({"n": 1})
        path.rename(tmp_path / "log.ndjson.1") if is_kept else path.unlink()
        journal.append({"n": 2})
        assert json.loads(path.read_text()) == {"n": 2}
        assert [record["n"] for record in journal.records()] == ([1, 2] if is_kept else [2])

    def test_other_files_beside_it_are_left_alone(self, tmp_path: Path) -> None:
        """Only `<name>.<number>` is a rotated file."""
        (tmp_path / "log.ndjson.bak").write_text("{}\n")
        (tmp_path / "blog.ndjson.1").write_text("{}\n")
        journal = NdjsonJournal(tmp_path / "log.ndjson")
        assert list(journal.records()) == []

    def test_a_folder_in_its_place_is_a_store_error(self, tmp_path: Path) -> None:
        """A journal that cannot be opened refuses the record instead of losing it."""
        (tmp_path / "log.ndjson").mkdir()
        with pytest.raises(StoreError, match=r"log\.ndjson"):
            NdjsonJournal(tmp_path / "log.ndjson").append({"n": 1})

    def test_a_folder_that_cannot_be_made_is_a_store_error(self, tmp_path: Path) -> None:
        """A file where the folder should be is said at once."""
        (tmp_path / "home").write_text("in the way")
        with pytest.raises(StoreError):
            NdjsonJournal(tmp_path / "home" / "log.ndjson").append({"n": 1})

    def test_a_full_disk_refuses_the_record_and_keeps_the_others(self, tmp_path: Path) -> None:
        """Where the disk takes only part of a line, append says so; once there is room the journal goes on."""
        script = (
            "import resource, signal, sys\n"
            "from pathlib import Path\n"
            "from bot.adapters.storage.files.ndjson_journal import NdjsonJournal\n"
            "from bot.errors import StoreError\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "journal = NdjsonJournal(Path(sys.argv[1]))\n"
            "journal.append({'n': 1})\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (40, resource.RLIM_INFINITY))\n"
            "try:\n"
            "    journal.append({'n': 2, 'pad': 'x' * 100})\n"
            "except StoreError:\n"
            "    print('refused')\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
            "journal.append({'n': 3})\n"
            "print([r['n'] for r in journal.records()])\n"
        )
        done = fork_server.run("tests.program", script, str(tmp_path / "log.ndjson"), env=os.environ)
        assert done.stdout.splitlines() == ["refused", "[1, 3]"], done.stderr


FILL_AND_APPEND = """
import resource, signal, sys
from pathlib import Path
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.errors import DiskRefused
journal = NdjsonJournal(Path(sys.argv[1]))
journal.append({"n": 1})
size = Path(sys.argv[1]).stat().st_size
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
try:
    journal.append({"n": 2, "text": "x" * 100})
except DiskRefused:
    print("refused", Path(sys.argv[1]).stat().st_size - size)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append({"n": 3})
"""


def test_what_a_full_disk_took_of_a_record_is_cut_off_again(tmp_path: Path) -> None:
    """Ten bytes fit, then no more: the record is refused as a whole, and the next one stands on a line of its own."""
    path = tmp_path / "log.ndjson"
    done = fork_server.run("tests.program", FILL_AND_APPEND, str(path), env=os.environ)
    assert done.stdout.split() == ["refused", "0"], done.stderr
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == [1, 3]


@pytest.mark.parametrize("kind", ["ndjson", "postgres"])
def test_the_lines_of_a_move_are_the_same_in_either_engine(kind: str, tmp_path: Path) -> None:
    """What is no record stays what it is, byte by byte, and is skipped there, too; records are appended behind them."""
    lines = [b'{"n":1,"unknown":[null]}', b'{"half', b"\xff", b"[2]", '{"n":"¿por qué? \\ud800"}'.encode(), b'"x"']
    there: Open = (lambda: NdjsonJournal(tmp_path / "log.ndjson")) if kind == "ndjson" else postgres(new_namespace())
    there().restore(lines, lambda record: [("n", str(record["n"]).encode("utf-8", "replace").decode())])
    assert list(there().lines()) == lines
    there().append({"n": 3})
    journal = there()
    assert [record["n"] for record in journal.records()] == [1, "¿por qué? \ud800", 3]
    assert journal.bad_lines == 4
