"""Past messages as the rules hear them, and what people made of the bot's own drafts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.adapters.storage.files.file_engine import FileStore
from bot.casework.past_threads import OwnRecord, hear, likely_bot_id, own_history, questions_in
from bot.domain.events import MessageType, Sender
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from bot.intake.classifier.classification import Rules
from bot.ports.collections import REPLIES
from bot.ports.threads import Threads
from tests.builders import NOW, an_event, in_status

ASKED = "1795165200.000100"


def test_the_first_question_of_a_thread_opens_it() -> None:
    """What stood before it is its context; what people wrote behind it are answers; edits and bots are left out."""
    said = [
        an_event("deploying", ts=ASKED),
        an_event("How often do we retry?", ts="1795165201.000100", thread_id=ASKED),
        an_event("and why?", ts="1795165202.000100", thread_id=ASKED),
        an_event("in retry.py", ts="1795165203.000100", thread_id=ASKED, sender=Sender(id="U2")),
        an_event("why not?", ts="1795165204.000100", sender=Sender(id="B1", type="bot")),
        an_event("How often?", ts="1795165205.000100", msg_type=MessageType.EDIT),
    ]
    heard = hear(said, Rules())
    assert [one.is_question for one in heard] == [False, True, False, False]
    (found,) = questions_in(heard)
    assert [one.content for one in found.earlier] == ["deploying"]
    assert [one.content for one in found.answers] == ["and why?", "in retry.py"]
    assert questions_in(heard, since=found.event.create_time + timedelta(seconds=1)) == []


def test_a_mention_that_asks_nothing_is_the_question_of_its_thread() -> None:
    """As in the live bot: the thread's first message or the last that asks; beside no thread the message above."""
    rules = Rules(bot_id="UBOT")
    mention, other = {"mentions": ("UBOT",), "is_bot_mention": True}, "1795165300.000100"
    said = [
        an_event("the retries stop after three.", ts=ASKED),
        an_event("<@UBOT>", ts="1795165201.000100", thread_id=ASKED, **mention),
        an_event("in retry.py", ts="1795165202.000100", thread_id=ASKED),
        an_event("deploys are slow", ts=other),
        an_event("<@UBOT> can you look into this?", ts="1795165301.000100", **mention),
        an_event("<@UBOT>", ts="1795165302.000100", thread_id=other, **mention),
        an_event("ci/deploy.yml", ts="1795165303.000100", thread_id=other),
    ]
    heard = hear(said, rules)
    assert [one.classification for one in heard if one.is_question] == ["actionable"] * 2
    first, above = questions_in(heard)
    assert (first.event.content, first.event.message_id) == ("the retries stop after three.", "1795165201.000100")
    assert ([one.content for one in first.earlier], [one.content for one in first.answers]) == ([], ["in retry.py"])
    assert (above.event.content, above.answers[-1].content) == ("deploys are slow", "ci/deploy.yml")
    assert [one.is_question for one in hear(said[1:2], rules)] == [False]


def test_the_bot_is_whom_recorded_mentions_name_most() -> None:
    """An export of the journal alone does not say who it was."""
    records = [{"is_bot_mention": True, "mentions": ["UBOT", "UANA"]}, {"is_bot_mention": True, "mentions": ["UBOT"]}]
    assert likely_bot_id([*records, {"mentions": ["UANA"] * 3}, {"is_bot_mention": True}]) == "UBOT"
    assert likely_bot_id([]) is None


def test_what_people_decided_on_the_bot_s_own_drafts_is_read(tmp_path: Path) -> None:
    """Approved, edited and how much, dismissed and why; an open thread is not decided."""
    store = FileStore(tmp_path)
    threads = Threads(store.documents)
    for number, resolution in enumerate([Resolution.EDITED, Resolution.DISMISSED, None]):
        open_ = in_status(ThreadStatus.PENDING_USER, PendingReason.APPROVAL, thread_id=f"T1.C1.{number}.1")
        reason = "wrong file" if resolution is Resolution.DISMISSED else None
        threads.put(open_.close(resolution, at=NOW, why="a click", dismiss_reason=reason) if resolution else open_)
    ref = {"kind": "file", "ref": "app/retry.py:1-2", "quote": "x"}
    reply = {
        "thread_id": "T1.C1.0.1",
        "draft_text": "It is 5 now.",
        "reply_text": "It is 6 now.",
        "evidence_refs": [ref],
    }
    store.journal(REPLIES).append(reply)
    found = own_history(store, {f"T1.C1.{number}.1" for number in range(3)})
    assert found["T1.C1.1.1"] == OwnRecord("dismissed", 0.0, "wrong file")
    edited = found["T1.C1.0.1"]
    assert (edited.resolution, edited.changed, [one.ref for one in edited.refs]) == (
        "edited",
        0.25,
        ["app/retry.py:1-2"],
    )
    assert len(found) == 2
