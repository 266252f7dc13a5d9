"""Cards nobody touches: one reminder, later the end, and no surprise from clocks, clicks or restarts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.casework.reports.status_overview import ThreadLine
from bot.casework.waiting_drafts import DraftReminders, repeat_partial_answers
from bot.domain.hours import ActiveHours
from bot.domain.threads import PendingReason, PostIntent, Resolution, ThreadStatus
from bot.errors import ProviderError, Unavailable, Unconfirmed
from tests.builders import a_return
from tests.casework.office import BEN, Office
from tests.fakes import MemoryJournal
from tests.tables import each_row

HOUR_S = 3_600
DAY_S = 24 * HOUR_S


class Wait:
    """An office with a draft that waits, and the ticks."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.office = Office(folder, **settings).asked()
        self.lines: list[str] = []
        self.reminders: list[Sequence[ThreadLine]] = []
        self.refuse: ProviderError | None = None
        self.restart()

    def restart(self, hours: ActiveHours | None = None) -> None:
        self.waiting = DraftReminders(self.office.service, MemoryJournal(self.lines), self.remind, hours=hours)

    def remind(self, waiting: Sequence[ThreadLine], now: datetime) -> None:
        assert now == self.office.clock.now()
        if self.refuse is not None:
            raise self.refuse
        self.reminders.append(waiting)

    def after(self, seconds: float) -> list[Sequence[ThreadLine]]:
        """Let time pass, tick, and return every reminder so far."""
        self.office.clock.advance(seconds)
        self.waiting.tick()
        return list(self.reminders)


@pytest.fixture
def wait(tmp_path: Path) -> Wait:
    return Wait(tmp_path)


def test_a_card_that_waits_is_named_once(wait: Wait) -> None:
    """Not before its time, then with its question and where its card stands, and not a second time."""
    assert wait.after(4 * HOUR_S - 1) == []
    ((line,),) = wait.after(1)
    assert (line.question, line.card) == ("How often do we retry?", ("C0OPS", wait.office.state.card_ts))
    assert wait.after(HOUR_S) == [[line]]


@pytest.mark.parametrize(
    ("start", "end", "said_at"),
    [("09:00", "17:00", "20T13:01"), ("14:00", "18:00", "20T14:00"), ("09:00", "12:00", "23T09:00")],
)
def test_a_reminder_waits_for_working_hours(wait: Wait, start: str, end: str, said_at: str) -> None:
    """Due on a Friday at one: said then, an hour later when work begins, or on Monday; once."""
    weekdays = ActiveHours(start, end, "UTC", frozenset(range(5)))
    wait.restart(weekdays)
    left = datetime.fromisoformat(f"2026-11-{said_at}:00Z") - wait.office.clock.now()
    assert wait.after(left.total_seconds() - 1) == []
    assert len(wait.after(1)) == 1
    assert len(wait.after(60)) == 1


def test_what_another_replica_named_is_not_named_again(wait: Wait) -> None:
    """Whoever takes the duty over reads first what was said meanwhile."""
    other = DraftReminders(wait.office.service, MemoryJournal(wait.lines), wait.remind)
    wait.after(4 * HOUR_S)
    other.recall()
    other.tick()
    assert len(wait.reminders) == 1


def test_a_new_draft_is_named_anew_after_its_own_wait(wait: Wait) -> None:
    """An edit is a touch: the time begins again, and the new version has its own reminder."""
    wait.after(4 * HOUR_S)
    wait.office.clock.advance(HOUR_S)
    wait.office.decisions.edit(wait.office.click(), "Five times.", by=BEN)
    assert len(wait.after(3 * HOUR_S)) == 1
    assert len(wait.after(HOUR_S)) == 2


def test_what_the_chat_refuses_is_said_at_the_next_tick(wait: Wait) -> None:
    """An outage loses no reminder; one that may have been said is not repeated."""
    wait.refuse = Unavailable("down")
    assert wait.after(4 * HOUR_S) == []
    wait.refuse = None
    assert len(wait.after(60)) == 1


def test_a_card_nobody_touches_expires_and_says_so(wait: Wait) -> None:
    """Closed as expired, in the archive, its card updated and nothing posted."""
    wait.after(4 * HOUR_S)
    wait.after(3 * DAY_S - 4 * HOUR_S - 1)
    assert wait.office.state.is_open
    wait.after(1)
    assert wait.office.ended.resolution is Resolution.EXPIRED
    assert wait.office.shown.status is ThreadStatus.CLOSED
    assert "expired: nobody decided" in wait.office.shown.status_history[-1].why
    assert wait.office.messenger.posts == []


def test_a_card_whose_question_a_person_answered_expires_as_superseded(wait: Wait) -> None:
    """Nobody touched the card, for nobody had to."""
    wait.office.says("It is five.", sender="U3")
    wait.office.work()
    wait.after(4 * HOUR_S)
    wait.after(7 * DAY_S)
    assert wait.office.ended.resolution is Resolution.SUPERSEDED


