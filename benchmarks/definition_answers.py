"""Does the first quote of an offline draft hold the definition asked for, with the look-up of names and without?

    python -m benchmarks.definition_answers [FOLDER]

Two sets of questions over pinned packages of the registries: some generated from definitions, which `ast` finds in
Python and a line pattern elsewhere, and those of definitions.yml, written by hand. "Before" is the same investigator
over the same index, in which no name can be looked up. FOLDER keeps the packages for the next time; a package whose
client (npm, go) is not installed is left out. Exit code 0 if the target is met.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.offline_answers import commit_all, draft, fetch
from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo, split_lines
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, InvestigatorReturn
from bot.domain.search.definitions import Definition
from bot.domain.search.files import FileKind, file_kind
from bot.domain.search.passages import CommitHit, IndexReport, Passage
from bot.domain.search.ranking import WordCounts
from bot.domain.search.settings import Setting
from bot.ports import Progress

REQUIRED = 0.9
GENERATED = 40
SEED = 11
QUESTIONS = Path(__file__).parent / "definitions.yml"
_PLAIN = (
    "where is `{0}` defined?",
    "what does {0} do?",
    "show me `{0}`",
    "what is `{0}`?",
    "where is {0} implemented?",
)
_LINES = {
    ".js": re.compile(r"^(?:export )?(?:default )?(?:async )?(?:class|function) (\w+)"),
    ".ts": re.compile(r"^(?:export )?(?:abstract |async )*(?:class|function|interface|type) (\w+)"),
    ".go": re.compile(r"^(?:func|type) (\w+)"),
}

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class WithoutNames:
    """Port PassageIndex: the passages of `index`, and no name that could be looked up."""

    index: SqlitePassageIndex

    def refresh(self, on_progress: Progress | None = None) -> IndexReport:
        """Bring the index up to HEAD."""
        return self.index.refresh(on_progress)

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
        """Return the best passages."""
        return self.index.search(question, limit=limit, subject=subject)

    def word_counts(self, question: str, *, subject: str = "") -> WordCounts:
        """Return how common the words of a question are."""
        return self.index.word_counts(question, subject=subject)

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file."""
        return self.index.lines(path)

    def settings(self, words: str, *, limit: int = 20) -> list[Setting]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return []

    def commits(self, words: str, *, limit: int = 10) -> list[CommitHit]:
        """Return the commits whose messages hold the words."""
        return self.index.commits(words, limit=limit)

    def near_names(self, name: str, *, limit: int = 3) -> list[str]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return []

    def similar(self, text: str, *, limit: int) -> list[Passage]:
        """Return the passages with the most words of a text."""
        return self.index.similar(text, limit=limit)

    def definitions(self, name: str) -> list[Definition]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return []

    def places_called(self, name: str) -> list[str]:  # noqa: ARG002 - the port's
        """Return nothing."""
        return []


