"""Of the defects in planted_defects.yml, how many do the tests catch?

    python -m benchmarks defects [--only NAME] [--list] [--first-only] [--json] [--workers N]

Each is planted alone in a copy of the checkout. The tests that most likely find it are run first; if they pass, all
others are, as `make test` runs them. A defect is caught when a test fails. What ends otherwise (a test module cannot be
imported, time runs out, the failing test passes when it is run again) counts as not caught and is named. Exit code 1 if
a defect fits the code no more, or the tests fail on the unchanged copy.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO
from xml.etree import ElementTree

import yaml

from benchmarks.checkout_copy import ROOT, CheckoutCopy

DEFECTS: Final = Path(__file__).parent / "planted_defects.yml"
TIMEOUT_S: Final = 15 * 60.0
"""How long all tests of one defect may take."""

LOG: Final = "pytest.log"
SHOWN_CHARS: Final = 4_000
"""Of what pytest printed, where the tests fail without a defect."""

LIKELY_TEST_S: Final = 180.0
"""How long one of the first tests may take: a defect may have it wait for ever."""

ALONE: Final = "--numprocesses=0"
"""One test after the other, so that the first failure ends the run while no other test hangs."""

OWN_TESTS: Final = "tests/benchmarks"
"""They compare planted_defects.yml with the code, so they would fail for each defect."""

NEXT: Final = (
    "Its code has changed. Find where the promise is kept now, correct file, old and new in "
    "benchmarks/planted_defects.yml so that the same promise is broken, and type "
    "python -m benchmarks defects --first-only --only {name}"
)


class Defect(NamedTuple):
    """One defect, as planted_defects.yml describes it."""

    name: str
    promise: str
    file: str
    old: str
    new: str
    first: list[str]

    def planted_in(self, text: str) -> str:
        """Return the file's text with the defect; raises ValueError where its place is not found exactly once."""
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: `old` stands {times} times in {self.file}, not once")
        return text.replace(self.old, self.new)


class Verdict(StrEnum):
    """What the tests say of one defect."""

    CAUGHT = "caught"
    MISSED = "NOT caught"
    TIMEOUT = "NOT caught: time ran out"
    BROKEN = "NOT caught: the tests could not be run"
    UNSTEADY = "NOT caught: the test that failed passed when it was run again"


class Outcome(NamedTuple):
    """A verdict, the test that it rests on, and how long that took."""

    verdict: Verdict
    by: str = ""
    seconds: float = 0.0

    def words(self) -> str:
        """Return the outcome as one line shows it."""
        by = f" by {self.by}" if self.by else ""
        return f"{self.verdict}{by}, {self.seconds:.0f} s"


def read_defects(path: Path = DEFECTS) -> list[Defect]:
    """Return every defect of a file, in its order."""
    return [Defect(**one) for one in yaml.safe_load(path.read_text(encoding="utf-8"))["defects"]]


def misfits(defects: Iterable[Defect], root: Path = ROOT) -> list[str]:
    """Return a sentence for each defect whose place is not found exactly once, and what to do."""
    wrong = []
    for one in defects:
        path = root / one.file
        try:
            one.planted_in(path.read_text(encoding="utf-8") if path.is_file() else "")
        except ValueError as error:
            wrong.append(f"{error}. {NEXT.format(name=one.name)}")
    return wrong


def read_report(path: Path, exit_code: int | None) -> Outcome:
    """Return what a run of pytest came to, by its JUnit report."""
    if exit_code is None:
        return Outcome(Verdict.TIMEOUT)
    if exit_code == 0:
        return Outcome(Verdict.MISSED)
    cases = ElementTree.parse(path).iter("testcase") if path.is_file() else ()
    bad = [(case, problem) for case in cases for problem in case if problem.tag in ("failure", "error")]
    found = [Outcome(verdict_of(problem.get("message", "")), node_id(case)) for case, problem in bad]
    return min(found, key=lambda one: list(Verdict).index(one.verdict), default=Outcome(Verdict.BROKEN))


def verdict_of(message: str) -> Verdict:
    """Return what a failure says of a defect: nothing where it is of the collection, of time or of a process."""
    if message.startswith("Failed: Timeout"):
        return Verdict.TIMEOUT
    is_broken = message.startswith("collection failure") or " crashed while running" in message
    return Verdict.BROKEN if is_broken else Verdict.CAUGHT


def node_id(case: ElementTree.Element) -> str:
    """Return by what name pytest runs a test of its report again.

    >>> node_id(ElementTree.Element("testcase", classname="tests.intake.test_a.TestB", name="test_c"))
    'tests/intake/test_a.py::TestB::test_c'
    """
    parts, name = case.get("classname", "").split("."), case.get("name", "")
    modules = [at for at, part in enumerate(parts) if part.startswith("test_")]
    if not modules:
        return name
    end = modules[-1] + 1
    return "::".join(["/".join(parts[:end]) + ".py", *parts[end:], name])


