"""One beat, whichever way it goes: one line, the right result, and stamps only where every due task was answered."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.agent.model_run import RunCancelled, RunFailed, RunStopped, SpendLimitReached
from bot.domain.heartbeats.alerts import Alert, Place, finding_digest
from bot.domain.heartbeats.beats import Action, BeatReport, BeatResult, Indicator, Receipt, Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SpentToday
from bot.domain.jobs import RunBeat
from bot.domain.tiers import Tier
from bot.errors import ProviderError, StoreError, Unavailable
from bot.heartbeat.pages import FindingResponses
from bot.heartbeat.run.beat_record import BeatView
from bot.heartbeat.session_registry import Owners
from bot.heartbeat.session_rows import rows
from tests.fakes import FakeWorkspace
from tests.heartbeat.builders import AT
from tests.heartbeat.room import COST, QUIET, BeatRoom, Scripted, report, screened
from tests.tables import each_row

NEVER = "Last quick: (never)"
CHECKED = QUIET.replace("- [ ] Is the deploy healthy?", "- [ ] Tree: `git status --porcelain`")
AWAY = RunFailed("the provider is away", usage=COST)


def test_all_is_well_is_said_to_nobody_and_stamped(tmp_path: Path) -> None:
    """The token alone, a receipt for every task: logged, suppressed, good."""
    room = BeatRoom(tmp_path)
    line = room.beat()
    assert (line.result, line.indicator, line.silent) == (BeatResult.OK_TOKEN, Indicator.OK, True)
    assert (line.tier, line.tool_calls, line.prescreen) == (Tier.QUICK, 2, None)
    assert (line.usage.input_tokens, line.usage.cost_usd, line.usage.triage_usage) == (900, 0.02, None)
    assert NEVER not in room.playbook
    assert "- [x] Is the deploy healthy?" in room.playbook
    assert (room.state.last_run, room.state.spent.usd) == (AT, 0.02)
    assert room.surface.sent == []


def test_an_empty_answer_is_well_too(tmp_path: Path) -> None:
    """It has its receipts."""
    assert BeatRoom(tmp_path, report("  ")).beat().result is BeatResult.OK_EMPTY


def test_what_was_asked_to_be_said_when_all_is_well_is_said(tmp_path: Path) -> None:
    """One line; the session's sign stays green."""
    room = BeatRoom(tmp_path, report("All quiet. HEARTBEAT_OK"), visibility={"show_ok": True})
    line = room.beat()
    assert (line.result, line.indicator, line.silent) == (BeatResult.SENT, Indicator.OK, False)
    assert room.surface.texts == ["All quiet."]


def test_a_finding_is_sent_whatever_the_message_says(tmp_path: Path) -> None:
    """A token does not hide it; its tier is stamped, its box is not ticked."""
    room = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    line = room.beat()
    assert (line.result, line.indicator, line.preview) == (BeatResult.SENT, Indicator.ALERT, "Main is red.")
    assert line.delivered is not None
    assert NEVER not in room.playbook
    assert "- [ ] Is the deploy healthy?" in room.playbook
    again = room.beat()
    assert (again.result, again.indicator, again.silent, again.why) == (
        BeatResult.OK_TOKEN,
        Indicator.ALERT,
        True,
        "dedupe: already sent; sent again after dedupe_window, unless acknowledged or snoozed",
    )
    assert len(room.surface.sent) == 1


@each_row("asked", [True, False])
def test_a_reasoning_is_told_and_kept_only_where_it_was_asked_for(tmp_path: Path, asked: bool) -> None:
    """Else it would come to light later."""
    red = report(result="finding", finding="red", evidence="Main is red.")
    room = BeatRoom(tmp_path, lambda view: red(view).evolve(reasoning="The log says so."), include_reasoning=asked)
    room.beat()
    (found,) = room.state.findings.values()
    told = "The log says so." if asked else None
    assert (found.reasoning, room.surface.sent[0][1].reasoning) == (told, told)


