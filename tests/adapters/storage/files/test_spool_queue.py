"""What only the spool of files can get wrong: a start that is cut off between two steps."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.spool_queue import SpoolQueue, decode_job, encode_job
from bot.domain.heartbeats.beats import Wake
from bot.domain.jobs import (
    WORK_CLASSES,
    AlertArrived,
    AskInOps,
    ContinueThread,
    FollowUpArrived,
    Job,
    MentionInstruction,
    MessageDeleted,
    MessageEdited,
    QuestionAsked,
    RebuildThread,
    RunBeat,
    Work,
)
from bot.domain.mention_instructions import Instruction, InstructionKind
from bot.errors import StoreError
from tests.builders import THREAD_ID, an_event
from tests.fakes import FakeClock
from tests.tables import each_row


def test_a_start_that_is_cut_off_counts_a_death_once(tmp_path: Path) -> None:
    """The job could not be brought back to its place; the next start finds it as the death left it."""
    SpoolQueue(tmp_path, FakeClock()).put(ContinueThread(thread_id="T1.C1.2"))
    job = SpoolQueue(tmp_path, FakeClock()).claim()
    assert job is not None
    in_the_way = tmp_path / job.name
    in_the_way.mkdir()
    with pytest.raises(StoreError):
        SpoolQueue(tmp_path, FakeClock())
    in_the_way.rmdir()
    again = SpoolQueue(tmp_path, FakeClock()).claim()
    assert again is not None
    assert (again.deaths, again.deaths_alone) == (1, 1)


SLOT = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
EVENT = an_event("¿por qué? 🧵")
ALL: list[Work] = [
    QuestionAsked(event=EVENT, is_ack=True, is_alarm=True),
    FollowUpArrived(event=EVENT, is_ack=True),
    MessageEdited(event=EVENT),
    AlertArrived(event=EVENT),
    AskInOps(mark="triage_asked:1", question="Why?", by="U1", at=EVENT.create_time, codebases=("shop",)),
    MessageDeleted(event=EVENT),
    MentionInstruction(event=EVENT, instruction=Instruction(kind=InstructionKind.COMMAND, command="tiers shop")),
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


def test_a_job_that_says_whether_it_settles_the_matter_is_read() -> None:
    """An earlier release wrote that; the message is a follow-up as any other."""
    document = encode_job(job_of(FollowUpArrived(event=EVENT, is_ack=True)))
    document["payload"]["settles"] = True
    work = decode_job(json.loads(json.dumps(document))).work
    assert isinstance(work, FollowUpArrived)
    assert (work.event, work.is_ack) == (EVENT, True)


def test_a_thread_to_go_on_with_is_read_in_the_form_before_the_first_release() -> None:
    """The data directory in tests/data holds one."""
    assert decode_job(old({"investigate": THREAD_ID})).work == ContinueThread(thread_id=THREAD_ID)


def test_an_order_of_an_earlier_release_is_read_as_a_question() -> None:
    """With all that was said of the message; what it wanted changed is left aside."""
    request = {"verb": "add", "task": "Look", "tier": "daily", "names": ["shop"]}
    asked = {"event": EVENT.model_dump(mode="json"), "is_ack": False, "settles": False, "is_alarm": True}
    work = decode_job(old({"class": "playbook-requested", **asked, "question": None, "request": request})).work
    assert type(work) is QuestionAsked
    assert (work.event, work.is_alarm) == (EVENT, True)
    again = decode_job(json.loads(json.dumps(encode_job(job_of(work))))).work
    assert (type(again), again.key) == (QuestionAsked, work.key)


@each_row(
    "document",
    [
        None,
        [],
        {},
        old({}),
        old({"class": "no-such-class"}),
        old({"event": EVENT.model_dump(mode="json"), "opens": True}),
        old({"class": "run-beat", "session_id": "shop", "slot": "soon"}),
    ],
)
def test_what_is_no_job_of_any_version_is_refused(document: object) -> None:
    """The queue sets its file aside."""
    with pytest.raises(ValueError, match=r"no job|no work|validation error"):
        decode_job(document)
