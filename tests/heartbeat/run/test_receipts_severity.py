"""How urgent a finding is, sign by sign: the task's mark, the command's exit code, the words, the session's default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.heartbeats.beats import BeatReport, Finding, Receipt
from bot.domain.playbook import parse
from bot.domain.severity import Severity, severity_of_words
from bot.domain.tiers import Tier
from bot.heartbeat.run.probes import ProbeReport, ProbeResult
from bot.heartbeat.run.receipts import judge_report
from tests.heartbeat.builders import a_session, a_view
from tests.tables import each_row

BOOK = "# Quick\n\n- [ ] Look: `./check`\n- [ ] ! Checkout answers\n- [ ] PRs: `gh pr list`\n"
LOOK, CHECKOUT, PRS = parse(BOOK).tasks(Tier.QUICK)


def found(cwd: Path, said: str, task: Any = LOOK, *, exit_code: int = 0, finding: str = "it", **beat: Any) -> Finding:
    """Return the finding of a beat in which one task reports it and each command exits so."""
    wanted = ((LOOK.id, ("./check",)), (PRS.id, ("gh", "pr", "list")))
    results = [ProbeResult(argv=argv, output="", exit_code=exit_code, seconds=0.1) for _, argv in wanted]
    report = ProbeReport(results=tuple(results), wanted=wanted)
    view = a_view(cwd, text=BOOK, session=a_session(cwd, beat=beat), probes=report)
    receipts = [Receipt(task=each.id, result="ok") for each in view.tasks if each.id != task.id]
    receipts.append(Receipt(task=task.id, result="finding", evidence=said, finding=finding))
    judged = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=tuple(receipts), usage=None))
    return judged.findings[0]


@each_row(
    "said, severity",
    [
        ("Production is down", Severity.PAGE),
        ("prod is down!!", Severity.PAGE),
        ("Customers cannot log in.", Severity.PAGE),
        ("The payments outage goes on", Severity.PAGE),
        ("La producción está caída", Severity.PAGE),
        ("本番で障害が発生", Severity.PAGE),
        ("Main is red.", Severity.ACT),
        ("3 failed jobs", Severity.ACT),
        ("No outage, no errors in production", Severity.ACT),
        ("PR 7 waits for a review", Severity.ACT),
        ("One title: `Fix prod is down banner`", Severity.ACT),
    ],
)
def test_words_say_how_urgent_it_is(tmp_path: Path, said: str, severity: Severity) -> None:
    """What stands in code is quoted: it says nothing of how things stand."""
    assert found(tmp_path, said).severity is severity


def test_a_session_says_what_counts_where_nothing_else_does(tmp_path: Path) -> None:
    """An alarm word is more than `know`, whatever the session says."""
    for default in Severity:
        assert found(tmp_path, "PR 7 waits", severity=default).severity is default
    assert found(tmp_path, "Main is red.", severity=Severity.KNOW).severity is Severity.ACT


def test_what_happened_once_is_good_to_know(tmp_path: Path) -> None:
    """New commits, say; unless the session pages for all there is."""
    assert found(tmp_path, "2 new commits", finding="event-commits-1").severity is Severity.KNOW
    assert found(tmp_path, "2 new commits", finding="event-commits-1", severity="page").severity is Severity.PAGE


def test_a_task_with_the_mark_pages_whatever_it_finds(tmp_path: Path) -> None:
    """The mark is no part of what the task is called."""
    assert found(tmp_path, "slower than usual", CHECKOUT).severity is Severity.PAGE
    assert CHECKOUT.id == parse("# Quick\n\n- [ ] Checkout answers\n").tasks(Tier.QUICK)[0].id


def test_a_check_that_fails_wants_somebody_to_act_and_its_output_counts(tmp_path: Path) -> None:
    """What git and gh print are titles, even where they fail."""
    assert found(tmp_path, "look", exit_code=1, severity=Severity.KNOW).severity is Severity.ACT
    assert found(tmp_path, "look", severity=Severity.KNOW).severity is Severity.KNOW
    assert found(tmp_path, "`api is down`", exit_code=2).severity is Severity.PAGE
    assert found(tmp_path, "it says `api is down`", PRS, exit_code=1).severity is Severity.ACT


@each_row("flag, severity", [("Look at PR 7", "act"), ("! Look at PR 7", "page"), ("prod is down", "page")])
def test_an_urgent_flag_wants_somebody_to_act_at_least(tmp_path: Path, flag: str, severity: str) -> None:
    """With the mark, or with an outage in it, it pages; the mark itself is not shown."""
    view = a_view(
        tmp_path,
        text=f"# Urgent Flags\n\n- {flag}\n\n# Quick\n",
        session=a_session(tmp_path, beat={"severity": "know"}),
    )
    (one,) = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=(), usage=None)).findings
    assert one.severity == severity
    assert one.text == f"Urgent flag: {flag.removeprefix('! ')}"


@each_row(
    "said",
    [
        "We got hacked.",
        "The database was deleted.",
        "Data was lost.",
        "The website is down for everyone.",
        "Der Produktionsserver ist down.",
        "Kundendaten verloren",
        "データ損失",
        "数据丢失",
    ],
)
def test_lost_data_an_attack_and_what_is_down_for_everyone_page(said: str) -> None:
    """So do compound words; that it did not happen pages nobody."""
    assert severity_of_words(said) is Severity.PAGE
    assert severity_of_words("No data was lost. Nobody was hacked. Works for everyone.") is Severity.KNOW