def test_after_a_long_absence_a_card_is_named_before_it_closes(wait: Wait) -> None:
    """The bot was away for a week: first the reminder, and the end only when that was ignored as well."""
    assert len(wait.after(7 * DAY_S)) == 1
    wait.after(4 * HOUR_S - 1)
    assert wait.office.state.is_open
    wait.after(1)
    assert wait.office.ended.resolution is Resolution.EXPIRED


@each_row("setting, said", [("remind_after", 0), ("expire_after", 1)])
def test_each_can_be_switched_off(tmp_path: Path, setting: str, said: int) -> None:
    """Without reminders a card ends when its time is over; without an end it waits for ever."""
    wait = Wait(tmp_path, **{setting: None})
    assert len(wait.after(4 * HOUR_S)) == said
    wait.after(30 * DAY_S)
    wait.after(DAY_S)
    assert len(wait.office.store.threads()) == said


def test_a_post_under_way_never_expires(wait: Wait) -> None:
    """Whether it stands in the thread is not known yet; closing would forget to look."""
    state = wait.office.state
    intent = PostIntent(at=wait.office.clock.now(), draft_hash=state.draft_hash)
    wait.office.store.put(state.evolve(post_intent=intent, approved_by=BEN))
    wait.after(4 * HOUR_S)
    wait.after(7 * DAY_S)
    assert wait.office.state.post_intent == intent


def test_a_click_at_the_last_moment_wins(wait: Wait) -> None:
    """Whoever touched the card between the look and the end has it open still."""
    wait.after(4 * HOUR_S)
    wait.office.clock.advance(3 * DAY_S)
    office = wait.office
    office.store.memory.meanwhile = lambda: office.decisions.edit(office.click(), "Five times.", by=BEN)
    wait.waiting.tick()
    assert office.state.draft_pending == "Five times."


def test_nothing_is_quoted_in_a_public_channel(wait: Wait) -> None:
    """The reminder waits until the channel is private again; what is told until then names no question."""
    wait.office.workspace.private.clear()
    assert wait.after(4 * HOUR_S) == []
    assert not any("retry" in line for line in wait.office.messenger.told)
    wait.office.workspace.private.add("C0OPS")
    assert len(wait.after(60)) == 1


PARTIAL = a_return("It is 5.", not_searched="38 of 50 files", index_unfinished=True)


def test_a_partial_answer_that_still_waits_is_made_anew_once(tmp_path: Path) -> None:
    """The second look finds nothing left to do."""
    office = Office(tmp_path, PARTIAL, a_return("It is 7.")).asked()
    repeat_partial_answers(office.service)
    assert office.state.status is ThreadStatus.INVESTIGATING
    office.work()
    assert (office.state.pending_reason, office.state.draft_pending) == (PendingReason.APPROVAL, "It is 7.")
    repeat_partial_answers(office.service)
    assert office.state.status is ThreadStatus.PENDING_USER


def test_questions_that_came_from_part_of_the_files_are_asked_of_all(tmp_path: Path) -> None:
    """There is no draft yet, and there may be one now."""
    unsure = a_return("", open_questions=("Which region?",), evidence_refs=(), index_unfinished=True)
    office = Office(tmp_path, unsure, a_return("It is 7.")).asked()
    repeat_partial_answers(office.service)
    office.work()
    assert office.state.draft_pending == "It is 7."


def test_an_edited_draft_and_a_whole_answer_stay(tmp_path: Path) -> None:
    """Nobody's words are thrown away."""
    edited, whole = Office(tmp_path, PARTIAL).asked(), Office(tmp_path).asked()
    edited.decisions.edit(edited.click(), "It is 6.", by=BEN)
    for office in (edited, whole):
        repeat_partial_answers(office.service)
        assert office.state.status is ThreadStatus.PENDING_USER
    assert edited.state.draft_pending == "It is 6."


def test_a_restart_reminds_of_nothing_twice(wait: Wait) -> None:
    """What was said is on disk, unreadable lines in the journal or not."""
    wait.after(4 * HOUR_S)
    wait.lines += ['{"thread_id": 7}', "half a li", '{"thread_id": "x", "draft_version": "y", "at": "z"}']
    wait.restart()
    assert len(wait.after(HOUR_S)) == 1


def test_a_reminder_that_was_perhaps_said_is_not_repeated(wait: Wait) -> None:
    """One reminder too few costs less than one a minute."""
    wait.refuse = Unconfirmed("cut")
    wait.after(4 * HOUR_S)
    wait.refuse = None
    assert wait.after(60) == []


def test_a_message_in_the_thread_keeps_the_card_open(wait: Wait) -> None:
    """Somebody still talks about it."""
    wait.after(4 * HOUR_S)
    wait.office.says("any news?", seconds=2 * DAY_S)
    wait.after(DAY_S)
    assert wait.office.state.is_open
