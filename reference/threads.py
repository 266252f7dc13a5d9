"""The diagram of a thread's life, printed from the transition table."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.threads import TRANSITIONS, PendingReason, Resolution, ThreadStatus


def threads_part() -> str:
    """Return a Mermaid state diagram; on a step to pending-user stand the reasons it may have."""
    return "\n".join(["```mermaid", "stateDiagram-v2", *(f"    {line}" for line in _lines()), "```", "", _ends()])


def _lines() -> Iterator[str]:
    for status in ThreadStatus:
        yield f'state "{status}" as {_id(status)}'
    yield f"[*] --> {_id(next(iter(ThreadStatus)))}"
    for status, steps in TRANSITIONS.items():
        for to, reasons in steps.items():
            named = [reason for reason in PendingReason if reason in reasons]
            yield f"{_id(status)} --> {_id(to)}" + (f": {', '.join(named)}" if named else "")
        if not steps:
            yield f"{_id(status)} --> [*]"


def _ends() -> str:
    return f"A closed thread says how it ended: {', '.join(f'`{resolution}`' for resolution in Resolution)}."


def _id(status: ThreadStatus) -> str:
    """Return a name that Mermaid takes: a dash would end it."""
    return status.replace("-", "_")
