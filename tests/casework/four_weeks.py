"""Four weeks of a team whose drafts could have been sent without a human, as a data directory holds them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bot.domain.threads import Resolution, ThreadState, ThreadStatus, Transition
from bot.ports import Store
from bot.ports.collections import CLASSIFIED
from bot.ports.threads import Threads
from tests.builders import a_return, a_thread
from tests.casework.past import a_round

DRAFTS: Final = 48
AT_WORK: Final[dict[str, Any]] = {
    "start": "00:00",
    "end": "24:00",
    "timezone": "UTC",
    "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
}
"""`working_hours` that never end."""
EVERY: Final = timedelta(hours=13, minutes=30)


def live_four_weeks(
    store: Store,
    now: datetime,
    endings: Mapping[int, Resolution] | None = None,
    *,
    drafts: int = DRAFTS,
    team: str = "T1",
    channel: str = "C1",
    **changes: Any,
) -> list[ThreadState]:
    """Write drafts that qualify, a dozen a week, each approved unless `endings` says otherwise by its number."""
    threads, closed = Threads(store.documents), []
    store.journal(CLASSIFIED).append({"classified_at": now.isoformat()})
    for number in range(drafts):
        asked_at = now - (DRAFTS - number) * EVERY
        state = _ended(asked_at, (endings or {}).get(number, Resolution.APPROVED), team, channel, number, changes)
        threads.put(state)
        threads.archive(state.thread_id)
        closed.append(state)
    return closed


def _ended(
    at: datetime, resolution: Resolution, team: str, channel: str, number: int, changes: Mapping[str, Any]
) -> ThreadState:
    ts = f"{at.timestamp():.6f}"
    shown = at + timedelta(minutes=1)
    draft = a_return(confidence="high").draft_reply
    known: dict[str, Any] = {
        "thread_id": f"{team}.{channel}.{ts}",
        "team_id": team,
        "chat_id": channel,
        "original_message_id": ts,
        "question": "Where is the limit of this queue set?",
        "permalink": f"https://acme.slack.com/archives/{channel}/p{ts.replace('.', '')}",
        "question_type": "technical_qa",
        "mentions_bot": True,
        "rounds": (a_round(confidence="high"),),
        "investigator_return": a_return(confidence="high"),
        "investigator_round": 1,
        "draft_pending": draft,
        "started_at": at,
        "last_event_at": at,
        "status": ThreadStatus.CLOSED,
        "resolution": resolution,
        "dismiss_reason": "it is another limit" if resolution is Resolution.DISMISSED else None,
        "status_history": (
            Transition(at=shown, from_=ThreadStatus.AWAITING_VALIDATION, to=ThreadStatus.PENDING_USER, why="passed"),
            Transition(at=shown, from_=ThreadStatus.PENDING_USER, to=ThreadStatus.CLOSED, why="approved by <@U2>"),
        ),
        "closed_at": shown + timedelta(minutes=1),
    }
    return a_thread(**{**known, **changes})
