"""`triage migrate` as a person types it: what is counted, what is refused, and that no password is ever said."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from subprocess import CompletedProcess

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_engine import FileStore
from bot.adapters.storage.files.file_leases import FileLeases
from bot.cli.migrate import refuse_password
from bot.errors import InputError
from bot.ports.collections import EVENTS, HOME
from bot.ports.migrations import SCHEMA_VERSION
from tests import fork_server
from tests.builders import an_event
from tests.composition.test_state_move import files, kept_home, sorted_all
from tests.crashes.moments import Moment, after, before
from tests.fork_server import ForkedProcess
from tests.postgres import driver, new_database
from tests.replicas.database_proxy import DatabaseProxy
from tests.tables import each_row

PASSWORD = "s3cret-Passw0rd"


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TRIAGE_HOME": str(folder / "home"), "TZ": "UTC", **more}


def triage(folder: Path, words: list[str], **more: str) -> CompletedProcess[str]:
    """Run a command."""
    return fork_server.run("bot", *words, cwd=folder, env=environment(folder, **more))


def a_home(folder: Path, messages: int) -> Path:
    """Return a data directory of so many messages."""
    home = folder / "home"
    journal = FileStore(home).journal(EVENTS)
    journal.append(an_event(ts="1.000001").model_dump(mode="json"))
    line = (home / "events.ndjson").read_text()
    lines = [line.replace('"message_id":"1.', f'"message_id":"{number}.') for number in range(1, messages + 1)]
    (home / "events.ndjson").write_text("".join(lines))
    sorted_all(home)
    return home


def test_state_moves_there_and_back_and_is_counted(tmp_path: Path) -> None:
    """Both sides stand in a table; afterwards each start is told where the state is."""
    url, home = new_database(), a_home(tmp_path, 3)
    there = triage(tmp_path, ["migrate", "--to", "postgresql"], TRIAGE_DATABASE_URL=url)
    assert there.returncode == 0, there.stderr
    assert ["events", "3", "3"] in [line.split() for line in there.stdout.splitlines()]
    status = triage(tmp_path, ["status"])
    assert (status.returncode, "set TRIAGE_DATABASE_URL" in " ".join(status.stderr.split())) == (2, True)
    back = triage(tmp_path, ["migrate", "--to", "back"], TRIAGE_DATABASE_URL=url)
    assert back.returncode == 0, back.stderr
    assert ["events", "3", "3"] in [line.split() for line in back.stdout.splitlines()]
    assert (tmp_path / "back" / "events.ndjson").read_bytes() == (home / "events.ndjson").read_bytes()


def test_a_dry_run_counts_what_would_move_and_writes_nothing(tmp_path: Path) -> None:
    """Neither in the directory nor in the database, there and back; what the move would refuse is named."""
    url, home = new_database(), a_home(tmp_path, 3)
    held = files(home)
    up = triage(tmp_path, ["migrate", "--to", "postgresql", "--dry-run"], TRIAGE_DATABASE_URL=url)
    assert (up.returncode, up.stderr) == (0, "")
    assert ["events", "3"] in [line.split() for line in up.stdout.splitlines()]
    assert "Nothing was written." in up.stdout
    assert files(home) == held
    (home / "state").mkdir(exist_ok=True)
    (home / "state" / "T1.C1.9.9.json").write_text("{")
    refused = triage(tmp_path, ["migrate", "--to", "postgresql", "--dry-run"], TRIAGE_DATABASE_URL=url)
    assert (refused.returncode, "state/T1.C1.9.9.json cannot be read" in " ".join(refused.stdout.split())) == (1, True)
    (home / "state" / "T1.C1.9.9.json").unlink()
    assert triage(tmp_path, ["migrate", "--to", "postgresql"], TRIAGE_DATABASE_URL=url).returncode == 0
    again = triage(tmp_path, ["migrate", "--to", "postgresql", "--dry-run"], TRIAGE_DATABASE_URL=url)
    assert (again.returncode, "holds state of triage already" in " ".join(again.stdout.split())) == (1, True)
    down = triage(tmp_path, ["migrate", "--to", "back", "--dry-run"], TRIAGE_DATABASE_URL=url)
    assert ["events", "3"] in [line.split() for line in down.stdout.splitlines()]
    assert not (tmp_path / "back").exists()


@each_row("to", [f"postgresql://triage:{PASSWORD}@db/triage", f"postgres://triage@db/triage?password={PASSWORD}"])
def test_an_address_with_a_password_is_refused(to: str) -> None:
    """Every user of the machine reads it in the process list; it is not repeated."""
    with pytest.raises(InputError, match="process list") as refused:
        refuse_password(to)
    assert PASSWORD not in str(refused.value)


def test_no_password_is_said(tmp_path: Path) -> None:
    """Neither where the login is refused nor where nobody answers."""
    a_home(tmp_path, 1)
    url = f"postgresql://triage:{PASSWORD}@127.0.0.1:1/triage"
    refused = triage(tmp_path, ["migrate", "--to", "postgresql"], TRIAGE_DATABASE_URL=url)
    assert refused.returncode == 1
    assert PASSWORD not in refused.stdout + refused.stderr


def test_a_move_without_an_address_says_what_to_set(tmp_path: Path) -> None:
    """The address is read from the environment."""
    a_home(tmp_path, 1)
    refused = triage(tmp_path, ["migrate", "--to", "postgresql"])
    assert (refused.returncode, "TRIAGE_DATABASE_URL is not set" in refused.stderr) == (2, True)


class TestSchema:
    """`triage migrate --schema`: before an earlier release is installed again."""

    def test_it_says_what_was_rewritten(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """And a second time that there was nothing to do."""
        home = kept_home(tmp_path / "home")
        assert main(["migrate", "--home", str(home), "--schema", "1"]) == 0
        assert "1 closed threads, 2 jobs, 1 sessions, 1 threads" in capsys.readouterr().out
        assert main(["migrate", "--home", str(home), "--schema", "1"]) == 0
        assert "rewritten: nothing" in capsys.readouterr().out

    def test_it_rewrites_nothing_beside_a_running_bot(self, tmp_path: Path) -> None:
        """The bot holds what it read in memory."""
        home = kept_home(tmp_path / "home")
        lease, held = FileLeases(home).take(HOME), files(home)
        assert main(["migrate", "--home", str(home), "--schema", "1"]) == 2
        lease.release()
        assert files(home) == held


@each_row(
    "words, said",
    [
        (["--schema", "0"], "knows the schemas 1 to"),
        (["--schema", str(SCHEMA_VERSION + 1)], "knows the schemas 1 to"),
        ([], "give --to WHERE"),
        (["--schema", "1", "--to", "postgresql"], "give --to WHERE"),
        (["--to", ""], "names no directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A schema of no release, nothing, two things at once, a name that is empty."""
    home = kept_home(tmp_path / "home")
    held = files(home)
    assert main(["migrate", "--home", str(home), *words]) == 1
    assert said in " ".join(capsys.readouterr().err.split())
    assert files(home) == held


