"""The planted defects fit the code as it is, and what the tests say of one is read rightly.

When code moves, the first test here says which defect has to move with it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from benchmarks.__main__ import main
from benchmarks.checkout_copy import ROOT
from benchmarks.defects import OWN_TESTS, Defect, DefectRun, Outcome, Verdict, misfits, read_defects, read_report
from tests.tables import each_row

DEFECTS: Final = read_defects()
CASE: Final = '<testcase classname="tests.casework.test_decisions.TestEdit" name="test_words[a.b]">{}</testcase>'
NODE: Final = "tests/casework/test_decisions.py::TestEdit::test_words[a.b]"
FAILED: Final = '<failure message="AssertionError: assert 1 == 2"/>'
DEFECT: Final = Defect("swapped", "Nothing is lost.", "code.py", "a < b", "a > b", ["tests/test_first.py"])


@each_row("defect", DEFECTS)
def test_a_defect_stands_at_one_place_and_leaves_python(defect: Defect) -> None:
    """Where this fails the code has moved: correct benchmarks/planted_defects.yml, so that the promise stays broken."""
    assert misfits([defect]) == []
    before = (ROOT / defect.file).read_text(encoding="utf-8")
    assert ast.dump(ast.parse(defect.planted_in(before))) != ast.dump(ast.parse(before))


def test_thirty_defects_have_names_of_their_own_and_tests_that_exist() -> None:
    """So that shares of different days can be compared, and no run begins with a file that is gone."""
    assert len({one.name for one in DEFECTS}) == len(DEFECTS) == 30
    assert [path for one in DEFECTS for path in one.first if not (ROOT / path).is_file()] == []
    assert all(one.first for one in DEFECTS)


@each_row("text", ["if a <= b:", "if a < b or a < b:", None])
def test_a_defect_that_fits_no_more_is_named_with_what_to_do(tmp_path: Path, text: str | None) -> None:
    """Its text is gone, stands there twice, or its file is gone."""
    if text is not None:
        (tmp_path / "code.py").write_text(text)
    (said,) = misfits([DEFECT], tmp_path)
    assert said.startswith("swapped: `old` stands ")
    assert "python -m benchmarks defects --first-only --only swapped" in said


@each_row(
    "problem, code, wanted",
    [
        (FAILED, 1, Outcome(Verdict.CAUGHT, NODE)),
        ('<error message="failed on setup with &quot;KeyError&quot;"/>', 1, Outcome(Verdict.CAUGHT, NODE)),
        ('<error message="collection failure"/>', 2, Outcome(Verdict.BROKEN, NODE)),
        ('<failure message="Failed: Timeout (&gt;600.0s) from pytest-timeout."/>', 1, Outcome(Verdict.TIMEOUT, NODE)),
        ('<failure message="worker &apos;gw0&apos; crashed while running"/>', 1, Outcome(Verdict.BROKEN, NODE)),
        ("", 1, Outcome(Verdict.BROKEN)),
        ("", 0, Outcome(Verdict.MISSED)),
        (FAILED, None, Outcome(Verdict.TIMEOUT)),
    ],
)
def test_only_a_test_that_fails_has_caught_a_defect(
    tmp_path: Path, problem: str, code: int | None, wanted: Outcome
) -> None:
    """What cannot be imported, takes too long or dies says nothing of the promise."""
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{CASE.format(problem)}</testsuite></testsuites>")
    assert read_report(report, code) == wanted


def test_a_run_without_a_report_has_caught_nothing(tmp_path: Path) -> None:
    """As when pytest itself could not start."""
    assert read_report(tmp_path / "report.xml", 4) == Outcome(Verdict.BROKEN)


class ScriptedCopy:
    """A checkout of one file, whose runs of pytest fail or pass as scripted."""

    def __init__(self, *fails: bool) -> None:
        self.text = "if a < b: pass\n"
        self.runs: list[tuple[str, list[str]]] = []
        self._fails = list(fails)

    def read(self, _: str) -> str:
        return self.text

    def write(self, _: str, text: str) -> None:
        self.text = text

    def pytest(self, arguments: Sequence[str], *, timeout_s: float, log: Path) -> int:
        given = [one for one in arguments if one.startswith(("tests/", "--ignore"))]
        self.runs.append((self.text, given))
        fails = self._fails.pop(0)
        report = next(one for one in arguments if one.startswith("--junitxml=")).partition("=")[2]
        Path(report).write_text(f"<testsuite>{CASE.format(FAILED if fails else '')}</testsuite>")
        return int(fails)


FIRST: Final = ["tests/test_first.py"]
REST: Final = ["--ignore=tests/test_first.py", f"--ignore={OWN_TESTS}"]


@each_row(
    "fails, verdict, runs",
    [
        ([True], Verdict.CAUGHT, [FIRST]),
        ([False, False], Verdict.MISSED, [FIRST, REST]),
        ([False, True, True], Verdict.CAUGHT, [FIRST, REST, [NODE]]),
        ([False, True, False], Verdict.UNSTEADY, [FIRST, REST, [NODE]]),
    ],
)
def test_the_likely_tests_come_first_and_a_late_failure_is_tried_again(
    tmp_path: Path, fails: list[bool], verdict: Verdict, runs: list[list[str]]
) -> None:
    """Each with the defect in place, which is taken out afterwards."""
    copy = ScriptedCopy(*fails)
    found = DefectRun(copy, tmp_path, workers=2).judge(DEFECT, first_only=False)
    assert found.verdict is verdict
    assert copy.runs == [("if a > b: pass\n", given) for given in runs]
    assert copy.text == "if a < b: pass\n"


def test_first_only_stops_after_the_likely_tests(tmp_path: Path) -> None:
    """The quick look: a defect that these miss may still be caught by others."""
    copy = ScriptedCopy(False)
    assert DefectRun(copy, tmp_path, workers=2).judge(DEFECT, first_only=True).verdict is Verdict.MISSED
    assert len(copy.runs) == 1


def test_the_list_says_what_each_defect_costs_users(capsys: pytest.CaptureFixture[str]) -> None:
    """Of those that are chosen; nothing is planted."""
    assert main(["defects", "--list", "--only", DEFECTS[0].name]) == 0
    assert capsys.readouterr().out == f"{DEFECTS[0].name}: {DEFECTS[0].promise}\n"


def test_a_name_that_no_defect_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is copied."""
    with pytest.raises(SystemExit):
        main(["defects", "--only", "nope"])
    assert "no defect is called nope; --list names them" in capsys.readouterr().err
