"""The contract of the port Terminal, over tmux, plain processes and the fake; then what only the real ones do."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.adapters.terminals import SessionTerminal, choose_terminal
from bot.errors import ProviderError
from bot.ports import Terminal
from tests.fakes import MemoryTerminal
from tests.hands import Control

Open = Callable[[], Terminal]

ONE, TWO = "investigator-T1_C1_1_1", "investigator-T1_C1_1_11"
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
ENV = {"PATH": os.defpath, "HOME": "/nonexistent"}
HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'\"; touch pwned; '",
    "a\nb\ttouch pwned",
    "#{session_name} #(touch pwned) %H",
    "ends with ;",
    ";",
    "--",
    "-x",
    "",
    "\\;",
    "ü🧵",
]


@pytest.fixture(params=["tmux", "detached", "memory"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open the same terminal again and again, as a bot that restarts does; what runs at the end is ended."""
    if request.param == "tmux" and shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    fake = MemoryTerminal()
    openers: dict[str, Open] = {
        "tmux": lambda: SessionTerminal(tmp_path, tmux="tmux"),
        "detached": lambda: SessionTerminal(tmp_path, tmux=None),
        "memory": lambda: fake,
    }
    yield openers[request.param]
    terminal = openers[request.param]()
    for session in terminal.sessions():
        terminal.end(session)


def wait_for(probe: Callable[[], object], what: str) -> None:
    Control("http://localhost").wait_for(lambda: probe() or None, what)


def test_a_session_lives_until_it_is_ended(reopen: Open, tmp_path: Path) -> None:
    """start, sessions, end; ending again is harmless."""
    terminal = reopen()
    assert terminal.sessions() == frozenset()
    terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert terminal.sessions() == {ONE}
    terminal.end(ONE)
    assert terminal.sessions() == frozenset()
    terminal.end(ONE)


def test_a_session_is_seen_by_the_next_bot(reopen: Open, tmp_path: Path) -> None:
    """Whoever opens the terminal after us finds it, and can end it."""
    reopen().start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert reopen().sessions() == {ONE}
    reopen().end(ONE)
    assert reopen().sessions() == frozenset()


def test_a_name_is_never_taken_for_the_beginning_of_another(reopen: Open, tmp_path: Path) -> None:
    """tmux looks for prefixes unless told otherwise."""
    terminal = reopen()
    terminal.start(TWO, SLEEP, log=tmp_path / "two.log", env=ENV)
    terminal.end(ONE)
    assert terminal.sessions() == {TWO}
    terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert terminal.sessions() == {ONE, TWO}
    terminal.end(ONE)
    assert terminal.sessions() == {TWO}


def test_a_name_that_is_alive_is_not_started_twice(reopen: Open, tmp_path: Path) -> None:
    """The second start changes nothing, also from another bot."""
    says = [sys.executable, "-c", "import time; print('second', flush=True); time.sleep(600)"]
    first = reopen().start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert reopen().start(ONE, says, log=tmp_path / "one.log", env=ENV) == first
    assert reopen().sessions() == {ONE}


def real_only(reopen: Open) -> Terminal:
    terminal = reopen()
    if isinstance(terminal, MemoryTerminal):
        pytest.skip("the fake runs nothing")
    return terminal


def test_arguments_arrive_as_they_are(reopen: Open, tmp_path: Path) -> None:
    """No shell, no format, no separator of tmux's reads them."""
    terminal, out = real_only(reopen), tmp_path / "out.json"
    code = "import json, sys, pathlib; pathlib.Path(sys.argv[1]).write_text(json.dumps(sys.argv[2:]))"
    terminal.start(ONE, [sys.executable, "-c", code, str(out), *HOSTILE], log=tmp_path / "one.log", env=ENV)
    wait_for(lambda: ONE not in terminal.sessions(), "the end of the run")
    assert json.loads(out.read_text()) == HOSTILE
    assert list(tmp_path.rglob("pwned*")) == []


def test_a_session_starts_in_the_folder_of_the_bot(reopen: Open, tmp_path: Path) -> None:
    """Relative paths in the commands of MCP servers mean the same as in the bot."""
    terminal, out = real_only(reopen), tmp_path / "where"
    code = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(os.getcwd())"
    terminal.start(ONE, [sys.executable, "-c", code, str(out)], log=tmp_path / "one.log", env=ENV)
    wait_for(lambda: ONE not in terminal.sessions(), "the end of the run")
    assert out.read_text() == str(Path.cwd())


def test_output_streams_to_the_log_for_the_owners_eyes_only(reopen: Open, tmp_path: Path) -> None:
    """Both streams, while the run lasts."""
    terminal, log = real_only(reopen), tmp_path / "one.log"
    code = "import sys, time; print('out', flush=True); print('err', file=sys.stderr, flush=True); time.sleep(600)"
    terminal.start(ONE, [sys.executable, "-c", code], log=log, env=ENV)
    wait_for(lambda: log.exists() and log.read_text().split() == ["out", "err"], "both lines")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert terminal.sessions() == {ONE}


def test_a_session_ends_with_its_command_and_takes_what_that_started_along(reopen: Open, tmp_path: Path) -> None:
    """A grandchild that holds the output open for ever keeps nothing alive."""
    terminal, pid = real_only(reopen), tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys; sleep = [sys.executable, '-c', 'import time; time.sleep(600)'];"
        "pathlib.Path(sys.argv[1]).write_text(str(subprocess.Popen(sleep).pid))"
    )
    terminal.start(ONE, [sys.executable, "-c", code, str(pid)], log=tmp_path / "one.log", env=ENV)
    wait_for(lambda: ONE not in terminal.sessions(), "the end of the session")
    wait_for(lambda: not _is_running(int(pid.read_text())), "the end of the grandchild")


