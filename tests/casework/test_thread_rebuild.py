"""A record that cannot be read costs no question, no second card and no second reply."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.events import MessageType
from bot.domain.threads import ThreadStatus, hash_draft, reply_mark
from bot.ports import ChatMessage, DamagedDocument
from tests.builders import QUESTION_TS, THREAD_ID, an_event
from tests.casework.office import BEN, Office


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """An office with a draft that waits."""
    return Office(tmp_path).asked()


def lose(office: Office, *, is_new: bool = True, name: str = THREAD_ID) -> str | None:
    """Let the state file be found unreadable at a start; returns the line said at once, if any."""
    office.store.memory.texts.pop(("threads", name), None)
    office.lost.add(name)
    office.restart()
    damage = DamagedDocument(doc_id=name, name=f"{name}.json.corrupt", at=office.clock.now(), is_new=is_new)
    line = office.rebuilding.plan(damage)
    office.work()
    return line


def test_a_lost_thread_is_investigated_again_on_its_card(office: Office) -> None:
    """The question comes from the journal, the card stays, and the ops channel is told once."""
    lose(office)
    assert office.state.question == "How often do we retry?"
    assert office.state.status is ThreadStatus.PENDING_USER
    assert len(office.messenger.cards) == 1
    assert len(office.investigator.assignments) == 2
    [said] = office.messenger.told
    assert f"{THREAD_ID}.json.corrupt" in said
    assert "rebuilt" in said
    office.decisions.approve(office.click(), by=BEN)
    assert len(office.messenger.posts) == 1


def test_a_thread_whose_record_is_gone_is_investigated_again(office: Office) -> None:
    """What is kept beside it names it; one that stands, waits for its rebuilding or ended is left alone."""
    office.rebuilding.plan_missing(THREAD_ID)
    assert not office.jobs.holds(THREAD_ID)
    office.store.memory.texts.pop(("threads", THREAD_ID))
    office.restart()
    for _ in range(2):
        office.rebuilding.plan_missing(THREAD_ID)
    office.work()
    [said] = office.messenger.told
    assert said.startswith(f"The record of thread {THREAD_ID} is gone. It was rebuilt")
    assert (len(office.messenger.cards), len(office.investigator.assignments)) == (1, 2)
    office.decisions.approve(office.click(), by=BEN)
    office.rebuilding.plan_missing(THREAD_ID)
    assert not office.jobs.holds(THREAD_ID)


def test_a_question_is_rebuilt_as_it_was_edited(office: Office) -> None:
    """The last words count, and a remark before the question is not taken for it."""
    office.events.append(an_event("How often, and why?", msg_type=MessageType.EDIT).model_dump(mode="json"))
    office.events.lines.insert(0, "half a li")
    office.workspace.edit("C1", QUESTION_TS, QUESTION_TS, "How often, and why?")
    lose(office)
    assert office.state.question == "How often, and why?"


def test_an_answered_thread_is_not_opened_again(office: Office) -> None:
    """The reply's record is enough; its archive may be lost as well."""
    office.decisions.approve(office.click(), by=BEN)
    office.store.memory.closed.clear()
    lose(office)
    assert office.store.memory.texts == {}
    assert "had been posted" in office.messenger.told[-1]
    assert len(office.messenger.posts) == 1


def test_a_reply_that_stands_but_was_not_logged_is_not_repeated(office: Office) -> None:
    """The crash came between the post and its record, and took the record of the thread along: it is logged now."""
    mark = f"{reply_mark(office.state)}:{hash_draft('5')}"
    said = ChatMessage(message_id="1795165300.000100", sender_id="U0BOT", text="5", is_bot=True, reply_mark=mark)
    office.workspace.say("C1", QUESTION_TS, said)
    lose(office)
    assert office.ended.posted_message_id == "1795165300.000100"
    assert [line["reply_text"] for line in office.log.records()] == ["5"]
    assert (office.messenger.posts, len(office.investigator.assignments)) == ([], 1)


def test_a_reply_to_an_earlier_question_of_the_thread_is_no_obstacle(office: Office) -> None:
    """Answered once, asked again, then lost: the second question is rebuilt."""
    office.decisions.approve(office.click(), by=BEN)
    [post] = office.messenger.posts
    office.workspace.say("C1", QUESTION_TS, ChatMessage(message_id=post.ts, sender_id="U0BOT", text=post.text))
    office.says("and why five?", seconds=60)
    lose(office)
    assert office.state.question == "and why five?"
    assert len(office.messenger.cards) == 2


@pytest.mark.parametrize("how", ["told", "untold"])
def test_a_question_that_is_gone_is_not_rebuilt(office: Office, how: str) -> None:
    """Deleted before our eyes or behind our back."""
    office.workspace.delete("C1", QUESTION_TS, QUESTION_TS)
    if how == "told":
        office.events.append(an_event(msg_type=MessageType.DELETE).model_dump(mode="json"))
    lose(office)
    assert office.store.memory.texts == {}
    assert len(office.investigator.assignments) == 1
    assert len(office.messenger.told) == 1
    lose(office, is_new=False)
    assert len(office.messenger.told) == (2 if how == "told" else 1)


def test_a_question_that_is_not_on_file_is_asked_for(office: Office) -> None:
    """The journal was cleaned away: only a human can help."""
    office.events.lines.clear()
    lose(office)
    assert "please ask it again" in office.messenger.told[-1]


@pytest.mark.parametrize(
    "since",
    [
        lambda office: None,
        lambda office: office.decisions.approve(office.click(), by=BEN),
        lambda office: office.decisions.dismiss(office.click(), by=BEN, reason=None),
    ],
    ids=["open", "answered", "dismissed"],
)
def test_a_file_of_an_earlier_start_is_rebuilt_once(office: Office, since: Callable[[Office], object]) -> None:
    """The file stays for a human to look at; its thread went on, so every later start passes it over."""
    lose(office)
    office.clock.advance(60)
    since(office)
    told = list(office.messenger.told)
    damage = DamagedDocument(
        doc_id=THREAD_ID, name="x.corrupt", at=office.clock.now() - timedelta(hours=1), is_new=False
    )
    office.rebuilding.plan(damage)
    assert office.jobs.waiting == {}
    assert office.messenger.told == told


def test_a_file_set_aside_just_before_a_crash_is_not_forgotten(office: Office) -> None:
    """Nothing is known of its thread since, so the next start takes it up."""
    lose(office, is_new=False)
    assert office.state.question == "How often do we retry?"
