"""What a citation points at, read for a person from a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.adapters.clocks import SystemClock
from bot.adapters.storage.files.file_engine import FileRunFolders, NoteFiles
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.run_records import RunRecorder
from bot.casework.checks.addresses import EvidenceReader, found_or_why, printed_lines
from bot.casework.checks.sources import Lines, Sources
from bot.domain.returns import Check, EvidenceKind, EvidenceRef
from bot.domain.threads import PendingReason, Round, ThreadStatus
from tests.builders import a_return, in_status
from tests.gitrepo import make_repo, write_files
from tests.tables import each_row

TOKEN = "ghp_" + "aB3dE5" * 6
FILES: dict[str, str | bytes] = {
    "app/retry.py": "".join(f"line_{n} = {n}\n" for n in range(1, 21)),
    "app/keys.py": f"A = 1\nTOKEN = '{TOKEN}'\nLIMIT = 5\n",
    "app/own.py": "before\nthis-is-our-own-secret\nLIMIT = 5\n",
    "deploy/.env": "LIMIT=5\n",
    "blob.bin": b"\0\1LIMIT = 5\n",
    "huge.txt": "x" * 2_100_000,
    "café/größe.py": "LIMIT = 5\n",
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """A codebase whose work tree was changed after the commit."""
    folder = make_repo(tmp_path_factory.mktemp("code"), FILES)
    (folder / "app/retry.py").write_text("nothing of it\n")
    return GitRepo(folder)


@pytest.fixture
def reader(code: GitRepo) -> EvidenceReader:
    """Knows one secret of its own."""
    return EvidenceReader(repo=code, known_secrets={"this-is-our-own-secret"})


def cite(reader: EvidenceReader, ref: str, quote: str = "LIMIT = 5", **changes: Any) -> EvidenceRef:
    """Return a citation of HEAD."""
    assert isinstance(reader.repo, GitRepo)
    known = {"kind": EvidenceKind.FILE, "ref": ref, "commit": reader.repo.head(), "quote": quote}
    return EvidenceRef(**{**known, **changes})


def read(reader: EvidenceReader, ref: EvidenceRef) -> Lines:
    found = found_or_why(ref, Sources(reader.repo, known_secrets=reader.known_secrets))
    assert isinstance(found, Lines), found
    return found


@each_row(
    "ref, shown",
    [
        ("app/retry.py:10", ["10  line_10 = 10"]),
        ("app/retry.py:9-11", [" 9  line_9 = 9", "10  line_10 = 10", "11  line_11 = 11"]),
        ("café/größe.py:1", ["1  LIMIT = 5"]),
    ],
)
def test_the_cited_lines_are_printed_with_their_numbers(reader: EvidenceReader, ref: str, shown: list[str]) -> None:
    """From the commit, not from the work tree."""
    assert printed_lines(read(reader, cite(reader, ref))) == shown


@each_row("path, secret", [("app/keys.py", TOKEN), ("app/own.py", "this-is-our-own-secret")])
def test_secrets_are_blacked_out(reader: EvidenceReader, path: str, secret: str) -> None:
    """Line numbers stay what they are."""
    shown = printed_lines(read(reader, cite(reader, f"{path}:1-3")))
    assert secret not in str(shown)
    assert "[redacted" in shown[1]
    assert shown[2] == "3  LIMIT = 5"


def test_a_line_of_a_file_can_pass_for_no_second_one() -> None:
    """Other separators of lines, and what turns the direction of reading, are the file's own words."""
    forged = "x = 1\u20283  LIMIT = 5\r4  \u202eLIMIT = 6\x1b[2J"
    found = Lines(lines=(forged,), shown=(forged,), start=2, path="a.py")
    assert printed_lines(found) == ["2  x = 1 3  LIMIT = 5 4  LIMIT = 6[2J"]


def test_a_long_line_is_cut_after_redaction(tmp_path: Path) -> None:
    """Half a token would not look like one."""
    folder = make_repo(tmp_path, {"a.py": "x" * 225 + f" '{TOKEN}'" + "y" * 500 + "\n"})
    reader = EvidenceReader(repo=GitRepo(folder))
    [line] = printed_lines(read(reader, cite(reader, "a.py:1", "xxx")))
    assert "ghp_" not in line
    assert "more characters" in line
    assert len(line) < 300


