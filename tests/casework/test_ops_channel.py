"""Lines for the ops channel wait out an outage."""

from __future__ import annotations

from pathlib import Path

from bot.casework.ops_channel import TURNED_AWAY, OpsLines, OpsOutbox
from bot.domain.events import Event
from bot.domain.jobs import MentionInstruction, QuestionAsked
from bot.domain.threads import Resolution, ThreadState, ThreadStatus, reply_id_of
from bot.errors import Unavailable
from bot.ports import Person
from tests.builders import a_return, a_sorter, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import FakeClock, Faults, RecordingMessenger
from tests.tables import each_row


class MoodyMessenger(RecordingMessenger):
    """Refuses while `down`."""

    down = False

    def tell_ops(self, text: str) -> None:
        """Say a line, or raise as an unreachable chat does."""
        if self.down:
            raise Unavailable("Slack could not be reached")
        super().tell_ops(text)

    def show_card(self, state: ThreadState) -> tuple[str, str]:
        """Not asked for here."""
        raise AssertionError(state.thread_id)


def test_what_could_not_be_said_is_said_later_in_order() -> None:
    """Nothing is lost and nothing is said twice."""
    messenger = MoodyMessenger()
    lines = OpsOutbox(messenger, OpsLines(FakeClock()))
    messenger.down = True
    lines.say("one")
    lines.say("two")
    assert messenger.told == []
    messenger.down = False
    lines.flush()
    lines.say("three")
    lines.flush()
    assert messenger.told == ["one", "two", "three"]


def test_what_comes_late_says_of_when_it_is() -> None:
    """A line of before the outage is not taken for one of now."""
    messenger, clock = MoodyMessenger(), FakeClock()
    lines = OpsOutbox(messenger, OpsLines(clock))
    messenger.down = True
    lines.say("the disk is full")
    clock.advance(4 * 60)
    lines.say("the disk has room")
    clock.advance(60)
    messenger.down = False
    lines.flush()
    assert messenger.told == ["From 2026-11-20 09:00 UTC, sent late: the disk is full", "the disk has room"]


DM, TS = "D0BEN", "1795165200.000100"
THREAD = f"T1.{DM}.{TS}"
GUEST = "U0GUEST"


def a_message(text: str, *, by: str, **more: str) -> Event:
    """Return a message in somebody's direct messages, as the watcher makes it."""
    return an_event(text, chat_id=DM, sender={"id": by}, mentions=("U0BOT",), **more)


def asked(folder: Path, by: str, faults: Faults | None = None) -> Office:
    """Let somebody write to the bot; BEN may approve."""
    office = Office(folder, faults=faults)
    office.workspace.groups["C0OPS"] = frozenset({BEN})
    office.arrive(a_message("how often do we retry?", by=by))
    office.work()
    return office


def state_of(office: Office) -> ThreadState:
    state = office.store.latest(THREAD)
    assert state is not None
    return state


def test_an_approver_gets_the_draft_in_place(tmp_path: Path) -> None:
    """One card, and it stays there; the reply comes there, too."""
    office = asked(tmp_path, BEN)
    state = state_of(office)
    assert (state.status, state.card_channel) == (ThreadStatus.PENDING_USER, DM)
    assert office.direct_chat.told == {}
    office.service.cards.show_card(THREAD)
    assert len(office.messenger.cards) == 1
    office.decisions.approve(office.click(), by=BEN)
    assert state_of(office).resolution is Resolution.APPROVED
    assert [post.text for post in office.messenger.posts] == [a_return().draft_reply]
    assert office.direct_chat.working == [True, False]


def test_anybody_else_is_told_who_reads_the_draft_and_sees_none(tmp_path: Path) -> None:
    """The card stands in the ops channel."""
    office = asked(tmp_path, ANN)
    assert state_of(office).card_channel == "C0OPS"
    assert list(office.direct_chat.told) == [(DM, TS, reply_id_of(state_of(office)))]
    assert "approvers" in next(iter(office.direct_chat.told.values()))


def test_wherever_the_process_dies_there_is_one_card_and_one_line(tmp_path: Path) -> None:
    """Also between the two."""
    for where, office in crash_everywhere(lambda faults: Office(tmp_path, faults=faults), _ask):
        office.restart()
        if office.store.get(THREAD) is None:
            assert where == "queue: before a job", where
            continue
        assert len(office.messenger.cards) == 1, where
        assert len(office.direct_chat.told) == 1, where


@each_row(
    "text",
    ["how often do we retry?", "look into this", "dismiss it", "/triage status"],
)
def test_a_guest_is_told_once_who_may_ask(tmp_path: Path, text: str) -> None:
    """Wherever the process dies, and however often they write on in the thread; nothing is looked into."""

    def write(office: Office) -> None:
        office.workspace.people[GUEST] = Person(user_id=GUEST, name="Gus", is_guest=True)
        office.arrive(a_message(text, by=GUEST))
        office.work()

    for where, office in crash_everywhere(lambda faults: Office(tmp_path, faults=faults), write):
        office.restart()
        office.arrive(a_message(text, by=GUEST))
        office.arrive(a_message("hello?", by=GUEST, message_id="1795165260.000100", thread_id=TS))
        office.work()
        [(place, said)] = office.direct_chat.told.items()
        assert (place, "Only members" in said) == ((DM, TS, TURNED_AWAY), True), where
        assert (office.store.threads(), office.messenger.cards) == ([], []), where


def test_a_guest_hears_nothing_elsewhere_and_is_answered_where_the_settings_allow_it(tmp_path: Path) -> None:
    """In a channel the others read it, too."""
    office = Office(tmp_path, watcher={"allow_external": True})
    office.workspace.people[GUEST] = Person(user_id=GUEST, name="Gus", is_guest=True)
    office.arrive(a_message("how often do we retry?", by=GUEST))
    office.work()
    assert "read the draft first" in next(iter(office.direct_chat.told.values()))
    strict = Office(tmp_path)
    strict.workspace.people[GUEST] = office.workspace.people[GUEST]
    strict.arrive(an_event("<@U0BOT> how often do we retry?", sender={"id": GUEST}, mentions=("U0BOT",)))
    strict.work()
    assert (strict.direct_chat.told, strict.store.threads()) == ({}, [])


def _ask(office: Office) -> None:
    office.workspace.groups["C0OPS"] = frozenset({BEN})
    office.arrive(a_message("how often do we retry?", by=ANN))
    office.work()


@each_row(
    "text, command",
    [
        ("how is web?", "heartbeat why web"),
        ("Web?", "heartbeat why web"),
        ("where is the retry limit of web set?", None),
        ("how is it?", None),
    ],
)
def test_a_few_words_that_name_a_session_are_about_it(text: str, command: str | None) -> None:
    """In direct messages; a longer question is one about the code."""
    sorter = a_sorter(web="Web", api="Web API")
    work = sorter.sort_question(QuestionAsked(event=a_message(text, by=ANN)))
    found = work.instruction.command if isinstance(work, MentionInstruction) else None
    assert (found or None) == command
