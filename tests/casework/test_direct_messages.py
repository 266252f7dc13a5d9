"""Questions that somebody writes to the bot alone: where the draft stands, who is told what, where the reply goes."""

from __future__ import annotations

from pathlib import Path

from bot.domain.events import Event
from bot.domain.jobs import MentionInstruction, QuestionAsked
from bot.domain.threads import Resolution, ThreadState, ThreadStatus
from tests.builders import a_return, a_sorter, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Faults
from tests.tables import each_row

DM, THREAD = "D0BEN", "T1.D0BEN.1795165200.000100"


def a_message(text: str, *, by: str) -> Event:
    """Return a message in somebody's direct messages, as the watcher makes it."""
    return an_event(text, chat_id=DM, sender={"id": by}, mentions=("U0BOT",))


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
    assert list(office.direct_chat.told) == [THREAD]
    assert "approvers" in office.direct_chat.told[THREAD]


def test_wherever_the_process_dies_there_is_one_card_and_one_line(tmp_path: Path) -> None:
    """Also between the two."""
    for where, office in crash_everywhere(lambda faults: Office(tmp_path, faults=faults), _ask):
        office.restart()
        if office.store.get(THREAD) is None:
            assert where == "queue: before a job", where
            continue
        assert len(office.messenger.cards) == 1, where
        assert list(office.direct_chat.told) == [THREAD], where


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