def test_each_citation_has_its_mark_its_reason_and_what_does_not_stand_there(reader: EvidenceReader) -> None:
    """As the checks of the latest round left them; no more than asked for are read."""
    refs = (cite(reader, "app/keys.py:3"), cite(reader, "app/keys.py:2", f"KEY = '{TOKEN}'"), cite(reader, "x"))
    ret = a_return(evidence_refs=refs)
    checks = (
        Check(name="ref[0].resolves", ok=True, reason="it is there"),
        Check(name="ref[0].quote", ok=True, reason="verbatim"),
        Check(name="ref[1].resolves", ok=True, reason="it is there"),
        Check(name="ref[1].quote", ok=False, reason="not verbatim"),
    )
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.DISAGREEMENT,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret, checks=checks),),
    )
    first, second, third = reader.citations(state, at_most=3)
    assert [one.mark for one in (first, second, third)] == [True, False, None]
    assert (second.reason, third.reason) == ("not verbatim", "its check was not recorded")
    assert (first.strange_quote, second.strange_quote) == ("", "KEY = '[redacted: GitHub token]'")
    assert len(reader.citations(state, at_most=1)) == 1


@each_row(
    "ref, quote, mark, why",
    [
        ("app/keys.py:3", "made up", None, "does not stand at this address"),
        ("app/gone.py:1", "LIMIT = 5", None, "there is no file"),
        ("app/keys.py:3", "", True, "it is there"),
    ],
)
def test_what_is_not_found_any_more_is_not_called_verified(
    reader: EvidenceReader, ref: str, quote: str, mark: bool | None, why: str
) -> None:
    """A ✓ stands beside lines that were just read: a run's results may be gone, an old quotation may differ."""
    ret = a_return(evidence_refs=(cite(reader, ref, quote),))
    holds = (Check(name="ref[0].resolves", ok=True, reason="it is there"),)
    state = in_status(
        ThreadStatus.PENDING_USER,
        PendingReason.APPROVAL,
        investigator_return=ret,
        rounds=(Round(round=1, investigator_return=ret, checks=holds),),
    )
    [citation] = reader.citations(state, at_most=1)
    assert citation.mark is mark
    assert why in citation.reason


def test_results_and_notes_are_shown_as_well(code: GitRepo, tmp_path: Path) -> None:
    """The ledger of the run that made the draft has the results; memory/ has the notes."""
    runs, memory = RunRecorder(FileRunFolders(tmp_path), SystemClock()), NoteFiles(tmp_path / "memory")
    write_files(tmp_path / "memory", {"limits.md": "# Limits\nFive.\n"})
    with runs.recording("r1", "round 1") as run:
        run.trace = {"ledger": Ledger().record_query("logs__query", "up", f"ok\n42 errors\n{TOKEN}").model_dump()}
    refs = (
        EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref="1:2-3"),
        EvidenceRef(kind=EvidenceKind.MEMORY, ref="limits.md:2"),
    )
    ret = a_return(evidence_refs=refs)
    state = in_status(
        ThreadStatus.PENDING_USER, PendingReason.APPROVAL, investigator_return=ret, investigator_task_id="r1"
    )
    shown = EvidenceReader(repo=code, runs=runs, notes=memory).citations(state, at_most=9)
    assert [printed_lines(one.found) for one in shown if isinstance(one.found, Lines)] == [
        ["2  42 errors", "3  [redacted: GitHub token]"],
        ["2  Five."],
    ]


def test_what_nobody_checked_bears_no_mark_of_an_earlier_round(reader: EvidenceReader) -> None:
    """A long run that found no answer hands over citations that no check has seen."""
    state = in_status(ThreadStatus.PENDING_USER, PendingReason.FAILED)
    holds = tuple(Check(name=f"ref[0].{what}", ok=True, reason="") for what in ("resolves", "quote"))
    state = state.evolve(
        rounds=(Round(round=1, investigator_return=a_return(), checks=holds),),
        investigator_return=a_return(draft_reply="", evidence_refs=(cite(reader, "app/none.py:1", "made up"),)),
    )
    [citation] = reader.citations(state, at_most=5)
    assert citation.mark is None
