"""What does a large codebase cost: its first index, a second start, and a question?

    python -m benchmarks.index_scale [CHECKOUT | --files N] [--keep FOLDER]

CHECKOUT is a clone of any repository; real code has what generated code lacks, such as things that look like
credentials and a history. Without it the files are varied copies of the Python sources of this installation, in a few
commits; FOLDER keeps the repository for the next time. The questions are those of finder_questions/, asked one after
the other. Exit code 0 if the targets are met.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.finder_answers import seen_questions
from benchmarks.repositories import make_large_repository
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo

FILES: Final = 50_000
MAX_CPU_S: Final = 120.0
"""For FILES; fewer files have as much less."""
MAX_SIZE_SHARE: Final = 1.0
MAX_SECOND_SHARE: Final = 0.01
MAX_QUESTION_S: Final = 1.0


class Figure(NamedTuple):
    """One row of the table."""

    what: str
    seen: float
    target: float
    unit: str

    @property
    def line(self) -> str:
        """The row."""
        return f"{self.what:36}{self.seen:>10.2f} {self.unit:4} target <= {self.target:g} {self.unit}"


def cpu_s() -> float:
    """Return the processor time of this process and of the git processes that it has waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(checkout: Path, database: Path) -> list[Figure]:
    """Index a repository twice and ask every question."""
    repo = GitRepo(checkout)
    entries = repo.tree(repo.head())
    text_bytes = sum(entry.size for entry in entries)
    before = cpu_s()
    SqlitePassageIndex(repo, database).refresh()
    first_s, before = cpu_s() - before, cpu_s()
    index = SqlitePassageIndex(GitRepo(checkout), database)
    index.refresh()
    second_s = cpu_s() - before
    asked = sorted(_ask(index, question) for question in seen_questions())
    kept = sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(entries):,} files, {text_bytes / 1e6:.0f} MB of text; at most {memory_mb:.0f} MB of memory")
    return [
        Figure("first index, processor", first_s, MAX_CPU_S * len(entries) / FILES, "s"),
        Figure("index, of the text", kept / text_bytes, MAX_SIZE_SHARE, ""),
        Figure("second start, of the first", second_s / first_s, MAX_SECOND_SHARE, ""),
        Figure("question, median", asked[len(asked) // 2], MAX_QUESTION_S, "s"),
        Figure("question, 95th percentile", asked[int(len(asked) * 0.95)], MAX_QUESTION_S, "s"),
    ]


def _ask(index: SqlitePassageIndex, question: str) -> float:
    """Return how many seconds a question takes."""
    started = time.perf_counter()
    index.search(question)
    return time.perf_counter() - started


def main(argv: list[str] | None = None) -> int:
    """Print the table; 0 if every target is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index_scale", description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    args = parser.parse_args(argv or [])
    with tempfile.TemporaryDirectory() as scratch:
        checkout = args.checkout or make_large_repository(args.keep or Path(scratch) / "code", args.files)
        figures = measure(checkout, Path(scratch) / "passages.sqlite")
    for figure in figures:
        print(figure.line)
    return 0 if all(figure.seen <= figure.target for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