def test_a_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    """What stands there is somebody's."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    refused = triage(tmp_path, ["migrate", "--to", "full"], TRIAGE_DATABASE_URL="postgresql://nobody@127.0.0.1:1/x")
    assert (refused.returncode, "is not empty" in " ".join(refused.stderr.split())) == (1, True)
    assert files(tmp_path / "full") == {"letter": b"mine"}


@contextmanager
def killed(
    folder: Path, url: str, moment: Moment, to: str = "postgresql"
) -> Iterator[Callable[[], CompletedProcess[str]]]:
    """Kill a move at a statement of its way; yield what types the same command once more."""
    proxy, process = DatabaseProxy(url), SimpleQueue[ForkedProcess]()
    words, env = ["migrate", "--to", to], environment(folder, TRIAGE_DATABASE_URL=proxy.url)
    with closing(proxy):
        proxy.arm(moment, lambda: process.get().send_signal(signal.SIGKILL))
        victim = fork_server.start("bot", *words, cwd=folder, env=env)
        process.put(victim)
        assert victim.wait() == -signal.SIGKILL
        proxy.arm(None, lambda: None)
        yield lambda: fork_server.run("bot", *words, cwd=folder, env=env)


def test_kill_minus_nine_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """The directory is as it was and the database empty, and the same command then does it all."""
    url, home = new_database(), a_home(tmp_path, 20)
    held = files(home)
    with killed(tmp_path, url, before(r"\s*WITH restored AS", nth=2)) as again:
        assert files(home) == held
        assert _records(url) == 0
        done = again()
    assert done.returncode == 0, done.stderr
    assert _records(url) == 21


@pytest.mark.full
@each_row("moment, arrived", [(before("COMMIT", nth=2), 0), (after("COMMIT", nth=2), 21)])
def test_kill_minus_nine_at_the_commit_leaves_one_whole_side(tmp_path: Path, moment: Moment, arrived: int) -> None:
    """No start works on the directory from then on; the same command brings all of it, or says that it is there."""
    url, home = new_database(), a_home(tmp_path, 20)
    held = files(home)
    with killed(tmp_path, url, moment) as retry:  # the first COMMIT is that of the tables
        assert _records(url) == arrived
        left = files(home)
        refused = " ".join(triage(tmp_path, ["status"]).stderr.split())
        assert "set TRIAGE_DATABASE_URL" in refused
        assert "If it holds nothing, the move was cut off: type `triage migrate --to postgresql` again" in refused
        again = retry()
    assert again.returncode == (1 if arrived else 0), again.stderr
    assert ("holds state of triage already" in " ".join(again.stderr.split())) == bool(arrived)
    assert _records(url) == 21
    assert {name: content for name, content in left.items() if name in held} == held


@pytest.mark.full
@each_row("moment", [before(r"\s*SELECT number, record", nth=2), before("COMMIT", nth=2), after("COMMIT", nth=2)])
def test_kill_minus_nine_on_the_way_back_leaves_a_marked_half(tmp_path: Path, moment: Moment) -> None:
    """No start works on it; once it is removed the same command does it all."""
    url, home = new_database(), a_home(tmp_path, 20)
    assert triage(tmp_path, ["migrate", "--to", "postgresql"], TRIAGE_DATABASE_URL=url).returncode == 0
    with killed(tmp_path, url, moment, to="back") as again:
        refused = triage(tmp_path, ["status", "--home", "back"])
        assert (refused.returncode, "copy that was not finished" in " ".join(refused.stderr.split())) == (2, True)
        shutil.rmtree(tmp_path / "back")
        done = again()
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "back" / "events.ndjson").read_bytes() == (home / "events.ndjson").read_bytes()
    assert triage(tmp_path, ["status", "--home", "back"]).returncode == 0


def _records(url: str) -> int:
    with driver().connect(url, autocommit=True) as connection:
        return int(connection.execute("SELECT count(*) FROM triage_records").fetchone()[0])