def checkout_of(name: str, pinned: dict[str, Any], folder: Path) -> Path | None:
    """Return a repository of a package's source, fetched unless `folder` has it; None without the registry's client."""
    if pinned["from"] == "pip":
        return fetch(name, pinned["version"], folder)
    checkout = folder / f"{name}-{pinned['version']}"
    if (checkout / ".git").is_dir():
        return checkout
    if shutil.which(pinned["from"]) is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        fetched = _from_npm if pinned["from"] == "npm" else _from_go
        shutil.copytree(fetched(f"{pinned.get('module', name)}@{pinned['version']}", Path(scratch)), checkout)
    for path in (checkout, *checkout.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    commit_all(checkout, pinned["version"])
    return checkout


def _from_npm(package: str, scratch: Path) -> Path:
    subprocess.run(["npm", "pack", "--silent", package], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
    shutil.unpack_archive(next(scratch.glob("*.tgz")), scratch, filter="data")
    return scratch / "package"


def _from_go(module: str, scratch: Path) -> Path:
    command = ["go", "mod", "download", "-json", module]
    done = subprocess.run(command, cwd=scratch, check=True, capture_output=True)
    return Path(json.loads(done.stdout)["Dir"])


def definitions(repo: GitRepo) -> dict[str, set[Place]]:
    """Return where the source files define what, by (dotted) name; found without the code that is measured."""
    found: dict[str, set[Place]] = defaultdict(set)
    entries = {entry.blob: entry.path for entry in repo.tree(repo.head()) if file_kind(entry.path) is FileKind.SOURCE}
    for blob, content in repo.blobs(entries):
        path, lines = entries[blob], split_lines(content)
        if path.endswith(".py"):
            for name, line in _of_python(ast.parse("\n".join(lines)), ""):
                found[name].add((path, line))
        elif not path.endswith(".d.ts") and (pattern := _LINES.get(Path(path).suffix)):
            for number, line in enumerate(lines, 1):
                if match := pattern.match(line):
                    found[match[1]].add((path, number))
    return found


def _of_python(tree: ast.AST, outer: str) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{outer}{node.name}", node.lineno
            if isinstance(node, ast.ClassDef):
                yield from _of_python(node, f"{outer}{node.name}.")


def generated(found: dict[str, set[Place]]) -> list[tuple[str, set[Place]]]:
    """Return questions about some of the definitions, with the places that answer each."""
    names = sorted(name for name in found if len(name.rpartition(".")[2]) > 3 and "__" not in name)
    chosen = random.Random(SEED).sample(names, min(GENERATED, len(names)))
    return [(_PLAIN[at % len(_PLAIN)].format(name), found[name]) for at, name in enumerate(chosen)]


def is_answered(ret: InvestigatorReturn, right: set[Place]) -> bool:
    """Whether the first quote holds one of the right lines."""
    first = next((ref for ref in ret.evidence_refs if ref.kind is EvidenceKind.FILE), None)
    cited = parse_lines(first.ref) if first else None
    return cited is not None and any(path == cited.path and cited.start <= line <= cited.end for path, line in right)


@dataclass(frozen=True, slots=True)
class Score:
    """How many questions of a set the first quote answers, before and after."""

    asked: int
    before: int
    after: int

    @property
    def line(self) -> str:
        """Its columns of the table."""
        shares = (f"{part / self.asked:>8.0%}" if self.asked else f"{'-':>8}" for part in (self.before, self.after))
        return f"{self.asked:>8}{''.join(shares)}"


def measure(before: OfflineInvestigator, after: OfflineInvestigator, asked: Sequence[tuple[str, set[Place]]]) -> Score:
    """Ask every question both ways."""
    results = [[is_answered(draft(way, question), right) for way in (before, after)] for question, right in asked]
    for (question, right), (_, ok) in zip(asked, results, strict=True):
        if not ok:
            print(f"    not first: {question}  {min(right)[0]}:{min(right)[1]}", file=sys.stderr)
    return Score(len(asked), sum(old for old, _ in results), sum(new for _, new in results))


def main(keep: str | None = None) -> int:
    """Print the table; 0 if the target is met."""
    data = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    columns = "".join(f"{head:>8}" for head in ("asked", "before", "after"))
    print(f"{'the first quote answers':24}{'generated:':>12}{columns}{'by hand:':>12}{columns}")
    scores = []
    with tempfile.TemporaryDirectory() as scratch:
        for package, pinned in data["packages"].items():
            checkout = checkout_of(package, pinned, Path(keep or scratch))
            if checkout is None:
                print(f"{package:24}left out: {pinned['from']} is not installed")
                continue
            repo = GitRepo(checkout)
            index = SqlitePassageIndex(repo, Path(scratch) / f"{package}.sqlite")
            ways = OfflineInvestigator(repo, WithoutNames(index)), OfflineInvestigator(repo, index)
            by_hand = [(one["ask"], {_place(one["at"])}) for one in data["questions"].get(package, ())]
            pair = measure(*ways, generated(definitions(repo))), measure(*ways, by_hand)
            scores.append(pair)
            print(f"{package:24}{'':12}{pair[0].line}{'':12}{pair[1].line}", flush=True)
    totals = [Score(*(sum(getattr(pair[at], part) for pair in scores) for part in Score.__slots__)) for at in (0, 1)]
    print(f"{'all':24}{'':12}{totals[0].line}{'':12}{totals[1].line}")
    return 0 if all(one.asked and one.after >= REQUIRED * one.asked for one in totals) else 1


def _place(text: str) -> Place:
    cited = parse_lines(text)
    assert cited is not None
    return cited.path, cited.start


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
