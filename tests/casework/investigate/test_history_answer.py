"""Who changed what, and when, answered from git without a model."""

import subprocess
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.casework.investigate.history_answer import SHALLOW
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import EvidenceKind, ref_marks
from bot.domain.threads import QuestionType
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row

CLIENT = "class Client:\n    def send(self):\n        return {}\n\n    def close(self):\n        return {}\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A class whose two methods were changed by one commit each, and a guide."""
    code = make_repo(tmp_path / "code", {"src/client.py": CLIENT.format(1, 1)})
    commit_files(code, {"src/client.py": CLIENT.format(2, 1)}, "Send twice\n\nThe server loses\nevery other request.")
    commit_files(code, {"src/client.py": CLIENT.format(2, 3)}, "Close thrice")
    commit_files(code, {"docs/guide.md": "# Guide\n"}, "Add a guide")
    return code


def ask(code: Path, question: str, *earlier: str) -> Investigation:
    """Ask without a model, and see that every citation is proved and every check of the draft holds."""
    repo = GitRepo(code)
    offline = OfflineInvestigator(repo, SqlitePassageIndex(repo, code.parent / "index.sqlite"))
    assignment = Assignment(
        question=question, question_type=QuestionType.OTHER, rubric="", round=1, earlier=tuple(earlier)
    )
    found = offline.investigate(assignment, run_id="r1")
    if found.ret.draft_reply:
        checks = check_return(found.ret, repo=code, ledger=found.ledger)
        assert [check for check in checks if check.ok is False] == []
        assert set(ref_marks(checks, len(found.ret.evidence_refs))) == {True}
    return found


def test_an_outage_that_names_nothing_gets_the_newest_commits(code: Path) -> None:
    """What changed last is where people look first; words like "prod" would only match by chance."""
    commit_files(code, {"ci/prod.yml": "# prod install\nrun: install --prod\n"}, "Install for prod")
    commit_files(code, {"docs/down.md": "# What goes down\n\nProd and the shop.\n"}, "Say what goes down")
    assert subjects(ask(code, "everything is down!!"))[:2] == ["Say what goes down", "Install for prod"]
    assert subjects(ask(code, "production is down"))[:1] == ["Say what goes down"]
    assert subjects(ask(code, "Client is down, why does `send` fail?")) == []


def subjects(found: Investigation) -> list[str]:
    """Return the first lines of the commits cited."""
    refs = found.ret.evidence_refs
    return [ref.quote.split("\n")[0] for ref in refs if ref.kind is EvidenceKind.GIT_COMMIT]


@each_row(
    "question, expected",
    [
        ("who last changed `Client.send`?", ["Send twice", "first"]),
        ("when was Client.close changed?", ["Close thrice", "first"]),
        ("who wrote Client.close?", ["first"]),
        ("what changed in client.py lately?", ["Close thrice", "Send twice", "first"]),
        ("what changed in the client lately?", ["Close thrice", "Send twice", "first"]),
        ("what's new in docs?", ["Add a guide"]),
        ("what changed lately?", ["Add a guide", "Close thrice", "Send twice", "first"]),
    ],
)
def test_the_commits_that_changed_it_are_named(code: Path, question: str, expected: list[str]) -> None:
    """Of lines, of a file, of a folder, of everything; the newest first."""
    found = ask(code, question)
    assert subjects(found) == expected
    for ref in found.ret.evidence_refs:
        if ref.kind is EvidenceKind.GIT_COMMIT:
            assert f"{ref.ref[:12]} 2026-01-05 Test: {ref.quote}" in found.ret.draft_reply


def test_the_lines_are_shown_with_their_commits(code: Path) -> None:
    """What was changed, as it is now."""
    (lines,) = [ref for ref in ask(code, "who changed `send`?").ret.evidence_refs if ref.kind is EvidenceKind.FILE]
    assert (lines.ref, lines.quote.split("\n")[0]) == ("src/client.py:2-3", "    def send(self):")


