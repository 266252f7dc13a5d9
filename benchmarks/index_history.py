"""What does it cost to index and search a hundred commits of one repository, beside a single one?

    python -m benchmarks.index_history CHECKOUT [--commits N]

Each commit is indexed after the one before it and asked a few of the questions of finder_questions/: once the last N
commits of the default branch in a row, once N spread over the whole history. Printed are the processor's seconds, and
how much text there was to read. Exit code 0 if the commits in a row cost at most MOST times one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.finder_answers import seen_questions
from benchmarks.index_scale import cpu_s
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.past_threads import PastCode
from bot.domain.search.files import is_indexed

COMMITS: Final = 100
QUESTIONS: Final = 3
MOST: Final = 2.0


class Cost(NamedTuple):
    """The processor's seconds for the index and for the questions of a commit, and the bytes of text that were new."""

    index_s: float
    question_s: float
    text_bytes: int


def measure(source: GitRepo, commits: Sequence[str], folder: Path) -> Cost:
    """Index commits one after the other, the oldest first, and ask the questions at each."""
    past = PastCode(source, folder / "code")
    index, questions = SqlitePassageIndex(past.repo, folder / "index.sqlite"), seen_questions()[:QUESTIONS]
    index_s = question_s = 0.0
    seen: dict[str, int] = {}
    for commit in commits:
        past.move_to(commit)
        before = cpu_s()
        index.refresh()
        middle = cpu_s()
        for question in questions:
            index.search(question)
        index_s, question_s = index_s + middle - before, question_s + cpu_s() - middle
        seen.update((one.blob, one.size) for one in past.repo.tree(commit) if is_indexed(one.path))
    return Cost(index_s, question_s / len(commits), sum(seen.values()))


def main(argv: Sequence[str] = ()) -> int:
    """Print a line for each way to choose commits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index_history", description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--commits", type=int, default=COMMITS)
    given = parser.parse_args(list(argv))
    source = GitRepo(given.checkout)
    listed = source.process.run("rev-list", "--first-parent", "--reverse", source.head()).decode().split()
    ways = {
        "one": listed[-1:],
        f"{given.commits} in a row": listed[-given.commits :],
        f"{given.commits} spread": listed[:: max(1, len(listed) // given.commits)][-given.commits :],
    }
    found: dict[str, Cost] = {}
    print(f"{'commits':<16}{'index':>9}{'of one':>8}{'question':>11}{'text':>10}{'of one':>8}")
    for way, commits in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            cost = found[way] = measure(source, commits, Path(folder))
        one = found["one"]
        times, text = cost.index_s / one.index_s, cost.text_bytes / one.text_bytes
        size = f"{cost.text_bytes / 1e6:.1f} MB"
        print(f"{way:<16}{cost.index_s:>7.2f} s{times:>8.1f}{cost.question_s:>9.3f} s{size:>10}{text:>8.1f}")
    return 0 if found[f"{given.commits} in a row"].index_s <= MOST * found["one"].index_s else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