class DefectRun:
    """Runs tests on a copy of the checkout, one defect after the other."""

    def __init__(self, copy: CheckoutCopy, folder: Path, *, workers: int) -> None:
        self._copy, self._folder, self._workers = copy, folder, workers

    def control(self, defects: Iterable[Defect]) -> Outcome:
        """Run the first tests of all these defects without any of them."""
        first = dict.fromkeys(path for one in defects for path in one.first)
        return self._tests([self._copy.write_proof(), *first], TIMEOUT_S)

    def judge(self, defect: Defect, *, first_only: bool) -> Outcome:
        """Plant a defect, run the tests, and take it out again."""
        before, began_s = self._copy.read(defect.file), time.monotonic()
        self._copy.write(defect.file, defect.planted_in(before))
        try:
            found = self._judge(defect, first_only=first_only)
        finally:
            self._copy.write(defect.file, before)
        return found._replace(seconds=time.monotonic() - began_s)

    def end_of_log(self) -> str:
        """Return the end of what pytest printed last."""
        return (self._folder / LOG).read_text(encoding="utf-8", errors="replace")[-SHOWN_CHARS:]

    def _judge(self, defect: Defect, *, first_only: bool) -> Outcome:
        until_s = time.monotonic() + TIMEOUT_S
        found = self._tests([ALONE, f"--timeout={LIKELY_TEST_S:g}", *defect.first], TIMEOUT_S)
        if first_only or found.verdict is not Verdict.MISSED:
            return found
        rest = [f"--ignore={path}" for path in (*defect.first, OWN_TESTS)]
        found = self._tests(rest, max(1.0, until_s - time.monotonic()))
        if found.verdict is not Verdict.CAUGHT:
            return found
        # beside all others a test may fail because the machine is busy
        again = self._tests([ALONE, found.by], TIMEOUT_S)
        return found if again.verdict is Verdict.CAUGHT else Outcome(Verdict.UNSTEADY, found.by)

    def _tests(self, arguments: Sequence[str], timeout_s: float) -> Outcome:
        report = self._folder / "report.xml"
        report.unlink(missing_ok=True)
        settings = ["-x", f"--numprocesses={self._workers}", "--dist=worksteal"]
        code = self._copy.pytest(
            [*settings, f"--junitxml={report}", *arguments], timeout_s=timeout_s, log=self._folder / LOG
        )
        return read_report(report, code)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks defects", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="plant this one; may be given several times")
    parser.add_argument("--list", action="store_true", help="print the defects and plant none")
    parser.add_argument("--first-only", action="store_true", help="run only the tests that most likely find each")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, the progress beside it")
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1), help="processes that run tests")
    args = parser.parse_args(argv)
    names = [one.name for one in read_defects()]
    if unknown := [name for name in args.only or () if name not in names]:
        parser.error(f"no defect is called {unknown[0]}; --list names them")
    return args


def summary(outcomes: dict[str, Outcome]) -> dict[str, Any]:
    """Return the result as JSON has it."""
    caught = sum(one.verdict is Verdict.CAUGHT for one in outcomes.values())
    found = [{"name": name, **one._asdict()} for name, one in outcomes.items()]
    late = sum(one.verdict is Verdict.TIMEOUT for one in outcomes.values())
    return {"caught": caught, "timeouts": late, "of": len(outcomes), "share": caught / len(outcomes), "defects": found}


def measure(defects: Sequence[Defect], *, first_only: bool, workers: int, progress: TextIO) -> dict[str, Outcome]:
    """Return what became of each defect, and say it as soon as it is known.

    Raises:
        RuntimeError: the tests fail without any defect, or the copy's code is not what is run.
    """
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="triage-defects-") as name:
        copy = CheckoutCopy(Path(name))
        run = DefectRun(copy, Path(name), workers=workers)
        print(f"the code under test: {copy.prove()}", file=progress, flush=True)
        control = run.control(defects)
        if control.verdict is not Verdict.MISSED:
            raise RuntimeError(f"{run.end_of_log()}\nwithout a defect the tests must pass: {control.words()}")
        for one in defects:
            outcomes[one.name] = run.judge(one, first_only=first_only)
            print(f"{one.name}: {outcomes[one.name].words()}", file=progress, flush=True)
    return outcomes


def main(argv: Sequence[str] = ()) -> int:
    """Plant the defects, print what became of each and the share that was caught; return the exit code."""
    args = parse(argv)
    defects = [one for one in read_defects() if not args.only or one.name in args.only]
    if args.list:
        print("\n".join(f"{one.name}: {one.promise}" for one in defects))
        return 0
    if wrong := misfits(defects):
        print("\n".join(wrong), file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the tests, removes the copy
    progress = sys.stderr if args.json else sys.stdout
    try:
        found = summary(measure(defects, first_only=args.first_only, workers=args.workers, progress=progress))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    late = f", and {found['timeouts']} in which time ran out" if found["timeouts"] else ""
    print(f"caught: {found['caught']} of {found['of']} ({found['share']:.0%}){late}", file=progress)
    if args.json:
        print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
