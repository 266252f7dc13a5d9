"""Ranking in a large codebase: the candidates that SQLite chooses hold what ranking every match finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search import passage_rows as rows
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.search.passage_search import find, similar, terms_of
from bot.adapters.search.passage_store import PassageStore
from bot.agent.git.git_repo import GitRepo
from tests.gitrepo import commit_files, make_repo
from tests.samples import RETRY

QUESTIONS = (
    "how often do we retry when the server is busy?",
    "where is send_with_retry_7 defined?",
    "which module holds value 33?",
)
FILES = {
    **{f"src/m{number}.py": f"# value of the server\nMODULE_{number} = 'value {number}'\n" for number in range(60)},
    **{
        f"src/retry{number}.py": RETRY.replace("send_with_retry", f"send_with_retry_{number}") for number in range(1, 9)
    },
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a repository with many files alike."""
    folder = tmp_path_factory.mktemp("large")
    code = make_repo(folder / "code", FILES)
    SqlitePassageIndex(GitRepo(code), folder / "passages.sqlite").refresh()
    return folder / "passages.sqlite"


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_best_passages_are_the_same_however_they_are_chosen(database: Path, question: str) -> None:
    """Only the scores of common words are estimated among candidates, and that changes no first place."""
    terms = terms_of(question, "")
    with PassageStore(database).open() as connection:
        every = find(connection, terms, question, 4)
        chosen = find(connection, terms, question, 4, few=20)
    assert every
    assert chosen[0].passage == every[0].passage
    assert {one.passage for one in every[:3]} <= {one.passage for one in chosen}


def test_a_file_that_is_gone_is_among_no_candidates(tmp_path: Path) -> None:
    """Its words stay in the index, and nothing finds them."""
    code = make_repo(tmp_path / "code", FILES)
    index = SqlitePassageIndex(GitRepo(code), tmp_path / "passages.sqlite")
    index.refresh()
    commit_files(code, {f"src/retry{number}.py": "GONE = 1\n" for number in range(2, 9)})
    index.refresh()
    with PassageStore(tmp_path / "passages.sqlite").open() as connection:
        for few in (2, 10_000):
            found = find(connection, terms_of(QUESTIONS[0], ""), QUESTIONS[0], 8, few)
            assert {rows.place(connection, one.passage).path for one in found if one.score} >= {"src/retry1.py"}
            assert not {f"src/retry{number}.py" for number in range(2, 9)} & {
                rows.place(connection, one.passage).path for one in found
            }


def test_a_text_of_any_length_is_compared_without_being_covered(tmp_path: Path) -> None:
    """A few of its words are enough, where a question would need more; a file that is gone is not found."""
    code = make_repo(tmp_path / "code", {**FILES, "src/fee.py": "FEE = 'accounting wants it'\n"})
    index = SqlitePassageIndex(GitRepo(code), tmp_path / "passages.sqlite")
    index.refresh()
    text = "the invoice of a customer from Madrid is wrong since Tuesday, said accounting"
    assert index.search(text) == []
    assert [one.path for one in index.similar(text, limit=3)][:1] == ["src/fee.py"]
    commit_files(code, {"src/fee.py": "GONE = 1\n"})
    index.refresh()
    with PassageStore(tmp_path / "passages.sqlite").open() as connection:
        for few in (2, 10_000):
            found = similar(connection, text, 3, few)
            assert "src/fee.py" not in {rows.place(connection, one.passage).path for one in found}
