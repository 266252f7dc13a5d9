"""Silence is earned: what a report amounts to, whatever its message says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.domain.heartbeats.alerts import FLAGS, MESSAGE, RECEIPTS
from bot.domain.heartbeats.beats import BeatReport, Receipt
from bot.domain.tiers import Tier
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.receipts import BeatJudgement, judge_report, notes
from tests.heartbeat.builders import a_view
from tests.tables import each_row

FLAGGED = "## Urgent Flags\n\n- Certificates end on Friday\n- [x] Old one\n\n## Quick\n\n- [ ] Look\n"


def reported(view: BeatView, message: str = "HEARTBEAT_OK", **more: Any) -> BeatReport:
    """Return a report with the same receipt for every due task."""
    given = {"status": "ok", "evidence": "", **more}
    return BeatReport(
        message=message, receipts=tuple(Receipt(task=task.id, **given) for task in view.tasks), usage=None
    )


def judged(view: BeatView, message: str = "HEARTBEAT_OK", **more: Any) -> BeatJudgement:
    return judge_report(view, reported(view, message, **more))


def test_a_token_with_every_receipt_is_quiet(tmp_path: Path) -> None:
    """And good: its tier may be stamped."""
    verdict = judged(a_view(tmp_path))
    assert verdict.is_quiet
    assert verdict.is_good


@each_row("message", ["HEARTBEAT_OK", "", "All well. HEARTBEAT_OK"])
def test_a_finding_is_never_quiet(tmp_path: Path, message: str) -> None:
    """Whatever acknowledgement stands beside it."""
    verdict = judged(a_view(tmp_path), message, status="finding", finding="red", evidence="Main is red.")
    assert not verdict.is_quiet
    assert {found.text for found in verdict.findings} == {"Main is red."}


def test_the_id_of_a_finding_outlives_its_wording(tmp_path: Path) -> None:
    """Without an id the text, less its times and markup, stands for it."""
    view = a_view(tmp_path)

    def keys(evidence: str, finding: str | None) -> list[str]:
        return [found.key for found in judged(view, status="finding", evidence=evidence, finding=finding).findings]

    assert keys("Main is red.", "ci-red") == keys("The build fails since 09:12.", "ci-red")
    assert keys("*Main* is red since 09:12", None) == keys("main is red since 10:30.", None)
    assert keys("PR 12 fails", None) != keys("PR 13 fails", None)


def test_a_finding_of_no_due_task_is_told_too(tmp_path: Path) -> None:
    """A model that mistook the id of a task saw something all the same."""
    view = a_view(tmp_path)
    report = reported(view)
    stray = (
        Receipt(task="0badc0de", result="finding", evidence="Main is red.", finding="ci"),
        Receipt(task="0badc0de", result="finding", finding="disk"),
    )
    verdict = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=(*report.receipts, *stray), usage=None))
    told = [(found.task, found.text) for found in verdict.findings]
    assert told == [(MESSAGE, "Main is red."), (MESSAGE, "0badc0de: disk")]
    assert verdict.is_good
    assert not verdict.is_quiet


def test_a_task_that_found_two_things_reports_both(tmp_path: Path) -> None:
    """Nor does an ok after a finding take it back."""
    view = a_view(tmp_path)
    one, two = view.tasks
    receipts = (
        Receipt(task=one.id, result="finding", evidence="Main is red.", finding="red"),
        Receipt(task=one.id, result="finding", evidence="So is release.", finding="release"),
        Receipt(task=one.id, result="ok"),
        Receipt(task=two.id, result="ok"),
    )
    verdict = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=receipts, usage=None))
    assert [found.text for found in verdict.findings] == ["Main is red.", "So is release."]


def test_a_finding_without_words_says_which_task_it_is(tmp_path: Path) -> None:
    """An empty alert helps nobody."""
    texts = [found.text for found in judged(a_view(tmp_path), status="finding", evidence=" ", finding="x").findings]
    assert texts == ["Working tree: `git status --porcelain`", "Deploys look healthy"]


def test_a_flag_is_up_until_it_is_taken_down_or_ticked(tmp_path: Path) -> None:
    """Code looks, not the model."""
    [found] = judged(a_view(tmp_path, text=FLAGGED)).findings
    assert (found.task, found.text) == (FLAGS, "Urgent flag: Certificates end on Friday")
    assert FLAGS in judged(a_view(tmp_path)).checked


def test_what_has_no_receipt_is_an_alert_about_the_beat(tmp_path: Path) -> None:
    """It names the tasks, is not good, and vouches for nothing it did not see."""
    view = a_view(tmp_path)
    verdict = judge_report(view, BeatReport(message="HEARTBEAT_OK", receipts=(), usage=None))
    [found] = verdict.findings
    assert found.task == RECEIPTS
    assert "no result for 2 due tasks" in found.text
    assert "Deploys look healthy" in found.text
    assert not verdict.is_good
    assert verdict.checked == {FLAGS}


def test_what_was_skipped_is_not_taken_for_gone(tmp_path: Path) -> None:
    """Nobody looked; the receipt itself counts."""
    verdict = judged(a_view(tmp_path), status="skipped")
    assert verdict.is_good
    assert verdict.checked == {FLAGS, RECEIPTS}


@each_row(
    "message, text",
    [("Build is red on main.", "Build is red on main."), ("HEARTBEAT_OK\n\nBuild is red.", "Build is red.")],
)
def test_a_message_without_a_finding_is_one_itself(tmp_path: Path, message: str, text: str) -> None:
    """The token's paragraph aside."""
    [found] = judged(a_view(tmp_path), message).findings
    assert (found.task, found.text) == (MESSAGE, text)


def test_a_message_beside_findings_is_a_note_on_them(tmp_path: Path) -> None:
    """So that one thing is not told twice."""
    view = a_view(tmp_path)
    report = reported(view, "Look at main first.", status="finding", evidence="Main is red.", finding="red")
    verdict = judge_report(view, report)
    assert [found.text for found in verdict.findings] == ["Main is red.", "Main is red."]
    assert "Look at main first." in notes(view, report, verdict)
    alone = reported(view, "Look at main first.")
    assert "Look at main first." not in notes(view, alone, judge_report(view, alone))


def test_only_a_daily_beat_takes_messages_back_and_events_are_messages(tmp_path: Path) -> None:
    """What happened once cannot be found gone by looking at its task again."""
    assert MESSAGE not in judged(a_view(tmp_path, tier=Tier.HOURLY)).checked
    assert MESSAGE in judged(a_view(tmp_path, tier=Tier.DAILY)).checked
    [found, _] = judged(
        a_view(tmp_path), status="finding", evidence="3 new commits", finding="event-commits-a1"
    ).findings
    assert found.task == MESSAGE
