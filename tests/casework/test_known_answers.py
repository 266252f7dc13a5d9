"""What counts as the answer: by structure only, at the time of the question."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.codebases import Codebase
from bot.agent.git.git_repo import GitRepo
from bot.casework.known_answers import FixHistory, KnownPlace, Standing, known_places, standing_of
from bot.casework.past_threads import PastQuestion
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.builders import a_return, an_event
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

TS = "1795165200.000100"


class Shop:
    """A repository whose HEAD is before the fix, and its whole history."""

    def __init__(self, folder: Path) -> None:
        path = make_repo(folder / "shop", {"app/retry.py": "def retry_all():\n    return 3\n", "CHANGES.md": "# 1\n"})
        files = {"app/retry.py": "def retry_all():\n    return 5\n", "app/new.py": "x = 1\n", "CHANGES.md": "# 2\n"}
        self.fix = commit_files(
            path, files, f"Retry more (#7)\n\nhttps://a.slack.com/archives/C1/p{TS.replace('.', '')}"
        )
        repo = GitRepo(path)
        self.fixes = FixHistory(repo, self.fix)
        repo.process.run("update-ref", "--no-deref", "HEAD", f"{self.fix}~1")
        index = SqlitePassageIndex(repo, folder / "index.sqlite")
        index.refresh()
        self.code = [(Codebase(id="", repo=repo, index=index), self.fixes)]

    def known(self, answer: str, question: str = "why so few tries?", ts: str = "1.1") -> set[str]:
        asked = PastQuestion(thread_id="t", event=an_event(question, ts=ts), answers=(an_event(answer, ts="9.9"),))
        return {one.address for one in known_places(asked, self.code)}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop before its fix."""
    return Shop(tmp_path_factory.mktemp("known"))


@each_row(
    "answer",
    ["see #7", "https://github.com/a/shop/pull/7|#7", "https://git.example.com/a/shop/-/merge_requests/7", "FIX"],
)
def test_a_linked_fix_names_the_code_it_touched(shop: Shop, answer: str) -> None:
    """Not the changelog beside it, and nothing that was not there when the question came."""
    assert shop.known(answer.replace("FIX", f"done in {shop.fix[:9]}")) == {"app/retry.py", shop.fix}


@each_row("answer", ["look at app/retry.py", "that is `retry_all()`"])
def test_an_answer_names_a_file_by_path_or_symbol(shop: Shop, answer: str) -> None:
    """What the question names itself is no answer."""
    assert shop.known(answer) == {"app/retry.py"}
    assert shop.known(answer, question=f"is it {answer}?") == set()


def test_a_commit_that_links_the_thread_is_its_fix(shop: Shop) -> None:
    """Nobody wrote it into the thread."""
    assert shop.known("thanks", ts=TS) == {"app/retry.py", shop.fix}
    assert shop.known("in 5 minutes, #8 is next, deadbeef") == set()


def test_a_draft_is_right_where_it_cites_a_known_place() -> None:
    """Without one nobody knows; without a draft it was missed."""
    cited = EvidenceRef(kind=EvidenceKind.FILE, ref="app/retry.py:1-2", commit="0" * 40, quote="x")
    ret, here, there = a_return(evidence_refs=(cited,)), KnownPlace("app/retry.py", ""), KnownPlace("b.py", "")
    assert [standing_of(ret, known) for known in ([here], [there], [])] == [
        Standing.RIGHT,
        Standing.WRONG,
        Standing.UNKNOWN,
    ]
    assert standing_of(a_return("", evidence_refs=()), [here]) is Standing.MISSED