def test_an_urgent_flag_is_never_hidden_by_a_token(tmp_path: Path) -> None:
    """Whatever the model thinks of it."""
    room = BeatRoom(tmp_path)
    room.write_playbook(QUIET.replace("## Quick", "## Urgent Flags\n\n- Certificates end on Friday\n\n## Quick"))
    assert room.beat().result is BeatResult.SENT
    assert "Certificates end on Friday" in room.surface.texts[0]


def test_a_beat_without_a_receipt_is_an_alert_about_itself_and_stamps_nothing(tmp_path: Path) -> None:
    """It proves nothing; the next one that does takes the alert back."""
    nothing = BeatReport(message="", status="ok", receipts=(), usage=COST)
    room = BeatRoom(tmp_path, nothing, report())
    assert room.beat().result is BeatResult.SENT
    assert "no result for 1 due task" in room.surface.texts[0]
    assert NEVER in room.playbook
    assert room.state.stamps == {}
    room.beat()
    assert NEVER not in room.playbook
    assert room.surface.updated[-1][1].finding.resolved_at is not None  # type: ignore[union-attr]


def test_a_run_that_ends_in_the_bare_token_stamps_nothing_and_the_third_is_an_alert(tmp_path: Path) -> None:
    """It reported nothing; the next whole report begins anew."""
    room = BeatRoom(tmp_path, BeatReport(message="HEARTBEAT_OK", receipts=(), usage=COST))
    lines = [room.beat() for _ in range(3)]
    assert [line.result for line in lines] == [BeatResult.OK_TOKEN, BeatResult.OK_TOKEN, BeatResult.SENT]
    assert "no result for 1 due task" in room.surface.texts[0]
    assert NEVER in room.playbook
    assert room.state.bare_tokens == 3
    room.full.steps = [report()]
    room.beat()
    assert room.state.bare_tokens == 0
    assert room.surface.updated[-1][1].finding.resolved_at is not None  # type: ignore[union-attr]


def test_receipts_of_tasks_that_are_not_due_count_for_nothing(tmp_path: Path) -> None:
    """Whether they were made up or belong to another tier."""
    made_up = BeatReport(message="HEARTBEAT_OK", receipts=(Receipt(task="0badc0de", result="ok"),), usage=COST)
    room = BeatRoom(tmp_path, made_up)
    room.beat()
    assert NEVER in room.playbook


def test_what_nobody_has_to_think_about_costs_nothing(tmp_path: Path) -> None:
    """The second look prints what the first did: no model, and stamped all the same."""
    room = BeatRoom(tmp_path, commands=["git status --porcelain"])
    room.write_playbook(CHECKED)
    room.beat()
    room.write_playbook(CHECKED)
    line = room.beat()
    assert (line.result, line.why, line.usage.input_tokens) == (BeatResult.OK_EMPTY, "probes: nothing changed", None)
    assert len(room.full.views) == 1
    assert NEVER not in room.playbook


def test_a_beat_with_nothing_due_asks_nobody(tmp_path: Path) -> None:
    """A playbook of hourly tasks alone costs nothing at the slots between."""
    room = BeatRoom(tmp_path)
    room.write_playbook("## Timestamps\n\n{stamps}\n## Hourly Tasks\n\n- [ ] Is the deploy healthy?\n")
    line = room.beat()
    assert (line.result, line.tier, room.full.views) == (BeatResult.OK_EMPTY, "quick", [])
    assert NEVER not in room.playbook


def test_a_playbook_whose_bytes_are_no_utf_8_is_worked_and_kept(tmp_path: Path) -> None:
    """Its tasks and flags are told with question marks; no byte of the file changes but box and stamp."""
    room = BeatRoom(tmp_path, report(result="finding", finding="gone", evidence=""))
    text = b"# Urgent Flags\n\n- \xff full\n\n# Quick\n\n- [x] Disk \xfe of caf\xe9\n"
    (room.cwd / "HEARTBEAT.md").write_bytes(text)
    assert room.beat().result is BeatResult.SENT
    assert room.surface.texts == ["Urgent flag: ? full", "Disk ? of caf?"]
    assert (room.cwd / "HEARTBEAT.md").read_bytes() == text.replace(b"[x]", b"[ ]")


