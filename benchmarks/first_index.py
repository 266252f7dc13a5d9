"""How long does the first index of a large repository take, and what does a second start cost?

    python -m benchmarks.first_index [files | CHECKOUT]

Both are measured as new objects over the same database; the third line is a start after one file changed, in a clone of
CHECKOUT or in generated files. Exit code 0 if the second start takes at most MAX_SECOND_SHARE of the first.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.domain.search.passages import IndexReport

FILES = 5_000
FUNCTIONS = 12
MAX_SECOND_SHARE = 0.05
SEED = 7
_NOUNS = ("invoice", "order", "ledger", "session", "tenant", "webhook", "quota", "shard", "cursor", "replica", "lease")
_VERBS = (
    "load",
    "store",
    "merge",
    "retry",
    "expire",
    "flush",
    "decode",
    "route",
    "split",
    "verify",
    "cancel",
    "rotate",
)


def source(random_: random.Random, number: int) -> str:
    """Return one module of about 100 lines."""
    lines = [f'"""Module {number}: {random_.choice(_VERBS)} the {random_.choice(_NOUNS)}."""', ""]
    for index in range(FUNCTIONS):
        verb, noun, other = random_.choice(_VERBS), random_.choice(_NOUNS), random_.choice(_NOUNS)
        lines += [
            f"def {verb}_{noun}_{index}({other}_id: str, timeout_s: float = {random_.randint(1, 90)}.0) -> int:",
            f'    """{verb.title()} the {noun} of a {other} and return how many there were."""',
            f"    found = {random_.choice(_VERBS)}_{other}({other}_id)",
            f"    for {noun} in found:",
            f"        if {noun}.{random_.choice(_VERBS)}d_at is None:",
            f"            raise {noun.title()}Error({other}_id)",
            "    return len(found)",
            "",
        ]
    return "\n".join(lines)


def generate(folder: Path, files: int) -> GitRepo:
    """Return a repository of `files` modules in one commit."""
    random_ = random.Random(SEED)
    for number in range(files):
        path = folder / f"package_{number % 50}" / f"{random_.choice(_NOUNS)}_{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source(random_, number), encoding="utf-8")
    subprocess.run(["git", "-C", str(folder), "init", "--quiet"], check=True)
    commit(folder)
    return GitRepo(folder)


def commit(folder: Path) -> None:
    """Commit all that lies in the folder."""
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com"]
    subprocess.run(["git", "-C", str(folder), "add", "--all"], check=True)
    subprocess.run(["git", "-C", str(folder), *identity, "commit", "--quiet", "--message", "change"], check=True)


def show(name: str, report: IndexReport, first_s: float) -> None:
    """Print one row of the table."""
    print(f"{name:22}{report.seconds:9.3f} s{report.read:8} read{report.seconds / first_s:9.2%} of the first")


def main(given: str = str(FILES)) -> int:
    """Print the table; 0 if the second start is cheap enough."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, database = Path(scratch) / "code", Path(scratch) / "passages.sqlite"
        if given.isdigit():
            folder.mkdir()
            generate(folder, int(given))
        else:
            subprocess.run(["git", "clone", "--quiet", given, str(folder)], check=True)
        first = SqlitePassageIndex(GitRepo(folder), database).refresh()
        second = SqlitePassageIndex(GitRepo(folder), database).refresh()
        (folder / "changed.py").write_text("CHANGED = True\n", encoding="utf-8")
        commit(folder)
        third = SqlitePassageIndex(GitRepo(folder), database).refresh()
    show(f"first index, {first.files}", first, first.seconds)
    show("second start", second, first.seconds)
    show("one file changed", third, first.seconds)
    return 0 if second.seconds <= MAX_SECOND_SHARE * first.seconds else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
