"""Which lines are quoted."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.quotes import MAX_LINES, Quotes
from bot.domain.search.tokens import text_stems
from tests.gitrepo import make_repo
from tests.tables import each_row

FILLER = [f"    step_{number}()" for number in range(30)]
LONG = "\n".join(["def charge(cart):", *FILLER, "    fee = rate * 2", "    return fee", *FILLER[:20], "    done()", ""])
TOKEN = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
FILES = {
    "long.py": LONG,
    "fence.md": "# Fees\n\n```\nfee = 1\n```\n",
    "token.py": f'fee_token = "{TOKEN}"\n',
}


@pytest.fixture(scope="module")
def quotes(tmp_path_factory: pytest.TempPathFactory) -> Quotes:
    """Quotes of a few files."""
    folder: Path = tmp_path_factory.mktemp("quotes")
    repo = GitRepo(make_repo(folder / "code", FILES))
    index = SqlitePassageIndex(repo, folder / "index.sqlite")
    return Quotes(index, index.refresh().commit)


@each_row(
    "path, words, head, holds",
    [
        ("long.py", "fee rate", 1, "fee = rate * 2"),
        ("long.py", "zeppelin", 1, "def charge(cart):"),
        ("long.py", "zeppelin", None, None),
        ("fence.md", "zeppelin", 3, None),
        ("token.py", "fee", 1, None),
    ],
)
def test_the_lines_that_answer_are_quoted(
    quotes: Quotes, path: str, words: str, head: int | None, holds: str | None
) -> None:
    """At most twelve, the head where nothing else answers; no fence or credential."""
    found = quotes.best(path, 1, len(FILES[path].split("\n")), text_stems(words), head=head)
    assert (found is None) == (holds is None)
    if found and holds:
        assert holds in found.text
        assert found.end - found.start < MAX_LINES


def test_a_refused_quote_is_not_made_again(quotes: Quotes) -> None:
    """What a reviewer named stays out."""
    first = quotes.around("long.py", 32)
    assert first is not None
    again = Quotes(quotes.index, quotes.commit, refused=f"{first.ref} is wrong").around("long.py", 32)
    assert again is None or again.ref != first.ref