def test_ending_a_session_ends_what_it_started(reopen: Open, tmp_path: Path) -> None:
    """All of its process group."""
    terminal, pid = real_only(reopen), tmp_path / "pid"
    code = (
        "import pathlib, signal, subprocess, sys, time; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "pathlib.Path(sys.argv[1]).write_text(str(child.pid)); time.sleep(600)"
    )
    terminal.start(ONE, [sys.executable, "-c", code, str(pid)], log=tmp_path / "one.log", env=ENV)
    wait_for(lambda: pid.exists() and pid.read_text(), "the grandchild")
    terminal.end(ONE)
    wait_for(lambda: not _is_running(int(pid.read_text())), "the end of the grandchild")


def test_the_environment_is_what_was_given_each_time(reopen: Open, tmp_path: Path) -> None:
    """Nothing of ours, and nothing of the session before: a tmux server remembers what it was started with."""
    terminal = real_only(reopen)
    code = "import json, os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(json.dumps(dict(os.environ)))"
    seen = []
    for number, env in enumerate([{**ENV, "KEY": "one", "GONE": "x"}, {**ENV, "KEY": "two"}]):
        out = tmp_path / f"{number}.json"
        terminal.start(ONE, SLEEP, log=tmp_path / "keeper.log", env=ENV)  # so that a tmux server outlives the first
        terminal.start(TWO, [sys.executable, "-c", code, str(out)], log=tmp_path / "two.log", env=env)
        wait_for(lambda: TWO not in terminal.sessions(), "the end of the run")
        seen.append(json.loads(out.read_text()))
    assert [one.get("KEY") for one in seen] == ["one", "two"]
    assert [one.get("GONE") for one in seen] == ["x", None]
    assert not any("PYTEST_CURRENT_TEST" in one for one in seen)


def test_a_command_that_cannot_be_started_says_so_in_its_log(reopen: Open, tmp_path: Path) -> None:
    """The session is over at once; the reason is its last output."""
    terminal, log = real_only(reopen), tmp_path / "one.log"
    terminal.start(ONE, ["/no/such/program"], log=log, env=ENV)
    wait_for(lambda: ONE not in terminal.sessions(), "the end of the session")
    assert log.read_text() == "cannot start /no/such/program: No such file or directory\n"


def test_a_stranger_with_our_process_id_is_not_ours(tmp_path: Path) -> None:
    """The id on file counts only while the file is locked: after a reboot it may be anybody's."""
    stranger = subprocess.Popen(SLEEP, start_new_session=True)
    try:
        terminal = SessionTerminal(tmp_path, tmux=None)
        (tmp_path / "terminal" / f"{ONE}.lock").write_text(f"{stranger.pid}\n")
        assert terminal.sessions() == frozenset()
        (tmp_path / "terminal" / f"{ONE}.lock").write_text(f"{stranger.pid}\n")
        terminal.end(ONE)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_tmux_is_chosen_where_it_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, or where its socket's path would be too long, plain processes do."""
    started = []
    for home in (tmp_path / "h", tmp_path / ("long" * 25)):
        terminal = choose_terminal(home)
        started.append(terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV))
        terminal.end(ONE)
    assert started == [ONE if shutil.which("tmux") else None, None]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_terminal(tmp_path / "h").start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV) is None
    choose_terminal(tmp_path / "h").end(ONE)


def test_a_tmux_that_does_not_work_is_said(tmp_path: Path) -> None:
    """A program that fails, and none at all."""
    for program in ("false", str(tmp_path / "none")):
        terminal = SessionTerminal(tmp_path, tmux=program)
        with pytest.raises(ProviderError, match="tmux"):
            terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
        assert terminal.sessions() == frozenset()


def test_a_server_that_was_killed_has_no_sessions(tmp_path: Path) -> None:
    """Its socket stays behind; the next start works all the same."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    terminal = SessionTerminal(tmp_path, tmux="tmux")
    assert not terminal.may_hold_others()
    terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert terminal.may_hold_others()
    subprocess.run(["tmux", "-S", str(tmp_path / "tmux.sock"), "kill-server"], check=True)
    assert (tmp_path / "tmux.sock").exists()
    wait_for(lambda: not terminal.sessions(), "the end of the session")
    wait_for(lambda: not terminal.may_hold_others(), "the end of the server")
    terminal.start(ONE, SLEEP, log=tmp_path / "one.log", env=ENV)
    assert terminal.sessions() == {ONE}
    terminal.end(ONE)


def test_a_session_whose_bot_died_while_it_started_is_not_started_twice(reopen: Open, tmp_path: Path) -> None:
    """The next bot may ask before the first start has taken its lock: one of both runs, and its end is seen."""
    terminal, runs = real_only(reopen), tmp_path / "runs"
    code = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).open('a').write('x'); time.sleep(600)"
    argv = [sys.executable, "-c", code, str(runs)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: one.start(ONE, argv, log=tmp_path / "one.log", env=ENV), (terminal, reopen())))
    wait_for(lambda: runs.exists() and runs.read_text(), "the run")
    assert (runs.read_text(), terminal.sessions()) == ("x", {ONE})


def _is_running(pid: int) -> bool:
    try:
        stat_line = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat_line.rpartition(")")[2].split()[0] not in "ZX"