def test_mail_and_a_due_daily_tier_make_somebody_think(tmp_path: Path) -> None:
    """Though the probes print what they did; mail is read once."""
    room = BeatRoom(tmp_path, commands=["git status --porcelain"])
    room.write_playbook(CHECKED)
    room.beat()
    room.store.send(
        InboxMessage(at=AT, from_="master", to="shop", kind=MessageKind.ASSIGNMENT, text="Look at the disk.")
    )
    room.beat()
    assert [len(view.inbox) for view in room.full.views] == [0, 1]
    assert room.beat().why == "probes: nothing changed"
    room.write_playbook(CHECKED, daily_due=True)
    assert room.beat().tier is Tier.DAILY
    assert len(room.full.views) == 3


@each_row("action", ["none", "handle"])
def test_a_cheap_model_that_is_sure_ends_the_beat(tmp_path: Path, action: str) -> None:
    """Stamped, silent, and its cost beside the run that was not made."""
    room = BeatRoom(tmp_path, screen=Scripted(screened(action)))
    line = room.beat()
    assert (line.result, line.prescreen, line.why) == (BeatResult.OK_EMPTY, Action(action), "pre-screen: as it was")
    assert line.usage.triage_usage is not None
    assert (line.usage.input_tokens, line.usage.triage_usage.input_tokens) == (None, 90)
    assert NEVER not in room.playbook
    assert room.full.views == []
    assert room.state.spent.usd == 0.001


def test_doubt_leads_to_the_full_run_and_both_are_paid_for(tmp_path: Path) -> None:
    """The line names both."""
    room = BeatRoom(tmp_path, screen=Scripted(screened("escalate")))
    line = room.beat()
    assert (line.result, line.prescreen) == (BeatResult.OK_TOKEN, Action.ESCALATE)
    assert (line.usage.cost_usd, line.usage.triage_usage.cost_usd) == (0.02, 0.001)  # type: ignore[union-attr]
    assert room.state.spent.usd == pytest.approx(0.021)
    assert room.full.views[0].spent_usd == 0.001, "the day's limit counts the pre-screen already"


def test_a_task_that_found_something_is_not_ticked_by_another_receipt(tmp_path: Path) -> None:
    """Two receipts for one task, the second of which is fine: both are heard."""

    def both(view: BeatView) -> BeatReport:
        [task] = view.tasks
        found = Receipt(task=task.id, result="finding", evidence="Main is red.", finding="red")
        return BeatReport(message="HEARTBEAT_OK", receipts=(found, Receipt(task=task.id, result="ok")), usage=COST)

    room = BeatRoom(tmp_path, both)
    assert room.beat().result is BeatResult.SENT
    assert "- [ ] Is the deploy healthy?" in room.playbook


def test_a_pre_screen_that_failed_is_on_the_line_and_in_the_list(tmp_path: Path) -> None:
    """Its beat costs a full run each time; whoever looks at the list sees why."""
    error = "no price is known for x; add it to `pricing`"
    broken = replace(screened("escalate"), error=error)
    room = BeatRoom(tmp_path, screen=Scripted(broken))
    beat = room.beat()
    assert (beat.why, beat.screen_error) == (f"the pre-screen failed: {error}", error)
    [row] = rows(
        room.sessions, room.store, Owners(FakeWorkspace(), room.clock, local="UTC"), room.log, room.clock.now()
    )
    assert row.notes[0] == (
        "its pre-screen fails, so every check costs a full run: no price is known for x; add it to `pricing`"
    )