def test_why_shows_the_message(code: Path) -> None:
    """The reasons, if there are any, stand below the first line."""
    draft = ask(code, "why was `send` changed?").ret.draft_reply
    assert "The server loses\nevery other request." in draft


def test_a_follow_up_is_about_what_was_asked_before(code: Path) -> None:
    """`it` is what the thread is about."""
    assert subjects(ask(code, "and who last changed it?", "what does `Client.send` do?")) == ["Send twice", "first"]


def test_what_is_not_found_is_not_answered_from_history(code: Path) -> None:
    """The newest commits of everything are no answer to a question about something."""
    assert subjects(ask(code, "who last changed the flux capacitor?")) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who last changed `max_retries`?", ["Retry five times", "Retry"]),
        ("when was max_retries changed?", ["Retry five times", "Retry"]),
        ("who added MAX_RETRIES?", ["Retry"]),
        ("who removed `old_limit`?", ["Drop the old limit", "Retry"]),
        ("who last changed the grace period?", ["Drop the old limit"]),
        ("when was `retries` changed?", []),
    ],
)
def test_what_has_no_definition_is_looked_for_in_the_changed_lines(
    code: Path, question: str, expected: list[str]
) -> None:
    """Keys of settings, words of a text and what was removed have commits as well; part of a word has none."""
    commit_files(code, {"app.ini": "max_retries = 3\nold_limit = 1\n"}, "Retry")
    commit_files(code, {"app.ini": "max_retries = 5\nold_limit = 1\n"}, "Retry five times")
    commit_files(code, {"app.ini": "max_retries = 5\n# the grace-period is short\n"}, "Drop the old limit")
    found = ask(code, question)
    assert subjects(found) == expected
    assert ("The first commit of" in found.ret.draft_reply) is ("added" in question)


def test_files_with_secrets_are_not_searched_for_a_word(code: Path) -> None:
    """Nobody learns from a question whether a word stands there."""
    commit_files(code, {".env": "HUNTER_TOKEN=open-sesame\n"}, "Change the environment")
    assert subjects(ask(code, "who last changed `HUNTER_TOKEN`?")) == []
    commit_files(code, {"app.ini": "x = HUNTER_TOKEN\n"}, "Read the token")
    assert subjects(ask(code, "who last changed `HUNTER_TOKEN`?")) == ["Read the token"]


def test_a_message_that_may_not_be_shown_is_left_out(code: Path) -> None:
    """Code fences and credentials stay in git; a broadcast is shown, and made harmless where it is posted."""
    token = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
    for number, message in enumerate(("Ping @channel", "Fence ``` it", f"Use {token}")):
        commit_files(code, {"docs/guide.md": f"# Guide {number}\n"}, message)
    assert subjects(ask(code, "what changed in the guide lately?")) == ["Ping @channel", "Add a guide"]


def test_a_shallow_checkout_says_so(code: Path, tmp_path: Path) -> None:
    """Its oldest commit is not who wrote the code."""
    subprocess.run(["git", "clone", "--quiet", "--depth=2", code.as_uri(), tmp_path / "shallow"], check=True)
    assert ask(tmp_path / "shallow", "who last changed `send`?").ret.draft_reply.endswith(SHALLOW)
    assert SHALLOW not in ask(code, "who last changed `send`?").ret.draft_reply


def test_lines_git_cannot_follow_fall_back_to_the_file(code: Path) -> None:
    """With line ends git does not count, the commits of the file are named, and none is called the first."""
    body = CLIENT.format(1, 1).replace("\n", "\r")
    commit_files(code, {"src/old.py": f"LIMIT = 1\r{body}"}, "Add old code")
    git(code, "rm", "--quiet", "src/client.py")
    git(code, "commit", "--quiet", "--message", "Remove the client")
    found = ask(code, "who wrote `close`?")
    assert subjects(found) == ["Add old code"]
    assert "first commit" not in found.ret.draft_reply
