"""Long investigations over fakes: what calls for one, how it starts, what becomes of it, whatever dies on the way."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.agent.model_run import RunTimedOut
from bot.agent.specialist import Allowance, Budget
from bot.casework.escalations import run_id_of
from bot.casework.long_run import EscalationFolder
from bot.domain.returns import InvestigatorReturn, Usage, Verdict
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from bot.errors import InputError, ProviderError
from tests.builders import THREAD_ID, a_return, an_event
from tests.casework.office import BEN, Office, crash_everywhere
from tests.fakes import Faults, MemoryJournal
from tests.tables import each_row

AUDIT = "Audit every place where we retry: how often, and who decided that?"
SESSION = "investigator-T1_C1_1795165200_000100"


def folder_of(office: Office) -> EscalationFolder:
    return EscalationFolder(office.folder / "escalations" / THREAD_ID)


def answers(office: Office, ret: InvestigatorReturn | None = None, *, says: str = "") -> None:
    """Do what the process in the session does: claim, answer, leave."""
    folder = folder_of(office)
    assert folder.claim()
    folder.transcript.write_text(says)
    if ret is not None:
        folder.put_return(ret)
    folder.finish()
    office.terminal.alive.pop(SESSION, None)


def long_office(folder: Path, *script: Any, **more: Any) -> Office:
    return Office(folder, *script, has_model=True, **more).asked(AUDIT)


def timed_out(kind: str = "total") -> RunTimedOut:
    usage = Usage(input_tokens=10, output_tokens=5, cost_usd=0.4)
    why = "the run reached its limit of 300 s"
    return RunTimedOut(why, usage=usage, timeout_kind=kind, timeout_s=300.0, stall_s=60.0)


def test_a_question_that_will_take_long_gets_no_short_round(tmp_path: Path) -> None:
    """It goes straight to a session of its own, holds no place in the queue, and the card says so."""
    office = long_office(tmp_path)
    assert office.investigator.assignments == []
    assert office.terminal.alive == {SESSION: ("triage", "investigate", "--escalation", str(folder_of(office).path))}
    assert (office.jobs.waiting, office.jobs.running) == ({}, {})
    state = office.shown
    assert (state.status, state.is_escalated, state.escalation_tmux_session) == (ThreadStatus.ESCALATED, True, SESSION)
    assert state.escalation_transcript_path == str(folder_of(office).transcript)
    assert folder_of(office).rubric.read_text().startswith("Question type: ")


def test_an_answer_is_validated_and_shown(tmp_path: Path) -> None:
    """return.json becomes a round; the validator sees it, then the human."""
    office = long_office(tmp_path)
    answers(office, a_return("After a long look: 5."))
    office.watch.poll()
    assert office.state.status is ThreadStatus.AWAITING_VALIDATION
    office.work()
    state = office.shown
    assert (state.pending_reason, state.draft_pending) == (PendingReason.APPROVAL, "After a long look: 5.")
    assert (state.investigator_round, len(state.rounds)) == (1, 1)
    assert state.investigator_task_id is not None
    assert state.investigator_task_id.endswith("-e1")
    office.decisions.approve(office.click(), by=BEN)
    assert [record["was_escalated"] for record in office.log.records()] == [True]


def test_the_investigator_may_ask_for_more_time(tmp_path: Path) -> None:
    """Its round and its notes are kept; what comes back is round two, so there is no third."""
    asks = a_return("", escalation_requested=True, escalation_reason="many callers", research_notes="seen: a, b")
    office = Office(tmp_path, asks, has_model=True, verdicts=[Verdict.BOUNCE]).asked()
    assert office.state.status is ThreadStatus.ESCALATED
    request = folder_of(office).request()
    assert request is not None
    assert request.assignment.round == 2
    assert request.assignment.feedback == "A shorter run asked for more time: many callers\nIts notes: seen: a, b"
    answers(office, a_return("Long."))
    office.watch.poll()
    office.work()
    assert (office.state.investigator_round, office.state.pending_reason) == (2, PendingReason.DISAGREEMENT)
    assert len(office.investigator.assignments) == 1


def test_a_run_out_of_time_is_followed_by_a_longer_one(tmp_path: Path) -> None:
    """What it cost until then is on the bill; a stall is no reason."""
    office = Office(tmp_path / "total", timed_out(), has_model=True, codebase=str(tmp_path)).asked()
    assert office.state.status is ThreadStatus.ESCALATED
    assert office.state.usage is not None
    assert office.state.usage.cost_usd == 0.4
    assert office.shown.status_history[-1].why == "5 min were not enough"
    office = Office(tmp_path / "stall", timed_out("stall"), has_model=True, codebase=str(tmp_path)).asked()
    assert office.state.pending_reason is PendingReason.FAILED


def test_triage_escalates_a_thread_once(tmp_path: Path) -> None:
    """A long answer that asks for a longer one still is judged, and a second round out of time goes to the human."""
    again = a_return("Long.", escalation_requested=True, escalation_reason="more")
    office = long_office(tmp_path, timed_out(), verdicts=[Verdict.BOUNCE])
    answers(office, again)
    office.watch.poll()
    office.work()
    assert office.state.pending_reason is PendingReason.FAILED
    assert office.terminal.started == [SESSION]


def test_a_human_may_escalate_a_waiting_draft_and_again(tmp_path: Path) -> None:
    """The draft is withdrawn, its click is used up; each run has an id and a folder of its own."""
    office = Office(tmp_path, has_model=True).asked()
    click = office.click()
    assert "long investigation starts" in office.decisions.escalate(click, by=BEN)
    assert office.state.draft_pending is None
    with pytest.raises(InputError):
        office.decisions.escalate(click, by=BEN)
    office.work()
    first = run_id_of(office.state)
    assert office.shown.status_history[-1].why == f"<@{BEN}> asked for a long investigation"
    assert office.shown.status_history[-1].by == BEN
    answers(office, says="nothing found")
    office.watch.poll()
    office.decisions.escalate(office.click(), by=BEN)
    office.work()
    assert run_id_of(office.state) != first
    assert office.terminal.started == [SESSION, SESSION]
    assert folder_of(office).is_done() is False
    assert (tmp_path / "escalations" / f"{THREAD_ID}.earlier-1" / "transcript.log").read_text() == "nothing found"


@each_row(
    "settings, words",
    [({}, "needs a model"), ({"escalation": {"enabled": False}}, "switched off")],
)
def test_the_button_says_plainly_what_it_needs(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    """And changes nothing."""
    office = Office(tmp_path, **settings).asked()
    with pytest.raises(InputError, match=words):
        office.decisions.escalate(office.click(), by=BEN)
    assert office.state.pending_reason is PendingReason.APPROVAL


@each_row(
    "returned, why",
    [
        (None, "the long investigation ended without a usable answer; its last output: failed: no network"),
        (a_return("", open_questions=("Which region?",)), "the long investigation found no answer"),
    ],
)
def test_an_end_without_a_draft_reaches_the_human(
    tmp_path: Path, returned: InvestigatorReturn | None, why: str
) -> None:
    """With the reason and the last words."""
    office = long_office(tmp_path)
    answers(office, returned, says="1 tool call\nfailed: no network\n\n")
    office.watch.poll()
    assert (office.state.status, office.state.pending_reason) == (ThreadStatus.PENDING_USER, PendingReason.FAILED)
    assert office.shown.status_history[-1].why.startswith(why)


def test_a_broken_answer_is_none(tmp_path: Path) -> None:
    """Half a file, another shape, too much of it."""
    office = long_office(tmp_path)
    folder = folder_of(office)
    for text in ("{", '{"draft_reply": "x"}', '"' + "x" * 1_100_000 + '"'):
        (folder.path / "return.json").write_text(text)
        assert folder.returned() is None


@each_row("left", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_nobody_waits_for_a_pipe_or_follows_a_link_in_place_of_the_answer(
    tmp_path: Path, left: Callable[[Path], None]
) -> None:
    """A hostile program owns its folder; the thread that looks after all runs must not end in there."""
    office = long_office(tmp_path)
    answers(office)
    folder = folder_of(office)
    folder.transcript.unlink()
    left(folder.path / "return.json")
    left(folder.transcript)
    looked = threading.Thread(target=office.watch.poll, daemon=True)
    looked.start()
    looked.join(120)
    assert not looked.is_alive()
    assert office.shown.pending_reason is PendingReason.FAILED


def test_a_session_that_died_reaches_the_human(tmp_path: Path) -> None:
    """Nobody waits for it for ever."""
    office = long_office(tmp_path)
    folder_of(office).claim()
    office.terminal.alive.clear()
    office.watch.poll()
    assert office.shown.status_history[-1].why == "the long investigation ended without an answer"
    assert office.shown.pending_reason is PendingReason.FAILED


def office_of_older_run(tmp_path: Path) -> Office:
    """Return an office whose long run was begun by a release before the locks, and holds none."""
    office = long_office(tmp_path)
    request = folder_of(office).path / "request.json"
    request.write_text(request.read_text().replace('"is_locked": true', '"is_locked": false'))
    folder_of(office).claim()
    office.terminal.alive.clear()
    return office


def test_a_run_of_an_older_release_is_waited_for_though_it_holds_no_lock(tmp_path: Path) -> None:
    """While tmux answers, which may hold it. Its answer is taken as any; its limit of time ends the waiting."""
    office = office_of_older_run(tmp_path)
    office.terminal.holds_others = True
    office.watch.poll()
    assert office.state.status is ThreadStatus.ESCALATED
    folder_of(office).put_return(a_return("Long."))
    folder_of(office).finish()
    office.watch.poll()
    assert office.state.status is ThreadStatus.AWAITING_VALIDATION


def test_a_run_of_an_older_release_is_over_once_tmux_is_gone(tmp_path: Path) -> None:
    """As after the machine was started anew."""
    office = office_of_older_run(tmp_path)
    office.watch.poll()
    assert office.shown.pending_reason is PendingReason.FAILED


def test_a_run_over_its_limit_is_ended(tmp_path: Path) -> None:
    """It had a minute more than its limit to end by itself."""
    office = long_office(tmp_path)
    office.clock.at += timedelta(minutes=30, seconds=59)
    office.watch.poll()
    assert office.terminal.ended == []
    office.clock.advance(2)
    office.watch.poll()
    assert office.terminal.ended == [SESSION]
    assert office.shown.status_history[-1].why == "the long investigation was ended after its limit of 30 min"


def test_a_dismissal_calls_the_run_off(tmp_path: Path) -> None:
    """The session ends, its folder stays; a session that no thread waits for is none of ours to keep."""
    office = long_office(tmp_path)
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    assert office.ended.resolution is Resolution.DISMISSED
    office.watch.poll()
    assert office.terminal.ended == [SESSION]
    assert folder_of(office).request() is not None


@each_row("is_answered", [True, False])
def test_what_is_asked_during_a_long_run_is_taken_into_one_next_run(tmp_path: Path, is_answered: bool) -> None:
    """Whatever came of the long one; the question is known then."""
    office = long_office(tmp_path)
    office.says("and in the export?")
    office.says("and in the import?", sender=BEN)
    if is_answered:
        answers(office, a_return("Long."))
    else:
        office.terminal.end(SESSION)
    office.watch.poll()
    office.rounds.tick()
    office.work()
    assert [step.why for step in office.state.status_history if "asked more" in step.why] == [
        "somebody asked more in the thread during the run"
    ]
    assert not office.state.is_asked_more


def test_what_cannot_be_started_reaches_the_human(tmp_path: Path) -> None:
    """With the reason."""
    office = Office(tmp_path, has_model=True)
    office.terminal.refuse = ProviderError("tmux could not start it: no pty")
    office.asked(AUDIT)
    why = "the long investigation could not be started: tmux could not start it: no pty"
    assert (office.shown.pending_reason, office.shown.status_history[-1].why) == (PendingReason.FAILED, why)


def test_a_terminal_that_does_not_answer_costs_no_run(tmp_path: Path) -> None:
    """It is asked again at the next look; a bot that starts meanwhile starts."""
    office = long_office(tmp_path)
    office.terminal.silent = True
    office.clock.advance(3600)
    assert office.restart() == []
    assert office.state.status is ThreadStatus.ESCALATED


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.full)])
def test_wherever_the_bot_dies_there_is_one_run_and_its_answer_arrives(tmp_path: Path, every: int) -> None:
    """Each crash point from the question to the draft: never two runs, never none."""

    def build(faults: Faults) -> Office:
        return Office(tmp_path / f"{faults.crash_at}", has_model=True, faults=faults, codebase=str(tmp_path))

    def story(office: Office) -> None:
        office.asked(AUDIT)
        answers(office, a_return("After a long look: 5."))
        office.watch.poll()
        office.work()

    ends = crash_everywhere(build, story, every=every)
    assert len(ends) > 20 // every
    for point, office in ends:
        office.queue(an_event(AUDIT))  # the watcher finds in its journal what never reached the queue
        office.restart()
        office.restart()
        if not folder_of(office).is_claimed():
            assert office.terminal.started == [SESSION], point
            answers(office, a_return("After a long look: 5."))
        office.restart()
        assert office.terminal.started == [SESSION], point
        assert office.state.draft_pending == "After a long look: 5.", point
        assert len(office.messenger.cards) == 1, point
        assert len(office.state.rounds) == 1, point
        assert office.state.escalation_transcript_path == str(folder_of(office).transcript), point


class Purse:
    """A day's budget, and what stands in the journal."""

    def __init__(self, office: Office) -> None:
        self.journal = MemoryJournal()
        self.spending = Budget(self.journal, office.clock, per_day_usd=10.0)
        allowance = Allowance(usd=4.0, whose="this thread")
        office.long_runs = replace(office.long_runs, spending=self.spending, allowance=allowance)
        office.rehire()

    def spent(self) -> list[float]:
        return [record["cost_usd"] for record in self.journal.records()]


