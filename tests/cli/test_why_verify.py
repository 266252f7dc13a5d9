"""`triage verify`: what a thread cites is looked up again, open or archived, by id or by link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import main
from bot.adapters.clocks import SystemClock
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.file_engine import FileRunFolders
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.run_records import RunRecorder
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.reports.past_thread import name_pattern
from bot.domain.returns import EvidenceKind, EvidenceRef, Usage
from bot.domain.threads import PendingReason, QuestionType, Resolution, ThreadStatus
from bot.errors import InputError
from bot.ports.threads import Threads
from tests.builders import NOW, THREAD_ID, a_return, in_status
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

LINK = "https://acme.slack.com/archives/C1/p1795165209000200?thread_ts=1795165200.000100&cid=C1"


class Archive:
    """A codebase and a data directory with one thread in it."""

    def __init__(self, folder: Path) -> None:
        self.code = make_repo(folder / "code", {"app/retry.py": "import time\n\nLIMIT = 5\n"})
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "triage.yml").write_text(f"codebase: {self.code}\nops_channel: C0OPS\n")
        self.head = GitRepo(self.code).head()

    def ref(self, kind: EvidenceKind = EvidenceKind.FILE, **changes: Any) -> EvidenceRef:
        known = {"ref": "app/retry.py:3", "commit": self.head, "quote": "LIMIT = 5"}
        return EvidenceRef(kind=kind, **{**known, **changes})

    def keep(self, *refs: EvidenceRef, closed: bool = False) -> None:
        ret = a_return(evidence_refs=refs)
        store = Threads(FileDocuments(self.home))
        ledger = Ledger().record_query("loki", "errors{app}")
        found = Investigation(ret=ret, ledger=ledger, usage=Usage(), investigator="m")
        about = Assignment(question="?", question_type=QuestionType.OTHER, rubric="", round=1)
        with RunRecorder(FileRunFolders(self.home), SystemClock()).recording("r1", "round 1") as run:
            run.trace, run.transcript = found.as_trace(), found.as_transcript(about)
        known = {"investigator_return": ret, "investigator_task_id": "r1"}
        state = store.put(in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, **known))
        if closed:
            store.put(state.close(Resolution.APPROVED, at=NOW, why="approved by <@U2>"))
            store.archive(THREAD_ID)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """The data directory that TRIAGE_HOME names."""
    archive = Archive(tmp_path)
    monkeypatch.setenv("TRIAGE_HOME", str(archive.home))
    monkeypatch.chdir(tmp_path)
    return archive


@pytest.mark.parametrize("asked", [THREAD_ID, LINK, f"<{LINK}>"])
@pytest.mark.parametrize("closed", [False, True])
def test_true_citations_are_marked_and_the_command_succeeds(
    archive: Archive, capsys: pytest.CaptureFixture[str], asked: str, closed: bool
) -> None:
    """By id or by link, open or archived; HEAD may have moved on since."""
    archive.keep(archive.ref(), archive.ref(EvidenceKind.LOG_QUERY, ref="errors{app}", commit=None), closed=closed)
    commit_files(archive.code, {"app/retry.py": "LIMIT = 9\n"}, "second")
    assert main(["verify", asked]) == 0
    out = capsys.readouterr().out
    assert "  ✓ file" in out
    assert "  ? log_query" in out
    assert "2 citations: 1 correct, 1 not checkable by code" in out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quote": "LIMIT = 6"}, "1 wrong"),
        ({"ref": "app/gone.py:3"}, "1 wrong"),
        ({"commit": "f" * 40}, "1 with no such commit here"),
        ({"kind": EvidenceKind.GIT_COMMIT, "ref": "f" * 40, "commit": None}, "1 with no such commit here"),
    ],
)
def test_one_false_citation_fails_the_command(
    archive: Archive, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], said: str
) -> None:
    """With the reason beside it, and the others still checked."""
    archive.keep(archive.ref(), archive.ref(**changes))
    assert main(["verify", THREAD_ID]) == 1
    out = capsys.readouterr().out
    assert "✗" in out
    assert f"2 citations: 1 correct, {said}" in out


def test_another_data_directory_can_be_checked_whole(
    archive: Archive, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without a thread: what is open and cites something, and the posted replies, also of threads that are gone."""
    archive.keep(archive.ref())
    wrong = archive.ref(quote="LIMIT = 6").model_dump(mode="json")
    gone = {"thread_id": "T1.C1.1790000000.000100", "posted_at": NOW.isoformat(), "evidence_refs": [wrong, "no ref"]}
    NdjsonJournal(archive.home / "replies.ndjson").append(gone)
    elsewhere = archive.home.rename(tmp_path / "backup")
    assert main(["verify", "--home", str(elsewhere)]) == 1
    out = capsys.readouterr().out
    assert "2 threads: 2 citations: 1 correct, 1 wrong" in out
    assert main(["verify", "T1.C1.1790000000.000100", "--home", str(elsewhere)]) == 1
    assert "reply posted" in capsys.readouterr().out
    assert main(["verify", THREAD_ID, "--home", str(elsewhere)]) == 0


