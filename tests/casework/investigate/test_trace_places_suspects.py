"""Suspect changes: what git says of the lines a stack trace leads to, and who is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebases
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.code_findings import CodeFindings
from bot.casework.investigate.model_investigator import sections_of
from bot.domain.returns import Usage
from bot.domain.threads import QuestionType
from bot.errors import StoreError
from tests.builders import a_return
from tests.gitrepo import commit_files, make_repo

FILLER = "".join(f"\n\ndef other_{number}():\n    return {number}\n" for number in range(10))
TRACE = 'File "/srv/shop/pay.py", line 2, in charge\n    return fee\nNameError: fee'
ASKED = Assignment(question=f"why?\n```\n{TRACE}\n```", question_type=QuestionType.OTHER, rubric="", round=1)


class Reader:
    """An investigator that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Assignment] = []

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        self.given.append(assignment)
        return Investigation(ret=a_return(), ledger=Ledger(), usage=Usage(), investigator="reader")


class BrokenIndex(SqlitePassageIndex):
    """An index that cannot be read."""

    def refresh(self, on_progress: object = None) -> object:  # type: ignore[override]
        raise StoreError("index: broken")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A function that two commits wrote, and a third commit that changed something far below it."""
    root = make_repo(tmp_path / "shop", {"shop/pay.py": f"def charge():\n    return 1\n{FILLER}"})
    commit_files(root, {"shop/pay.py": f"def charge():\n    return fee\n{FILLER}"}, "Charge the fee")
    commit_files(root, {"shop/pay.py": f"def charge():\n    return fee\n{FILLER}\nlast = 1\n"}, "Add the last")
    return GitRepo(root)


def only(repo: GitRepo, index: SqlitePassageIndex) -> Codebases:
    return Codebases.named([("", repo, index)])


def investigated(repo: GitRepo, tmp_path: Path, asked: Assignment = ASKED) -> tuple[Investigation, Assignment]:
    reader = Reader()
    traced = CodeFindings(only(repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite")), reader)
    return traced.investigate(asked, run_id="r1"), reader.given[0]


def test_the_commits_of_the_frames_lines_are_suspect(repo: GitRepo, tmp_path: Path) -> None:
    """With author, time and subject; a commit that changed other lines of the file is not."""
    suspects = investigated(repo, tmp_path)[0].ret.suspect_changes
    assert [(one.subject, one.author, one.ref) for one in suspects] == [
        ("Charge the fee", "Test", "shop/pay.py:1-6"),
        ("first", "Test", "shop/pay.py:1-6"),
    ]
    assert {one.changed_at.isoformat() for one in suspects} == {"2026-01-05T09:00:00+00:00"}


def test_only_the_newest_commit_of_a_place_is_its_latest(tmp_path: Path) -> None:
    """Also where that commit is named for another place already."""
    root = make_repo(
        tmp_path / "shop", {"shop/pay.py": "def charge():\n    return 1\n", "shop/web.py": "def view():\n"}
    )
    files = {"shop/pay.py": "def charge():\n    return fee\n", "shop/web.py": "def view():\n    return charge()\n"}
    commit_files(root, files, "Change both")
    commit_files(root, {"shop/web.py": "def view():\n    return charge() or 1\n"}, "Change the view")
    trace = f'File "/srv/shop/web.py", line 2, in view\n    return charge()\n{TRACE}'
    found, _ = investigated(GitRepo(root), tmp_path, replace(ASKED, question=f"why?\n{trace}"))
    latest = {(one.subject, one.ref.partition(":")[0], one.is_latest) for one in found.ret.suspect_changes}
    assert latest == {
        ("Change the view", "shop/web.py", True),
        ("Change both", "shop/pay.py", True),
        ("first", "shop/pay.py", False),
    }


def test_a_model_is_told_where_the_trace_leads(repo: GitRepo, tmp_path: Path) -> None:
    """As a section of data beside the question."""
    _, given = investigated(repo, tmp_path)
    told = next(one for one in sections_of(given) if one.name == "stack_trace")
    assert "\nshop/pay.py:2\n" in told.text
    assert ": Charge the fee" in told.text


def test_without_a_trace_nothing_is_told(repo: GitRepo, tmp_path: Path) -> None:
    """A plain question has no section and no suspects."""
    found, given = investigated(repo, tmp_path, replace(ASKED, question="where is the fee added?"))
    assert found.ret.suspect_changes == ()
    assert given.trace_notes == ""


def test_a_subject_that_may_not_be_shown_is_left_out(repo: GitRepo, tmp_path: Path) -> None:
    """The commit is still named."""
    commit_files(repo.root, {"shop/pay.py": f"def charge():\n    return  fee\n{FILLER}"}, "ping ``` now")
    newest = investigated(repo, tmp_path)[0].ret.suspect_changes
    assert [one.subject for one in newest].count("") == 1
    assert "```" not in repr(newest)


def test_an_index_that_cannot_be_read_ends_no_investigation(repo: GitRepo, tmp_path: Path) -> None:
    """The investigator works without the trace."""
    reader = Reader()
    broken = CodeFindings(only(repo, BrokenIndex(repo, tmp_path / "index.sqlite")), reader)
    assert broken.investigate(ASKED, run_id="r1").ret.suspect_changes == ()
    assert reader.given == [ASKED]


def test_changes_of_a_handbook_are_not_suspect(repo: GitRepo, tmp_path: Path) -> None:
    """Its code is examples: a trace that leads only there leads nowhere."""
    reader = Reader()
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    traced = CodeFindings(Codebases.named([("handbook", repo, index)], {"handbook"}), reader)
    assert traced.investigate(ASKED, run_id="r1").ret.suspect_changes == ()
    assert reader.given[0].trace_notes == ""


def test_an_alert_without_a_trace_leads_to_the_files_of_its_service(tmp_path: Path) -> None:
    """Their newest commits and owners; CODEOWNERS comes first, and a commit elsewhere is no suspect."""
    rules = "* @all\n/services/pay_api/ @shop/pay pay@acme.example\n"
    root = make_repo(tmp_path / "shop", {"services/pay_api/app.py": "a = 1\n", ".github/CODEOWNERS": rules})
    commit_files(root, {"services/pay_api/app.py": "a = 2\n"}, "Charge twice")
    commit_files(root, {"web/pay_api.css": "b {}\n"}, "Paint it")
    asked = replace(ASKED, question="p99 is high", service="pay-api")
    ret = investigated(GitRepo(root), tmp_path, asked)[0].ret
    assert next((one.subject, one.ref) for one in ret.suspect_changes) == ("Charge twice", "services/pay_api/")
    assert "Paint it" not in {one.subject for one in ret.suspect_changes}
    assert [(one.name, one.email, one.by_rule) for one in ret.owners] == [
        ("@shop/pay", "", True),
        ("pay@acme.example", "pay@acme.example", True),
        ("Test", "test@example.com", False),
    ]
    assert investigated(GitRepo(root), tmp_path, replace(asked, service="nowhere"))[0].ret.suspect_changes == ()


def test_a_codebase_called_like_the_service_is_all_of_its_files(repo: GitRepo, tmp_path: Path) -> None:
    """Its folder's name counts as well."""
    ret = investigated(repo, tmp_path, replace(ASKED, question="p99 is high", service=repo.root.name))[0].ret
    assert ret.suspect_changes[0].subject == "Add the last"
