"""Jobs as JSON: the class of the work by name, and what earlier versions wrote.

A version before November 2026 wrote `{"event": …, "opens": …}`, `{"investigate": …}`, `{"rebuild": …}` and
`{"beat": …}` without a class; such jobs may still wait when this one starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.domain.events import Event, MessageType
from bot.domain.heartbeats.beats import Wake
from bot.domain.jobs import (
    WORK_CLASSES,
    ContinueThread,
    FollowUpArrived,
    Job,
    MessageDeleted,
    MessageEdited,
    RebuildThread,
    RunBeat,
    UnsortedQuestion,
    Work,
)

_NAMES: Final = {work: name for name, work in WORK_CLASSES.items()}


def encode_job(job: Job) -> dict[str, Any]:
    """Return what is written to disk for a job."""
    payload = {"class": _NAMES[type(job.work)], **job.work.model_dump(mode="json")}
    return {**job.model_dump(mode="json", exclude={"work"}), "payload": payload}


def decode_job(document: Any) -> Job:
    """Return the job that a file holds, whichever version wrote it; raises ValueError for anything else."""
    fields = dict(document) if isinstance(document, Mapping) else {}
    work = _decode_work(fields.pop("payload", None))
    return Job.model_validate({**fields, "work": work})


def _decode_work(payload: Any) -> Work:
    match payload:
        case {"class": name, **fields} if name in WORK_CLASSES:
            return WORK_CLASSES[name].model_validate(fields)
        case {"event": event}:
            return _decode_old_message(Event.model_validate(event), payload)
        case {"investigate": thread_id}:
            return ContinueThread(thread_id=thread_id)
        case {"rebuild": thread_id, "file": file}:
            return RebuildThread(thread_id=thread_id, file=file, is_new=payload.get("is_new", True))
        case {"beat": session_id}:
            slot = payload.get("slot")
            wake = payload.get("wake") or (Wake.INTERVAL if slot else Wake.ON_DEMAND)
            return RunBeat(session_id=session_id, slot=slot, wake=wake)
    raise ValueError("no work of any version")


def _decode_old_message(event: Event, payload: Mapping[str, Any]) -> Work:
    if event.msg_type is MessageType.EDIT:
        return MessageEdited(event=event)
    if event.msg_type is MessageType.DELETE:
        return MessageDeleted(event=event)
    is_ack, settles = payload.get("is_ack", False), payload.get("settles", False)
    if not payload.get("opens", True):
        return FollowUpArrived(event=event, is_ack=is_ack, settles=settles)
    return UnsortedQuestion(event=event, is_ack=is_ack, settles=settles, is_alarm=payload.get("is_alarm", False))
