"""Does a draft made without a model cite the right file? Beside a keyword grep over the same files.

    python -m benchmarks.offline_answers [FOLDER]

Asks the questions of questions.yml (written before the ranker was tuned) of pinned source packages, fetched with pip
and committed to a repository each; FOLDER keeps them for the next time. Exit code 0 if the targets below are met.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo, split_lines
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import InvestigatorReturn
from bot.domain.search.files import is_indexed
from bot.domain.search.tokens import question_words
from bot.domain.threads import QuestionType

REQUIRED = {"tuned": 0.9, "held_out": 0.75}
REQUIRED_LEAD = {"tuned": 0.3, "held_out": 0.1}
QUESTIONS = Path(__file__).parent / "questions.yml"


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How many of a package's questions each way answered with a right file, cited first or cited at all."""

    package: str
    role: str
    questions: int
    first: int
    cited: int
    grep: int
    grep_first: int
    invented: int
    nothing: int

    @property
    def line(self) -> str:
        """One row of the table."""
        parts = (self.cited, self.grep, self.first, self.grep_first)
        shares = "".join(f"{part / self.questions:>13.0%}" for part in parts)
        rest = f"{self.nothing - self.invented}/{self.nothing}"
        return f"{self.package:11}{self.role:10}{self.questions:5}{shares}{rest:>11}"


class Grep:
    """What somebody with grep would open: files by distinct words of the question, then by matching lines."""

    def __init__(self, repo: GitRepo) -> None:
        entries = [entry for entry in repo.tree(repo.head()) if is_indexed(entry.path)]
        contents = dict(repo.blobs({entry.blob for entry in entries}))
        self._files = {entry.path: "\n".join(split_lines(contents[entry.blob])).lower() for entry in entries}

    def files(self, question: str, count: int) -> list[str]:
        """Return the best `count` files."""
        words = set(question_words(question))
        return sorted(self._files, key=lambda path: self._rank(path, words))[:count]

    def _rank(self, path: str, words: set[str]) -> tuple[int, int]:
        text = self._files[path]
        found = [word for word in words if word in text]
        return -len(found), -sum(any(word in line for word in found) for line in text.splitlines())


def fetch(package: str, version: str, folder: Path) -> Path:
    """Return a repository whose one commit is the source package; fetched unless `folder` has it already."""
    checkout = folder / f"{package}-{version}"
    if not (checkout / ".git").is_dir():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "--dest", str(folder), f"{package}=={version}"], check=True)
        with tarfile.open(next(folder.glob(f"{package}-{version}.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        commit_all(checkout, version)
    return checkout


def commit_all(folder: Path, message: str) -> None:
    """Make a repository of a folder, with one commit."""
    commit = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com", "commit", "-qm", message]
    for args in (["init", "--quiet"], ["add", "--all", "--force"], commit):
        subprocess.run(["git", "-C", str(folder), *args], check=True)


def measure(package: str, role: str, checkout: Path, asked: Sequence[dict[str, Any]], nothing: Sequence[str]) -> Score:
    """Ask every question of one package, both ways."""
    repo = GitRepo(checkout)
    grep = Grep(repo)
    with tempfile.TemporaryDirectory() as scratch:
        offline = OfflineInvestigator(repo, SqlitePassageIndex(repo, Path(scratch) / "passages.sqlite"))
        drafts = [(draft(offline, one["ask"]), one) for one in asked]
        invented = sum(bool(draft(offline, question).draft_reply) for question in nothing)
    cited = [(cited_files(ret), set(one["files"]), one["ask"]) for ret, one in drafts]
    return Score(
        package=package,
        role=role,
        questions=len(asked),
        first=sum(files[:1] != [] and files[0] in right for files, right, _ in cited),
        cited=sum(not right.isdisjoint(files) for files, right, _ in cited),
        grep_first=sum(not right.isdisjoint(grep.files(ask, 1)) for _, right, ask in cited),
        grep=sum(not right.isdisjoint(grep.files(ask, len(files))) for files, right, ask in cited),
        invented=invented,
        nothing=len(nothing),
    )


def draft(offline: OfflineInvestigator, question: str) -> InvestigatorReturn:
    """Return the offline answer to one question."""
    assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
    return offline.investigate(assignment, run_id="benchmark").ret


def cited_files(ret: InvestigatorReturn) -> list[str]:
    """Return the files a draft cites, each once, in order."""
    return list(dict.fromkeys(ref.ref.rpartition(":")[0] for ref in ret.evidence_refs))


def is_met(scores: Sequence[Score]) -> bool:
    """Whether each role reaches its share and leads grep by enough."""
    for role, share in REQUIRED.items():
        asked = sum(score.questions for score in scores if score.role == role)
        cited = sum(score.cited for score in scores if score.role == role) / asked
        grep = sum(score.grep for score in scores if score.role == role) / asked
        print(f"{role}: {cited:.0%} (target {share:.0%}), grep {grep:.0%} (lead {cited - grep:+.0%})")
        if cited < share or cited - grep < REQUIRED_LEAD[role]:
            return False
    return True


def main(keep: str | None = None) -> int:
    """Print the table; 0 if the targets are met."""
    data = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    heads = ("triage cites", "grep lists", "triage first", "grep first")
    print(f"{'package':11}{'role':10}{'asked':>5}{''.join(f'{head:>13}' for head in heads)}{'no draft':>11}")
    scores = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(keep or scratch)
        for package, pinned in data["packages"].items():
            checkout = fetch(package, pinned["version"], folder)
            scores.append(measure(package, pinned["role"], checkout, data["questions"][package], data["nothing"]))
            print(scores[-1].line, flush=True)
    return 0 if is_met(scores) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
