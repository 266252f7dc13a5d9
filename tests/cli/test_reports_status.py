"""`triage status`: the data directory as anybody with a terminal sees it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.domain.threads import PendingReason, ThreadStatus
from bot.intake.presence import Presence
from bot.ports.system import Role
from bot.ports.threads import Threads
from bot.release import program_version
from tests.builders import THREAD_ID, in_status
from tests.cli.typed import Said, typed
from tests.postgres import new_database
from tests.tables import each_row

TRIAGE = f"triage {program_version()}"
CONNECTION = "slack/connection.json"


NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def status(folder: Path, *args: str, home: str = "") -> Said:
    """Run it in `folder`."""
    return typed(["status", *args], folder, {**os.environ, "TRIAGE_HOME": home, "COLUMNS": "80"})


def test_what_waits_is_printed(tmp_path: Path) -> None:
    """Counts and damaged files first, then a row for each open thread."""
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.BOUNCED, question="why is the night export late?"))
    (tmp_path / "state" / "T1.C1.9.9.json.corrupt").write_text("{")
    done = status(tmp_path, "--home", str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{TRIAGE} at {tmp_path}\n  0 waiting for a decision, 1 being investigated\n")
    assert "why is the night export late?" in done.stdout
    said = " ".join(done.stdout.split())
    assert "state/T1.C1.9.9.json.corrupt was set aside, for it cannot be read; look at it, then remove it" in said


@each_row(
    "age_s, changes, code",
    [(5, {}, 0), (3600, {}, 1), (5, {"connected_since": None}, 1), (5, {"stopped_at": NOW}, 1)],
)
def test_a_supervisor_learns_by_the_exit_code_whether_the_bot_hears_slack(
    tmp_path: Path, age_s: int, changes: dict[str, Any], code: int
) -> None:
    """Alive and connected is 0; silent for an hour, without connection, and stopped are 1."""
    at = datetime.now(UTC) - timedelta(seconds=age_s)
    seen = Presence(
        pid=os.getpid(), host=socket.gethostname(), at=at, started_at=at, **{"connected_since": at, **changes}
    )
    (tmp_path / CONNECTION).parent.mkdir()
    (tmp_path / CONNECTION).write_text(seen.model_dump_json())
    assert status(tmp_path, "--check", "--home", str(tmp_path)).returncode == code


@each_row("home, code", [("~nobody-of-that-name/x", 2), ("", 1)])
def test_the_check_finds_the_data_directory_by_the_environment(tmp_path: Path, home: str, code: int) -> None:
    """A `~` that leads nowhere is refused; without a value it is the one in .env."""
    (tmp_path / ".env").write_text(f"TRIAGE_HOME={tmp_path}\n")
    assert status(tmp_path, "--check", home=home).returncode == code


def test_the_check_loads_neither_settings_nor_stores(tmp_path: Path) -> None:
    """A container asks every half a minute."""
    code = "import sys; from bot.__main__ import main; main(sys.argv[1:]); print(*sys.modules)"
    argv = [sys.executable, "-c", code, "status", "--check", "--home", str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "bot.cli.health" in loaded
    assert not {"bot.config.settings", "bot.ports", "bot.composition.storage_engine"} & set(loaded)


def test_a_home_that_cannot_be_read_is_said_without_a_traceback(tmp_path: Path) -> None:
    """An unknown user's home, a file, and a folder where the journal should be: exit code 2 and one line each."""
    file = tmp_path / "file"
    file.write_text("")
    (tmp_path / "home" / "events.ndjson").mkdir(parents=True)
    for home, words in (
        ("~nosuchuser", "TRIAGE_HOME: is not a usable path"),
        (str(file), f"cannot read {file}: Not a directory"),
        (str(tmp_path / "home"), f"cannot read {tmp_path / 'home' / 'events.ndjson'}: Is a directory"),
    ):
        done = status(tmp_path, home=home)
        assert (done.returncode, done.stdout) == (2, "")
        assert " ".join(done.stderr.split()).startswith(f"triage: fix this first: - {words}")
        assert "Traceback" not in done.stderr


def test_replicas_of_a_database_are_listed(tmp_path: Path) -> None:
    """With release and role; nothing is said of them where state is kept in files.

    On a busy machine `status` may come so late that the replica counts as silent, so its being alive is not asserted.
    """
    url = new_database()
    from bot.adapters.storage.postgres.database import Database
    from bot.adapters.storage.postgres.postgres_leases import PostgresReplicas

    (tmp_path / ".env").write_text(f"TRIAGE_DATABASE_URL={url}\n")
    PostgresReplicas(Database(url, max_connections=1)).beat("1.0.0", Role.WORK, timedelta())
    done = status(tmp_path, home=str(tmp_path / "home"))
    words = " ".join(done.stdout.split())
    assert f"process {os.getpid()} on {socket.gethostname()}: triage 1.0.0, role work" in words
    seen = json.loads(status(tmp_path, "--json", home=str(tmp_path / "home")).stdout)
    (replica,) = seen["replicas"]
    assert (replica["pid"], replica["role"]) == (os.getpid(), "work")
    (tmp_path / ".env").unlink()
    assert "role" not in status(tmp_path, home=str(tmp_path / "home")).stdout


QUESTION = "how often do we retry?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory with one draft that waits."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, question=QUESTION)
    Threads(FileDocuments(tmp_path)).put(state)
    return tmp_path


@pytest.mark.parametrize("word", ["open", "brief"])
def test_what_waits_is_listed(home: Path, capsys: pytest.CaptureFixture[str], word: str) -> None:
    """With the question, and with where to find it."""
    assert main([word, "--home", str(home)]) == 0
    assert QUESTION in capsys.readouterr().out


def test_programs_get_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The drafts of `open`, and all that `status` counts."""
    assert main(["open", "--json", "--home", str(home)]) == 0
    assert [each["thread_id"] for each in json.loads(capsys.readouterr().out)] == [THREAD_ID]
    assert main(["status", "--json", "--home", str(home)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["waiting"], said["connection"], said["paused"]) == (1, "never", None)
    assert said["threads"][0]["pending_reason"] == "approval"
