"""`triage search`: the ranking at the terminal and as a pipe."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from bot.__main__ import main
from tests.gitrepo import commit_files, make_repo
from tests.journeys.shop import SHOP

QUESTION = "how are sessions signed?"


class Terminal:
    """A codebase and a data directory for `triage search`."""

    def __init__(self, folder: Path) -> None:
        self.codebase, self.home = make_repo(folder / "shop", SHOP), folder / "home"

    def search(self, *args: str) -> int:
        return main(["search", "--home", str(self.home), "--codebase", str(self.codebase), *args])


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """A terminal beside the shop's code."""
    return Terminal(tmp_path)


def test_passages_are_printed_best_first(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has its place, its score and its first lines."""
    assert terminal.search("--json", "--limit", "2", QUESTION) == 0
    found = json.loads(capsys.readouterr().out)["passages"]
    assert 0 < len(found) <= 2
    assert set(found[0]) == {"path", "start", "end", "score"}
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert terminal.search(QUESTION) == 0
    assert f"{found[0]['path']}:{found[0]['start']}-{found[0]['end']}" in capsys.readouterr().out


def test_a_batch_answers_every_request_in_order(
    terminal: Terminal, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer a request with its id; a line that is none is named and stops nothing."""
    requests = [{"id": 7, "text": QUESTION}, {"id": "b", "text": "zeppelin moored on the roof"}]
    lines = [*(json.dumps(one).encode() for one in requests), b"no json", b'{"id": 1}', b"\xff", b""]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(lines))))
    assert terminal.search("--batch") == 0
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["id"] for one in answers] == [7, "b"]
    assert answers[0]["passages"]
    assert answers[1]["passages"] == []
    assert [line.partition(":")[0] for line in err.splitlines()] == ["line 3", "line 4", "line 5"]


def test_nothing_to_search_for_is_refused(terminal: Terminal, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a text and without --batch there is nothing to do."""
    assert terminal.search() == 2
    assert "no text" in capsys.readouterr().err


def test_each_codebase_has_its_own_index(terminal: Terminal, tmp_path: Path) -> None:
    """Two checkouts searched from one data directory do not mix; the bot's own index is the configured one's."""
    other = make_repo(tmp_path / "other", {"zeppelin.py": "MOORED = 'on the roof'\n"})
    config = tmp_path / "triage.yml"
    config.write_text(f"codebase: {terminal.codebase}\nops_channel: C0OPS\n")
    assert terminal.search(QUESTION) == 0
    assert main(["search", "--home", str(terminal.home), "--codebase", str(other), "zeppelin"]) == 0
    assert len(list((terminal.home / "index").glob("*.sqlite"))) == 2
    assert main(["search", "--home", str(terminal.home), "--config", str(config), QUESTION]) == 0
    assert (terminal.home / "index" / "passages.sqlite").is_file()


def test_what_is_not_searched_is_said_and_doctor_only_of_what_it_looks_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`triage doctor` looks at the codebases of triage.yml alone."""
    terminal = Terminal(tmp_path)
    commit_files(terminal.codebase, {"dump.sql": "-- a line\n" * 110_000})
    assert terminal.search(QUESTION) == 0
    assert capsys.readouterr().err == "not searched: 1 file over 1 MB, dump.sql\n"
