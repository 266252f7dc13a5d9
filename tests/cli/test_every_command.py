"""Every command as a person runs it, on what a real demo left: 80 columns wide, not a terminal, no colour."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
import threading
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.__main__ import COMMANDS, main
from demo.watched import SESSION
from tests import fork_server
from tests.cli.typed import Said, typed
from tests.gitrepo import make_repo
from tests.journeys.shop import SHOP, TIMEOUTS
from tests.tables import each_row

WIDTH = 80
LONG_WORD = 30
"""From here on a word is a path, a link or an id: its line may be longer than the screen."""
_LIMIT_S = 180


@dataclass(frozen=True)
class Desk:
    """A data directory, the folder the commands run in, and the thread that was answered."""

    folder: Path
    thread: str

    def words(self, text: str) -> list[str]:
        """Return what is typed; THREAD, SESSION and HOME stand for what the demo left."""
        known = {"THREAD": self.thread, "SESSION": SESSION, "HOME": str(self.folder / "home")}
        return [known.get(word, word) for word in text.split()]

    def type(self, text: str) -> Said:
        """Type a command."""
        return typed(self.words(text), self.folder, environment(self.folder, TRIAGE_HOME=str(self.folder / "home")))

    def run_unread(self, text: str) -> tuple[int, str]:
        """Run `triage` as a process whose output nobody reads any more; return its exit code and what it said of it."""
        reading, writing = os.pipe()
        os.close(reading)
        env = environment(self.folder, TRIAGE_HOME=str(self.folder / "home"))
        with os.fdopen(writing, "w") as out, tempfile.TemporaryFile("w+") as err:
            process = fork_server.start("bot", *self.words(text), env=env, cwd=self.folder, stdout=out, stderr=err)
            code = process.wait(_LIMIT_S)
            err.seek(0)
            return code, err.read()


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "80", "NO_COLOR": "1", **more}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, slack_binary: Path) -> Desk:
    """What `triage demo --headless` leaves behind, and a config that no parser takes."""
    folder = tmp_path_factory.mktemp("desk")
    shop = make_repo(folder / "shop", SHOP)
    where = ["--home", str(folder / "home"), "--codebase", str(shop), "--question", TIMEOUTS]
    env = environment(folder, TRIAGE_LOCAL_SLACK=str(slack_binary))
    done = fork_server.run("bot", "demo", "--headless", "--json", *where, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    (folder / "broken.yml").write_text("codebase: [\n  x: :\n")
    return Desk(folder, json.loads(done.stdout)["thread_id"])


def too_wide(text: str) -> list[str]:
    """Return the lines that are wider than the screen though a break would have helped; a command is one word."""
    wide = [line for line in text.splitlines() if len(line) > WIDTH]
    return [line for line in wide if max(map(len, re.findall(r"`[^`]+`|\S+", line))) < LONG_WORD]


def assert_designed(done: Said) -> None:
    """Fit for a terminal and for a file."""
    both = done.stdout + done.stderr
    assert too_wide(both) == []
    assert "\x1b" not in both
    assert "Traceback" not in both


@each_row(
    "words",
    [
        "status",
        "metrics",
        "metrics --autonomy",
        "metrics --sample 3",
        "why THREAD",
        "verify THREAD",
        "backtest HOME",
        "investigate How?",
        "heartbeat",
        "heartbeat list",
        "heartbeat log SESSION",
        "heartbeat why SESSION",
        "tiers SESSION",
        "tiers SESSION due",
        "pollinate",
        "pollinate list",
        "help",
        "help heartbeat",
        "help tiers add",
        "brief",
    ],
)
def test_an_answer_fits_the_screen(desk: Desk, words: str) -> None:
    """Nothing of it is wider than it must be, and none of it is an error."""
    done = desk.type(words)
    assert done.returncode == 0 or words == "investigate How?", done.stderr
    assert done.stdout.strip()
    assert_designed(done)


def test_the_doctor_says_once_that_there_are_no_tokens(desk: Desk) -> None:
    """Checks that need them refer to the one that names them."""
    while "no answer within" in (done := desk.type("doctor")).stdout:
        pass  # on a busy machine a check may have too little time
    assert done.returncode == 1
    assert done.stdout.count("SLACK_BOT_TOKEN is not set") == 1
    assert "see tokens:" in done.stdout
    assert_designed(done)


def test_help_fits_the_screen(desk: Desk) -> None:
    """Of every command, and of some that have more words."""
    for name in [*COMMANDS, "heartbeat every", "heartbeat wake", "pollinate accept"]:
        done = desk.type(f"{name} --help")
        assert (done.returncode, done.stdout[: len(name) + 14]) == (0, f"Usage: triage {name}")
        assert_designed(done)


@each_row(
    "words, code, says",
    [
        ("statsu", 2, "Did you mean `triage status`?"),
        ("status --frob", 2, "Next: triage status --help"),
        ("status --chekc", 2, "Did you mean one of: '--check'"),
        ("heartbeat frob", 2, "Next: triage heartbeat --help"),
        ("heartbeat lst", 2, "Did you mean `triage heartbeat list`"),
        ("tiers SESSION ad daily x", 2, "Did you mean `triage tiers add`?"),
        ("tiers SESSION add daily", 2, "Missing argument 'TASK...'"),
        ("heartbeat why nope", 1, "there are storefront"),
        ("why nonsense", 1, "or is a link copied from Slack"),
        ("why T1.C1.1.2", 1, "`triage status` lists the open"),
        ("verify T1.C1.1.2", 1, "`triage status` lists the open"),
        ("verify ../x", 1, "one looks like T01.C01.1700000000.000100"),
        ("pollinate accept zzz", 1, "nothing waits"),
        ("metrics --days x", 2, "is not a valid integer range"),
        ("backtest /nope", 1, "give a Slack export"),
        ("investigate", 2, "ask one, as in `triage investigate"),
        ("search", 2, "give one, as in `triage search"),
        ("search x --codebase /nope", 2, "give the path of a git checkout"),
        ("init --no-input", 1, "`triage init --help` lists the options"),
        ("demo --codebase /nope --headless", 2, "give the path of a git checkout"),
        ("status --home /etc/passwd", 2, "give the data directory of `triage run`"),
        ("run --config /nope.yml", 2, "`triage init` writes one"),
        ("heartbeat list --config broken.yml", 2, "is not valid YAML at line 2"),
        ("tiers SESSION --config broken.yml", 2, "is not valid YAML at line 2"),
        ("investigate x --config broken.yml", 2, "is not valid YAML at line 2"),
        ("run --config broken.yml", 2, "is not valid YAML at line 2"),
    ],
)
def test_a_refusal_says_what_and_what_next(desk: Desk, words: str, code: int, says: str) -> None:
    """On stderr, with the exit code a script can tell it by; stdout stays empty."""
    done = desk.type(words)
    assert (done.returncode, done.stdout) == (code, "")
    assert " ".join(says.split()) in " ".join(done.stderr.split())
    assert_designed(done)


@each_row("words", ["metrics", "tiers --help"])
def test_whoever_reads_only_the_beginning_is_told_nothing(desk: Desk, words: str) -> None:
    """`triage … | head -1` ends as a program that SIGPIPE ended, without a word."""
    assert desk.run_unread(words) == (141, "")


def test_an_output_that_takes_no_more_is_named(tmp_path: Path) -> None:
    """A full disk is no error of ours: one sentence, exit code 1."""
    with Path("/dev/full").open("w") as out, tempfile.TemporaryFile("w+") as err:
        env = environment(tmp_path, TRIAGE_HOME=str(tmp_path / "home"))
        code = fork_server.start("bot", "status", env=env, cwd=tmp_path, stdout=out, stderr=err).wait(_LIMIT_S)
        err.seek(0)
        assert (code, err.read().replace("\n", " ").count("No space left on device; free space")) == (1, 1)


def test_letters_that_the_terminal_lacks_are_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks of `triage doctor` on a terminal of plain ASCII."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, value in {"argv": ["triage", "doctor"], "excepthook": sys.excepthook}.items():
        monkeypatch.setattr(sys, name, value)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    terminal = io.TextIOWrapper(io.BytesIO(), "ascii")
    with redirect_stdout(terminal), redirect_stderr(terminal):
        main()
    terminal.flush()
    assert terminal.buffer.getvalue().startswith(rb"  \u2713 release")  # type: ignore[attr-defined]


@each_row("words", ["search", "investigate", "why"])
def test_a_word_that_is_missing_is_exit_code_2(words: str, tmp_path: Path) -> None:
    """Whatever the command: with the usage, what is missing, and where more is said."""
    done = typed([words], tmp_path, environment(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"Usage: triage {words} [OPTIONS]")
    assert done.stderr.endswith(f"Next: triage {words} --help\n")


def test_a_folder_in_the_place_of_triage_yml_is_named(tmp_path: Path) -> None:
    """Docker makes one of a file that it is told to mount and that is not there."""
    (tmp_path / "triage.yml").mkdir()
    done = typed(["run"], tmp_path, environment(tmp_path))
    assert (done.returncode, "triage.yml is no file" in done.stderr) == (2, True)


@each_row("words", ["tiers shop add quick", "investigate", "heartbeat assign shop", "search"])
def test_what_was_not_typed_in_utf_8_is_refused(tmp_path: Path, words: str) -> None:
    """Half characters can be neither stored nor sent; the sentence says what is wrong with which words."""
    said = typed([*words.split(), os.fsdecode(b"caf\xe9 retry")], tmp_path, {"TRIAGE_HOME": str(tmp_path)})
    assert (said.returncode, said.stdout) == (1, "")
    assert "'caf? retry' is no UTF-8 text" in said.stderr