def test_an_empty_data_directory_has_nothing_to_check(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is proved by that."""
    assert main(["verify"]) == 1
    assert "cites anything" in capsys.readouterr().out


def test_the_cited_lines_can_be_read_whole(archive: Archive, capsys: pytest.CaptureFixture[str]) -> None:
    """With their numbers; what cannot be shown says why."""
    lines = "".join(f"value_{n} = {n}  # \x1b[31m\n" for n in range(40))
    sha = commit_files(archive.code, {"app/long.py": lines}, "Long")
    long = archive.ref(ref="app/long.py:1-40", commit=sha, quote=lines.rstrip("\n"), supports_claim="It is long.")
    archive.keep(
        archive.ref(),
        long,
        archive.ref(EvidenceKind.GIT_COMMIT, ref=sha, commit=None, quote="Long"),
        archive.ref(EvidenceKind.EXTERNAL_DOC, ref="https://x.io", commit=None),
    )
    assert main(["verify", THREAD_ID, "--lines"]) == 0
    out = capsys.readouterr().out
    assert "app/retry.py:3\n3  LIMIT = 5\n" in out
    assert "40  value_39 = 39" in out
    assert "\x1b" not in out
    assert "Long\nTest, 2026-01-05" in out
    assert "(nothing to show: https://x.io is outside the codebase; code cannot look it up)" in out


def test_a_thread_that_cites_nothing_proves_nothing(archive: Archive) -> None:
    """So the command does not succeed."""
    archive.keep()
    assert main(["verify", THREAD_ID]) == 1


@pytest.mark.parametrize("lines", [[], ["--lines"]])
def test_no_citation_can_write_another_one_s_line(
    archive: Archive, capsys: pytest.CaptureFixture[str], lines: list[str]
) -> None:
    """Nor anything a terminal obeys: names, claims, commits and quotes are a model's words."""
    forged = "x\n  ✓ file         app/retry.py:3  abcdef01  the quote is verbatim\x1b[2J\u202e"
    archive.keep(
        archive.ref(EvidenceKind.EXTERNAL_DOC, ref=forged, supports_claim=forged),
        archive.ref(EvidenceKind.LOG_QUERY, ref=forged),
        archive.ref(commit=forged),
        archive.ref(EvidenceKind.MEMORY, ref=forged, quote=forged),
    )
    assert main(["verify", THREAD_ID, *lines]) == 1
    out = capsys.readouterr().out
    assert [line for line in out.split("\n") if line.startswith("  ✓")] == []
    assert "\x1b" not in out
    assert "\u202e" not in out


@each_row("link", ["https://acme.slack.com/archives/C*/p1795165200000100", "https://x.io/a?thread_ts=*"])
def test_a_link_holds_no_pattern(link: str) -> None:
    """Only ids and digits reach the file system."""
    with pytest.raises(InputError):
        name_pattern(link)
