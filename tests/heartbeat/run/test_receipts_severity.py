"""How urgent a finding is: the receipt's field, else the mark of the task, else the session's default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.heartbeats.beats import BeatReport, Finding, Receipt, Reported
from bot.domain.playbook import parse
from bot.domain.severity import Severity
from bot.domain.tiers import Tier
from bot.heartbeat.run.receipts import judge_report
from tests.heartbeat.builders import a_session, a_view
from tests.tables import each_row

BOOK = "# Quick\n\n- [ ] Look\n- [ ] ! Checkout answers\n"
LOOK, CHECKOUT = parse(BOOK).tasks(Tier.QUICK)


def found(cwd: Path, task: Any = LOOK, said: Severity | None = None, **beat: Any) -> Finding:
    """Return the finding of a beat in which one task reports it."""
    view = a_view(cwd, text=BOOK, session=a_session(cwd, beat=beat))
    receipts = [Receipt(task=each.id, result="ok") for each in view.tasks if each.id != task.id]
    reported = Reported(key="it", severity=said, text="Production is down.")
    receipts.append(Receipt(task=task.id, result="finding", evidence="Production is down.", finding=reported))
    judged = judge_report(view, BeatReport(message="", receipts=tuple(receipts), status="ok", usage=None))
    return judged.findings[0]


@each_row("severity", list(Severity))
def test_the_receipt_says_how_urgent_it_is(tmp_path: Path, severity: Severity) -> None:
    """Whatever the mark, the session and the words say."""
    assert found(tmp_path, CHECKOUT, severity, severity=Severity.ACT).severity is severity


@each_row("default", list(Severity))
def test_else_the_mark_pages_and_the_session_says_the_rest(tmp_path: Path, default: Severity) -> None:
    """Words say nothing."""
    assert found(tmp_path).severity is Severity.ACT
    assert found(tmp_path, CHECKOUT).severity is Severity.PAGE
    assert found(tmp_path, severity=default).severity is default


@each_row("flag, severity", [("prod is down", "act"), ("! Look at PR 7", "page")])
def test_an_urgent_flag_wants_somebody_to_act_at_least(tmp_path: Path, flag: str, severity: str) -> None:
    """With the mark it pages; the mark itself is not shown."""
    session = a_session(tmp_path, beat={"severity": "know"})
    view = a_view(tmp_path, text=f"# Urgent Flags\n\n- {flag}\n\n# Quick\n", session=session)
    (one,) = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=(), usage=None)).findings
    assert one.severity == severity
    assert one.text == f"Urgent flag: {flag.removeprefix('! ')}"
