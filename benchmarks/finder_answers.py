"""Does the first quote answer a question, or one of the three that a search without a model offers?

    python -m benchmarks.finder_answers FOLDER [--only NAME ...] [--half HALF] [--misses]

FOLDER holds clones under the names of the sets in finder_questions/, each with the commit of its set:

    git clone https://github.com/pallets/click FOLDER/click

A quote hits where it holds min(3, all) of the lines of a place that answers, a commit where it is the one meant; a
question that nothing answers wants silence. The questions of the `held` half were never seen while the finder was
built. Indexes are kept in FOLDER/.cache. Exit code 0 if the held-out half meets the targets, or without clones.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.citations.citation_lines import parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef, InvestigatorReturn
from bot.domain.threads import QuestionType

SETS: Final = Path(__file__).parent / "finder_questions"
HALVES: Final = ("held", "build")
UNANSWERABLE: Final = "unanswerable"
HIT_LINES: Final = 3
TARGETS: Final = {"first": 0.55, "any": 0.68, "silent": 0.9}
MAX_USELESS: Final = 0.3


class Asked(NamedTuple):
    """A question, of what kind and half it is, and the places that answer it: `path:start-end`, or a commit."""

    id: str
    kind: str
    half: str
    text: str
    gold: tuple[str, ...]


class QuestionSet(NamedTuple):
    """The questions about one codebase at one commit."""

    name: str
    commit: str
    questions: tuple[Asked, ...]


class Result(NamedTuple):
    """What one question got: whether the first quote, or any that is offered, answers it, and whether one was there."""

    asked: Asked
    first: bool
    any: bool
    replied: bool


def read_sets() -> list[QuestionSet]:
    """Return every set of questions, by name."""
    found = []
    for path in sorted(SETS.glob("*.yml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        asked = tuple(
            Asked(one["id"], one["kind"], one["half"], one["ask"], tuple(one["gold"])) for one in data["questions"]
        )
        found.append(QuestionSet(path.stem, data["commit"], asked))
    return found


def seen_questions(name: str | None = None, *, answerable: bool = True) -> list[str]:
    """Return the questions of the half that may be looked at, of all sets or of one, that have an answer or none."""
    return [
        one.text
        for each in read_sets()
        if name in (None, each.name)
        for one in each.questions
        if one.half == "build" and (one.kind != UNANSWERABLE) == answerable
    ]


def draft(offline: OfflineInvestigator, question: str) -> InvestigatorReturn:
    """Return the offline answer to one question."""
    assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
    return offline.investigate(assignment, run_id="benchmark").ret


def is_hit(ref: EvidenceRef, gold: Sequence[str]) -> bool:
    """Whether a citation is, or holds enough of, a place that answers."""
    if ref.kind is EvidenceKind.GIT_COMMIT:
        return any(":" not in one and ref.ref.startswith(one) for one in gold)
    quoted = parse_lines(ref.ref) if ref.kind is EvidenceKind.FILE else None
    for one in map(parse_lines, gold):
        if quoted and one and quoted.path == one.path:
            shared = min(quoted.end, one.end) - max(quoted.start, one.start) + 1
            if shared >= min(HIT_LINES, one.end - one.start + 1):
                return True
    return False


def ask(offline: OfflineInvestigator, asked: Asked) -> Result:
    """Ask one question."""
    ret = draft(offline, asked.text)
    refs = list(ret.evidence_refs)
    if asked.kind == UNANSWERABLE:
        return Result(asked, first=not refs, any=not refs, replied=bool(refs))
    hits = [is_hit(one, asked.gold) for one in (*refs, *ret.candidates)]
    return Result(asked, first=hits[:1] == [True], any=any(hits), replied=bool(refs))


def measure(given: QuestionSet, clone: Path, halves: Sequence[str]) -> list[Result]:
    """Ask the questions of a set at its commit."""
    cache = clone.parent / ".cache"
    checkout = cache / f"{given.name}-{given.commit[:12]}"
    if not (checkout / ".git").is_dir():
        git = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(clone.resolve()), str(checkout)]
        subprocess.run(git, check=True)
    subprocess.run(["git", "-C", str(checkout), "update-ref", "--no-deref", "HEAD", given.commit], check=True)
    repo = GitRepo(checkout)
    index = SqlitePassageIndex(repo, cache / f"{checkout.name}.sqlite")
    offline = OfflineInvestigator(repo, index)
    return [ask(offline, one) for one in given.questions if one.half in halves]


def table(results: Sequence[Result]) -> list[str]:
    """Return the rows of the kinds and of all answerable questions."""
    rows = [f"{'':14}{'asked':>7}{'first':>7}{'any':>7}{'replied':>9}"]
    for kind in sorted({one.asked.kind for one in results}):
        of_kind = [one for one in results if one.asked.kind == kind]
        counts = (sum(one.first for one in of_kind), sum(one.any for one in of_kind))
        replied = sum(one.replied for one in of_kind)
        rows.append(f"{kind:14}{len(of_kind):>7}{counts[0]:>7}{counts[1]:>7}{replied:>9}")
    got = shares(results)
    return [*rows, ", ".join(f"{name} {share:.0%}" for name, share in got.items())]


def shares(results: Sequence[Result]) -> dict[str, float]:
    """Return the shares of the answerable questions, of replies none of which helps, and of silence where it is due."""
    answerable = [one for one in results if one.asked.kind != UNANSWERABLE]
    nothing = [one for one in results if one.asked.kind == UNANSWERABLE]
    replied = [one for one in results if one.replied]
    return {
        "first": _share([one.first for one in answerable]),
        "any": _share([one.any for one in answerable]),
        "useless": _share([not one.any for one in replied]),
        "silent": _share([not one.replied for one in nothing]),
    }


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def main(argv: Sequence[str] = ()) -> int:
    """Print the tables, the held-out half first; 0 if that meets the targets or there are no clones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.finder_answers", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("benchmark-data"))
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--misses", action="store_true", help="name what was missed of the build half, on stderr")
    args = parser.parse_args(argv)
    halves = [args.half] if args.half else list(HALVES)
    sets = [one for one in read_sets() if not args.only or one.name in args.only]
    given = [one for one in sets if (args.folder / one.name).is_dir()]
    results = [result for one in given for result in measure(one, args.folder / one.name, halves)]
    if args.misses:
        for one in results:
            if one.asked.half == "build" and not one.first:
                print(f"    {one.asked.id}: {one.asked.text}", file=sys.stderr)
    is_met = True
    for half in halves:
        if of_half := [one for one in results if one.asked.half == half]:
            print("\n".join([f"{half} ({len(of_half)} questions)", *table(of_half)]))
            got = shares(of_half)
            is_good = got["useless"] <= MAX_USELESS and all(got[name] >= share for name, share in TARGETS.items())
            is_met = is_met and (is_good or half != "held")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