@each_row("wake", [Wake.ON_DEMAND, Wake.ASSIGNMENT, Wake.AUTOMATION])
def test_only_the_clock_is_screened(tmp_path: Path, wake: Wake) -> None:
    """Who asks for a beat gets one; a due daily tier needs the whole mind; no cheap model, no screen."""
    room = BeatRoom(tmp_path, screen=Scripted(screened("none")))
    assert room.beat(wake).prescreen is None
    room.write_playbook(daily_due=True)
    assert room.beat().prescreen is None
    assert len(room.full.views) == 2


def test_a_session_may_switch_the_screen_off(tmp_path: Path) -> None:
    """Though there is one."""
    room = BeatRoom(tmp_path, screen=Scripted(screened("none")), heartbeat_model="")
    assert room.beat().prescreen is None


def test_a_run_that_fails_is_recorded_with_what_it_cost_and_stamps_nothing(tmp_path: Path) -> None:
    """The pre-screen's doubt and cost stay on the line, and count for the day."""
    room = BeatRoom(tmp_path, AWAY, screen=Scripted(screened("escalate")))
    line = room.beat()
    assert (line.result, line.indicator, line.error) == (BeatResult.FAILED, Indicator.ERROR, "the provider is away")
    assert (line.prescreen, line.tier) == (Action.ESCALATE, Tier.QUICK)
    assert line.usage.triage_usage is not None
    assert room.state.spent.usd == pytest.approx(0.021)
    assert NEVER in room.playbook
    assert room.state.stamps == {}
    assert room.surface.sent == []


def test_an_alert_that_cannot_be_sent_makes_the_beat_fail_and_is_sent_by_the_next(tmp_path: Path) -> None:
    """Nothing is stamped meanwhile, so the same work is done again."""
    room = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    room.surface.refuses = Unavailable("Slack is away")
    line = room.beat()
    assert (line.result, line.error, line.silent) == (BeatResult.FAILED, "Slack is away", True)
    assert NEVER in room.playbook
    room.surface.refuses = None
    assert room.beat().result is BeatResult.SENT


def test_one_of_two_alerts_that_cannot_be_sent_is_on_record_and_sent_by_the_next(tmp_path: Path) -> None:
    """What was said is not said twice; nothing is stamped until all is said."""
    room = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    room.write_playbook("## Urgent Flags\n\n- Fire\n\n" + QUIET)

    def shut() -> None:
        room.surface.refuses = Unavailable("Slack is away")

    room.surface.meanwhile = shut
    line = room.beat()
    assert (line.result, line.error, line.silent) == (BeatResult.SENT, "Slack is away", False)
    assert NEVER in room.playbook
    room.surface.refuses = None
    assert room.beat().result is BeatResult.SENT
    assert room.surface.texts == ["Urgent flag: Fire", "Main is red."]
    assert NEVER not in room.playbook


@each_row(
    "setting, why",
    [
        ({"deliver": {"mode": "none"}}, "delivery: only to the log"),
        ({"visibility": {"show_alerts": False}}, "delivery: alerts are switched off"),
    ],
)
def test_the_record_says_why_nobody_was_told(tmp_path: Path, setting: dict[str, Any], why: str) -> None:
    """It was never said before, so it is no repeat."""
    line = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."), **setting).beat()
    assert (line.result, line.indicator, line.why) == (BeatResult.OK_TOKEN, Indicator.ALERT, why)
    assert (line.silent, line.delivered) == (True, None)


def test_nobody_hears_that_all_is_well_at_a_beat_whose_finding_is_not_told(tmp_path: Path) -> None:
    """Alerts are switched off, and a line at each quiet beat is wanted: this is none, nor are those that follow."""
    red, hidden = report(result="finding", finding="red", evidence="Main is red."), {"show_alerts": False}
    room = BeatRoom(tmp_path, red, red, report(), visibility={**hidden, "show_ok": True})
    for _ in range(2):
        assert room.beat().indicator is Indicator.ALERT
    assert room.surface.texts == []
    room.beat()
    assert room.surface.texts == ["OK: no problem found in shop."]


