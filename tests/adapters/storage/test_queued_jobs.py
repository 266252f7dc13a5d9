"""Jobs on disk: written by class and read back equal; what earlier versions wrote is read, too."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.adapters.storage.queued_jobs import decode_job, encode_job
from bot.domain.commands.mention_instructions import Instruction, InstructionKind
from bot.domain.heartbeats.beats import Wake
from bot.domain.jobs import (
    WORK_CLASSES,
    ContinueThread,
    FollowUpArrived,
    Job,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    PlaybookRequested,
    QuestionAsked,
    RebuildThread,
    RunBeat,
    UnsortedQuestion,
    Work,
)
from bot.domain.playbooks.playbook_requests import PlaybookRequest, RequestVerb
from bot.domain.tiers import Tier
from tests.builders import THREAD_ID, an_event

SLOT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
EVENT = an_event("¿por qué? 🧵")
ALL: list[Work] = [
    QuestionAsked(event=EVENT, is_ack=True, is_alarm=True, settles=True),
    FollowUpArrived(event=EVENT, is_ack=True),
    MessageEdited(event=EVENT),
    MessageDeleted(event=EVENT),
    MentionInstruction(event=EVENT, instruction=Instruction(kind=InstructionKind.COMMAND, command="tiers shop")),
    PlaybookRequested(
        event=EVENT, request=PlaybookRequest(verb=RequestVerb.ADD, task="Look", tier=Tier.DAILY, names=("shop",))
    ),
    UnsortedQuestion(event=EVENT),
    ContinueThread(thread_id=THREAD_ID),
    RebuildThread(thread_id=THREAD_ID, file="x.corrupt", is_new=False),
    RunBeat(session_id="shop", slot=SLOT, wake=Wake.INTERVAL),
]


def job_of(work: Work) -> Job:
    return Job(kind=work.kind, job_id=work.job_id or "000001", epoch_ms=5, key=work.key, work=work, failures=("x",))


def old(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what the version of 2026-11-22 wrote for a payload."""
    return {
        "kind": "user", "job_id": "000001", "epoch_ms": 5, "key": THREAD_ID, "payload": payload,
        "attempts": 0, "failures": [], "deaths": 0, "deaths_alone": 0,
    }  # fmt: skip


def test_every_class_is_read_back_equal() -> None:
    """None is left out."""
    assert {type(work) for work in ALL} == set(WORK_CLASSES.values())
    for work in ALL:
        job = job_of(work)
        assert decode_job(json.loads(json.dumps(encode_job(job)))) == job


@pytest.mark.parametrize(
    ("payload", "work"),
    [
        (
            {"opens": True, "is_ack": False, "is_alarm": True, "settles": False},
            UnsortedQuestion(event=EVENT, is_alarm=True),
        ),
        ({}, UnsortedQuestion(event=EVENT)),
        (
            {"opens": False, "is_ack": True, "is_alarm": False, "settles": True},
            FollowUpArrived(event=EVENT, is_ack=True, settles=True),
        ),
    ],
)
def test_a_message_of_an_earlier_version_is_read(payload: dict[str, Any], work: Work) -> None:
    """What deserved a thread was not told apart any further; it is sorted when it is done."""
    assert decode_job(old({"event": EVENT.model_dump(mode="json"), **payload})).work == work


@pytest.mark.parametrize(("msg_type", "work"), [("edit", MessageEdited), ("delete", MessageDeleted)])
def test_a_change_of_an_earlier_version_is_read(msg_type: str, work: type[Work]) -> None:
    """It opened nothing then, either."""
    event = an_event("new words", msg_type=msg_type)
    document = old({"event": event.model_dump(mode="json"), "opens": False, "is_ack": False, "settles": False})
    found = decode_job(document).work
    assert type(found) is work
    assert found.model_dump()["event"] == event.model_dump()


@pytest.mark.parametrize(
    ("payload", "work"),
    [
        ({"investigate": THREAD_ID}, ContinueThread(thread_id=THREAD_ID)),
        ({"rebuild": THREAD_ID, "file": "x.corrupt"}, RebuildThread(thread_id=THREAD_ID, file="x.corrupt")),
        (
            {"rebuild": THREAD_ID, "file": "x.corrupt", "is_new": False},
            RebuildThread(thread_id=THREAD_ID, file="x.corrupt", is_new=False),
        ),
        (
            {"beat": "shop", "slot": SLOT.isoformat(), "wake": "automation"},
            RunBeat(session_id="shop", slot=SLOT, wake=Wake.AUTOMATION),
        ),
        ({"beat": "shop", "slot": SLOT.isoformat()}, RunBeat(session_id="shop", slot=SLOT, wake=Wake.INTERVAL)),
        ({"beat": "shop", "slot": None}, RunBeat(session_id="shop", wake=Wake.ON_DEMAND)),
    ],
)
def test_other_work_of_an_earlier_version_is_read(payload: dict[str, Any], work: Work) -> None:
    """Threads to go on with, records to rebuild and beats, with the wake that an even older one did not write."""
    assert decode_job(old(payload)).work == work


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        old({}),
        old({"class": "no-such-class"}),
        old({"event": {"text": "no event"}}),
        old({"beat": "shop", "slot": "soon"}),
    ],
)
def test_what_is_no_job_of_any_version_is_refused(document: object) -> None:
    """The queue sets its file aside."""
    with pytest.raises(ValueError, match=r"no job|no work|validation error"):
        decode_job(document)
