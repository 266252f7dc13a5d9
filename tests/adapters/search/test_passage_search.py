"""One question in a large codebase: words that many passages hold do not choose them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.search import index_queries
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from tests.gitrepo import commit_files, make_repo
from tests.samples import RETRY

NOTES = "# a note\n" * 8
QUESTIONS = (
    "how often do we retry when the server is busy?",
    "where is send_with_retry_7 defined?",
    "what is MODULE_33?",
)
FILES = {
    **{f"src/m{number}.py": f"# value of the server\nMODULE_{number} = 'value {number}'\n" for number in range(60)},
    **{
        f"src/retry{number}.py": RETRY.replace("send_with_retry", f"send_with_retry_{number}") for number in range(1, 9)
    },
}


def index_of(folder: Path, files: dict[str, str]) -> SqlitePassageIndex:
    """Return the index of a new repository."""
    return SqlitePassageIndex(GitRepo(make_repo(folder / "code", files)), folder / "passages.sqlite")


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_best_passage_is_the_same_where_common_words_choose_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """The rare ones choose."""
    index = index_of(tmp_path, FILES)
    every = index.search(question)
    monkeypatch.setattr(index_queries, "COMMON", 9)
    monkeypatch.setattr(index_queries, "MIN_WORDS", 2)
    assert index.search(question)[0].path == every[0].path


def test_a_file_that_is_gone_is_not_found(tmp_path: Path) -> None:
    """Its words stay in the index, and nothing finds them."""
    index = index_of(tmp_path, FILES)
    index.refresh()
    commit_files(tmp_path / "code", {f"src/retry{number}.py": "GONE = 1\n" for number in range(2, 9)})
    index.refresh()
    assert [one.path for one in index.search(QUESTIONS[0])] == ["src/retry1.py"]
    assert not {f"src/retry{number}.py" for number in range(2, 9)} & {
        one.path for one in index.similar(QUESTIONS[0], limit=8)
    }


def test_a_text_of_any_length_is_compared_without_being_covered(tmp_path: Path) -> None:
    """A few of its words are enough, where a question would need more."""
    index = index_of(tmp_path, {**FILES, "src/fee.py": "FEE = 'accounting wants it'\n"})
    text = "the invoice of a customer from Madrid is wrong since Tuesday, said accounting"
    assert index.search(text) == []
    assert [one.path for one in index.similar(text, limit=3)] == ["src/fee.py"]


def test_a_definition_is_one_passage_with_what_is_written_above_it(tmp_path: Path) -> None:
    """And is found by its name however that is written."""
    body = "".join(f"    step_{number}()\n" for number in range(20))
    text = f"import os\n{NOTES}\n\n# Moors the ship.\n@slow\ndef moorShip(pier):\n{body}\n\ndef other():\n{body}"
    index = index_of(tmp_path, {"src/ship.py": text})
    found = index.search("how do we moor the ship?")[0]
    assert (found.start, found.end) == (12, 34)