def test_what_a_task_found_that_nobody_does_any_more_is_not_said_again_and_closed_by_the_daily_run(
    tmp_path: Path,
) -> None:
    """Somebody took the task out of the playbook; no receipt can ever settle what it found."""
    room = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."), report())
    room.beat()
    room.clock.advance(25 * 3_600)
    other = "## Timestamps\n\n- Last hourly: {at}\n- Last daily: {at}\n\n## Quick Tasks\n\n{tasks}"
    now = f"{room.clock.now():%Y-%m-%dT%H:%M:%SZ}"
    (room.cwd / "HEARTBEAT.md").write_text(other.format(at=now, tasks=""))
    assert room.beat(Wake.ON_DEMAND).why == "probes: no task is due"
    assert room.surface.texts == ["Main is red."]
    (room.cwd / "HEARTBEAT.md").write_text(other.format(at="(never)", tasks="- [ ] Is the disk full?\n"))
    room.beat()
    assert [found.is_open for found in room.state.findings.values()] == [False]


def test_a_cancel_stays_one_at_every_step(tmp_path: Path) -> None:
    """During the screen, between screen and run, during the run, after it: no alert, no stamp, the cost kept."""
    room = BeatRoom(tmp_path, screen=Scripted())
    room.screen.steps.append(room.cancelling(screened("escalate")))  # type: ignore[union-attr]
    room.screen.steps.append(room.cancelling(screened("none")))  # type: ignore[union-attr]
    room.screen.steps.append(screened("escalate"))  # type: ignore[union-attr]
    room.full.steps[:] = [
        RunCancelled("cancelled", usage=COST),
        room.cancelling(report(result="finding", evidence="Main is red.")),
    ]
    lines = [room.beat() for _ in range(4)]
    assert [(line.result, line.why) for line in lines] == [(BeatResult.SKIPPED, "cancelled")] * 4
    assert [line.usage.cost_usd for line in lines] == [None, None, 0.02, 0.02]
    assert all(line.usage.triage_usage for line in lines)
    assert NEVER in room.playbook
    assert room.surface.sent == []
    assert room.state.failures.count == 0


def test_a_cancel_while_nothing_runs_is_none(tmp_path: Path) -> None:
    """It is told so, and the next beat runs."""
    room = BeatRoom(tmp_path)
    assert not room.beats.cancel("shop")
    assert room.beat().result is BeatResult.OK_TOKEN


@each_row("where", ["screen", "run"])
def test_a_process_that_stops_hands_the_beat_back(tmp_path: Path, where: str) -> None:
    """No line, for it is made again; why it was started is kept."""
    stopped = RunStopped("the bot stops", usage=COST)
    steps = Scripted(stopped if where == "screen" else screened("escalate"))
    room = BeatRoom(tmp_path, stopped, screen=steps)
    with pytest.raises(RunStopped):
        room.beat()
    assert room.wakes.waiting() == {"shop": {Wake.INTERVAL}}
    assert room.journal.lines == []


def test_the_gate_is_asked_again_when_the_beat_starts(tmp_path: Path) -> None:
    """A budget spent meanwhile refuses it before any look."""
    room = BeatRoom(tmp_path, daily_budget_usd=0.5)
    room.store.save("shop", lambda state: state.evolve(spent=SpentToday(day="2026-11-21", usd=0.6)))
    line = room.beat(Wake.ON_DEMAND)
    assert (line.result, line.why, line.trace_id) == (BeatResult.SKIPPED, "budget spent: 0.60 of 0.50 USD today", None)
    assert room.wakes.waiting() == {}
    assert room.full.views == []


def test_a_limit_of_money_met_during_the_run_is_a_failure_that_says_so(tmp_path: Path) -> None:
    """Not a silent end."""
    room = BeatRoom(tmp_path, SpendLimitReached("spend limit of $0.50 for shop today reached", usage=COST))
    assert room.beat().error == "spend limit of $0.50 for shop today reached"