def test_a_share_is_set_aside_for_a_run_and_given_back(tmp_path: Path) -> None:
    """It travels in the request; a bot that starts anew sets it aside again; what the run cost is on its bill."""
    office = Office(tmp_path, has_model=True)
    Purse(office)
    office.asked(AUDIT)
    request = folder_of(office).request()
    assert request is not None
    assert request.spend_usd == 4.0
    again = Purse(office)
    office.watch.poll()
    assert again.spending.held() == {THREAD_ID}
    run = office.folder / "runs" / request.run_id
    run.mkdir(parents=True)
    (run / "trace.json").write_text('{"usage": {"input_tokens": 5, "cost_usd": 1.5}}')
    answers(office, a_return("Long."))
    office.watch.poll()
    assert again.spending.held() == frozenset()
    assert office.state.usage == Usage(input_tokens=5, cost_usd=1.5)
    assert again.spent() == []  # the run wrote its own line


@each_row("how", ["dismissed", "died"])
def test_a_run_that_left_no_record_is_taken_to_have_cost_its_share(tmp_path: Path, how: str) -> None:
    """Nobody knows what it spent; the day's limit holds all the same."""
    office = Office(tmp_path, has_model=True)
    purse = Purse(office)
    office.asked(AUDIT)
    if how == "dismissed":
        office.decisions.dismiss(office.click(), by=BEN, reason=None)
    else:
        folder_of(office).claim()
        office.terminal.alive.clear()
    office.watch.poll()
    office.watch.poll()
    assert (purse.spent(), purse.spending.held()) == ([4.0], frozenset())


def test_without_money_left_nothing_is_started(tmp_path: Path) -> None:
    """The card names the limit."""
    office = Office(tmp_path, has_model=True)
    purse = Purse(office)
    purse.spending.record("r", "m", Usage(cost_usd=10.0))
    office.asked(AUDIT)
    why = "the long investigation could not be started: spend limit of $10.00 for today reached"
    assert office.shown.status_history[-1].why == why
    assert office.terminal.started == []