def test_five_failures_pause_and_are_told_once_however_often_the_way_is_shut(tmp_path: Path) -> None:
    """The owner hears of it as soon as they can be reached; one success forgets it all."""
    room = BeatRoom(tmp_path, AWAY)
    for _ in range(4):
        room.beat()
    assert room.surface.sent == []
    room.surface.refuses = Unavailable("Slack is away")
    room.beat()
    assert room.state.failures.count == 5
    assert room.state.failures.paused_until is not None
    room.surface.refuses = None
    room.beat(Wake.ON_DEMAND)
    room.beat(Wake.ON_DEMAND)
    assert len(room.surface.sent) == 1
    assert "failed 6 times in a row and pauses" in room.surface.texts[0]
    assert "the provider is away" in room.surface.texts[0]
    room.full.steps[:] = [report()]
    room.beat(Wake.ON_DEMAND)
    assert room.state.failures.count == 0


def test_the_ops_channel_hears_of_alerts_and_a_pause_that_the_owner_cannot_be_told_of(tmp_path: Path) -> None:
    """An account that is switched off never hears anything: that is said at once; what the alerts say stays private."""
    room = BeatRoom(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    room.surface.refuses = ProviderError("cannot send an alert: user_disabled")
    for _ in range(6):
        room.beat(Wake.ON_DEMAND)
    first, fifth = room.ops
    assert first.startswith("An alert of shop reached nobody: cannot send an alert: user_disabled.")
    assert fifth.startswith("shop: The heartbeat failed 5 times in a row")
    assert "user_disabled" in fifth
    assert "Main is red" not in first + fifth


def test_a_slot_stamps_its_own_time_and_a_person_the_present(tmp_path: Path) -> None:
    """So that the phase of the tiers does not drift with the queue."""
    room = BeatRoom(tmp_path)
    slot = AT - timedelta(minutes=3)
    room.beat(slot=slot.isoformat())
    assert "Last quick: 2026-11-21T09:27:00Z" in room.playbook
    room.beat(Wake.ON_DEMAND)
    assert "Last quick: 2026-11-21T10:00:00Z" in room.playbook


def test_a_beat_takes_every_wake_that_waited_and_the_strongest_reason(tmp_path: Path) -> None:
    """None of them makes another beat."""
    room = BeatRoom(tmp_path)
    for wake in (Wake.INTERVAL, Wake.ASSIGNMENT):
        room.wakes.drop("shop", wake)
    assert room.beat().reason is Wake.ASSIGNMENT
    assert room.wakes.waiting() == {}


def test_a_playbook_that_cannot_be_read_is_a_failed_beat_and_a_missing_one_is_made(tmp_path: Path) -> None:
    """Either leaves its line."""
    room = BeatRoom(tmp_path)
    (room.cwd / "HEARTBEAT.md").unlink()
    (room.cwd / "HEARTBEAT.md").mkdir()
    assert "HEARTBEAT.md" in (room.beat().error or "")
    (room.cwd / "HEARTBEAT.md").rmdir()
    assert room.beat().result in (BeatResult.OK_TOKEN, BeatResult.SENT)
    assert "## Quick Tasks" in room.playbook


def test_a_full_disk_is_no_beat_at_all(tmp_path: Path) -> None:
    """It is raised, so that the job is tried again."""
    room = BeatRoom(tmp_path)
    room.storage.documents.full = True
    with pytest.raises(StoreError):
        room.beat()


def test_a_session_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    """Its job was queued before triage.yml changed."""
    room = BeatRoom(tmp_path)
    room.beats.run_beat(RunBeat(session_id="gone"))
    assert room.journal.lines == []


@each_row(
    "mind, says",
    [(report(), "HEARTBEAT_OK"), (AWAY, "the provider is away"), (report("Look: x"), "Look: x")],
)
def test_every_beat_leaves_its_folder(tmp_path: Path, mind: Any, says: str) -> None:
    """trace.json, transcript.md and run.log, under the name on its line."""
    room = BeatRoom(tmp_path, mind)
    line = room.beat()
    folder = room.runs / str(line.trace_id)
    trace = json.loads((folder / "trace.json").read_text())
    assert (trace["result"], trace["tier"]) == (line.result, "quick")
    assert trace["tasks"][0]["text"] == "Is the deploy healthy?"
    assert says in (folder / "transcript.md").read_text()
    assert line.result in (folder / "run.log").read_text()


def test_a_remark_beside_the_token_stays_on_record(tmp_path: Path) -> None:
    """Nobody is sent it; the record holds it, and says that there was one."""
    room = BeatRoom(tmp_path, report("Two PRs wait. HEARTBEAT_OK"))
    line = room.beat()
    assert (line.result, line.silent) == (BeatResult.OK_TOKEN, True)
    assert line.preview == line.beside_ok == "Two PRs wait."
    assert line.why is not None
    assert line.why.startswith("1 remark with OK")
    assert room.surface.sent == []


def test_a_remark_beside_the_token_and_a_finding_stays_on_record_too(tmp_path: Path) -> None:
    """The alert tells of the finding; the remark is not lost, and once delivered by show_ok it is none."""
    room = BeatRoom(tmp_path, report("Two PRs wait. HEARTBEAT_OK", result="finding", finding="f", evidence="Disk low"))
    line = room.beat()
    assert (line.result, line.beside_ok) == (BeatResult.SENT, "Two PRs wait.")
    assert "Disk low" in line.preview
    (tmp_path / "other").mkdir()
    shown = BeatRoom(tmp_path / "other", report("Two PRs wait. HEARTBEAT_OK"), visibility={"show_ok": True}).beat()
    assert (shown.result, shown.beside_ok) == (BeatResult.SENT, "")


class Death(BaseException):
    """The process is gone."""


def broken_off(folder: Path, mind: Any, **beat: Any) -> BeatRoom:
    """Return a room whose bot died after its paid run, before anybody heard of it, and is back three hours later."""
    room = BeatRoom(folder, mind, **beat)
    was = room.surface.send

    def die(to: str, alert: Alert) -> list[Place]:
        raise Death

    room.surface.send = die  # type: ignore[method-assign]  # the fake's: a crash in the middle of a call
    with pytest.raises(Death):
        room.beats.run_beat(RunBeat(session_id="shop", wake=Wake.INTERVAL))
    room.surface.send = was  # type: ignore[method-assign]
    room.clock.advance(3 * 3_600)
    return room


def test_a_finding_of_before_a_crash_rings_late_with_its_true_time(tmp_path: Path) -> None:
    """It is still open as far as anybody knows."""
    room = broken_off(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    assert room.beat().result is BeatResult.SENT
    [(_, alert)] = room.surface.sent
    assert alert.finding is not None
    assert alert.finding.first_at == AT
    assert len(room.full.views) == 1


def test_a_finding_that_was_closed_after_the_bot_looked_does_not_ring(tmp_path: Path) -> None:
    """Somebody fixed it between the crash and the rest of the beat; the next beat looks afresh."""
    room = broken_off(tmp_path, report(result="finding", finding="red", evidence="Main is red."))
    [known] = room.state.findings.values()
    FindingResponses(room.store, room.alerts, room.clock).fix("shop", finding_digest(known.key), by="U0ANN")
    assert room.beat().silent
    assert room.surface.sent == []
    assert room.beat().result is BeatResult.SENT
    assert room.surface.texts == ["Main is red."]


def test_that_all_was_well_hours_ago_is_told_to_nobody(tmp_path: Path) -> None:
    """Where the owner wants to hear it, they hear of the next beat."""
    room = broken_off(tmp_path, report("HEARTBEAT_OK"), visibility={"show_ok": True})
    line = room.beat()
    assert line.silent
    room.clock.advance(3_600)
    assert not room.beat().silent
