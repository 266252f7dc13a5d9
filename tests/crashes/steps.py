"""The steps of a thread's life at which the bot is killed, in the order in which they happen.

Each says what the death must have left behind: a kill that came too early or too late fails its test. Patterns match
operations of the ports (tests/crashes/operations.py) and calls of Slack (tests/crashes/outside.py), so the steps are
the same over any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import pytest

from demo.workspace import ANA, HELP, OPS
from tests.crashes.moments import Moment, after, before


class Named(Protocol):
    """A step of any suite."""

    @property
    def name(self) -> str:
        """What its test is called by."""
        ...


One = TypeVar("One", bound=Named)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One place to die.

    `withheld` is a call that Slack carries out and never answers; `then` is where the next start dies as well.
    """

    name: str
    kill: Moment | None = None
    withheld: str | None = None
    then: Moment | None = None
    decision: str = "approve"
    is_between: bool = False
    """Whether a shared store has no such moment: it takes a message in at once, and returns a claim only later."""
    left: dict[str, Any] = field(default_factory=dict)
    left_then: dict[str, Any] = field(default_factory=dict)
    """What the second death, that of `then`, must have left behind."""


def met(steps: Sequence[One], *sample: str, engine: str = "files") -> list[Any]:
    """Return an engine with each step, as parameters; those that are no sample are for `make test-full`."""
    return [
        pytest.param(engine, one, id=f"{engine}-{one.name}", marks=() if one.name in sample else pytest.mark.full)
        for one in steps
    ]


SAVED: Final = r"put threads \S+ .*"
JOURNAL, SORTED, LOGGED = "append events ", "append events-classified ", "append replies "
ENQUEUED, CLAIMED, DONE = "enqueue user ", "claim user ", "done user "
QUEUE_OPENED: Final = "jobs"
OPENED: Final = SAVED + r'"card_ts": null'
CARD_SAVED: Final = SAVED + r'"card_ts": "'
ROUND_SAVED, DRAFT_SAVED = SAVED + '"status": "awaiting-validation"', SAVED + '"status": "pending-user"'
RUN_ENDED: Final = r"publish runs/\S+-r1"
CARD_POSTED: Final = rf"post {OPS.channel_id} .*triage_card:"
DRAFT_SHOWN: Final = r"update .*triage_approve"
SETTLED_CARD: Final = r"update (?!.*triage_approve)(?!.*hourglass)"
CLICKED: Final = f'person - .*"{ANA.user_id}"'
INTENT: Final = SAVED + r'"post_intent": \{.*"posted_message_id": null'
POSTED: Final = f"post {HELP.channel_id} "
CLOSED: Final = SAVED + r'"status": "closed"'
ARCHIVED: Final = "archive threads "
TOLD: Final = "tell "
REACTED, UNREACTED = "react ", "unreact "
EDITED: Final = SAVED + r'"draft_version": 2'

STEPS: Final = (
    Step(name="before the question is journaled", kill=before(JOURNAL), left={"events": 0, "jobs": 0}),
    Step(name="question journaled", is_between=True, kill=after(JOURNAL), left={"events": 1, "jobs": 0}),
    Step(name="before the job", is_between=True, kill=before(ENQUEUED), left={"events": 1, "jobs": 0, "classified": 0}),
    Step(name="job queued, not sorted", is_between=True, kill=after(ENQUEUED), left={"jobs": 1, "classified": 0}),
    Step(name="before the sorted record", is_between=True, kill=before(SORTED), left={"jobs": 1, "classified": 0}),
    Step(name="after the sorted record", kill=after(SORTED), left={"jobs": 1, "classified": 1}),
    Step(name="before the job is claimed", kill=before(CLAIMED), left={"waiting": 1, "running": 0}),
    Step(name="job claimed", kill=after(CLAIMED), left={"running": 1, "status": None}),
    Step(name="before the state is opened", kill=before(OPENED), left={"running": 1, "status": None}),
    Step(name="state opened", kill=after(OPENED), left={"status": "investigating", "cards": 0}),
    Step(name="card posted, not answered", withheld=CARD_POSTED, left={"cards": 1, "card_known": False}),
    Step(name="card posted, ts not saved", kill=before(CARD_SAVED), left={"cards": 1, "card_known": False}),
    Step(name="card's ts saved", kill=after(CARD_SAVED), left={"cards": 1, "card_known": True}),
    Step(name="before the first reaction", kill=before(REACTED), left={"status": "investigating", "reactions": []}),
    Step(name="reaction set, not answered", withheld=REACTED, left={"status": "investigating", "reactions": ["eyes"]}),
    Step(name="mid-investigation", kill=before(RUN_ENDED), left={"status": "investigating", "rounds": 0}),
    Step(name="before the round is saved", kill=before(ROUND_SAVED), left={"status": "investigating", "rounds": 0}),
    Step(name="round saved", kill=after(ROUND_SAVED), left={"status": "awaiting-validation", "rounds": 1}),
    Step(name="before the verdict is saved", kill=before(DRAFT_SAVED), left={"status": "awaiting-validation"}),
    Step(name="verdict saved", kill=after(DRAFT_SAVED), left={"status": "pending-user", "offered": False}),
    Step(name="draft shown, not answered", withheld=DRAFT_SHOWN, left={"offered": True, "running": 1}),
    Step(name="before the job is removed", kill=before(DONE), left={"offered": True, "running": 1}),
    Step(name="job removed", kill=after(DONE), decision="none", left={"offered": True, "jobs": 0}),
    Step(name="click received", kill=before(CLICKED), left={"intent": False, "replies": 0}),
    Step(name="before the intent", kill=before(INTENT), left={"intent": False, "replies": 0}),
    Step(name="intent saved", kill=after(INTENT), left={"intent": True, "replies": 0}),
    Step(name="before the post", kill=before(POSTED), left={"intent": True, "replies": 0}),
    Step(name="posted, not answered", withheld=POSTED, left={"intent": True, "replies": 1, "posted_known": False}),
    Step(name="before the reply log", kill=before(LOGGED), left={"replies": 1, "posted_known": False, "logged": 0}),
    Step(name="reply logged", kill=after(LOGGED), left={"logged": 1, "status": "pending-user"}),
    Step(name="before it is closed", kill=before(CLOSED), left={"logged": 1, "status": "pending-user"}),
    Step(name="closed", kill=after(CLOSED), left={"status": "closed", "archived": 0, "offered": True}),
    Step(name="last card, not answered", withheld=SETTLED_CARD, left={"status": "closed", "offered": False}),
    Step(name="before the archive", kill=before(ARCHIVED), left={"status": "closed", "archived": 0}),
    Step(name="archived", kill=after(ARCHIVED), left={"status": None, "archived": 1}),
    Step(name="before the answer to the click", kill=before(TOLD), left={"archived": 1, "replies": 1}),
    Step(name="dismissal saved, card not", decision="dismiss", kill=after(CLOSED), left={"status": "closed"}),
    Step(name="dismissed, card not answered", decision="dismiss", withheld=SETTLED_CARD, left={"offered": False}),
    Step(name="dismissed, before the archive", decision="dismiss", kill=before(ARCHIVED), left={"archived": 0}),
    Step(name="dismissed, reaction stands", decision="dismiss", kill=before(UNREACTED), left={"reactions": ["eyes"]}),
    Step(name="reaction removed, not answered", decision="dismiss", withheld=UNREACTED, left={"reactions": []}),
    Step(name="answered, first reaction stands", kill=before(UNREACTED), left={"replies": 1}),
    Step(
        name="edit saved, before the intent", decision="edit", kill=after(EDITED), left={"intent": False, "version": 2}
    ),
    Step(name="edit posted, not answered", decision="edit", withheld=POSTED, left={"intent": True, "replies": 1}),
    Step(name="edit posted, not logged", decision="edit", kill=before(LOGGED), left={"replies": 1, "logged": 0}),
    Step(
        name="recovery: queue opened",
        kill=before(CARD_SAVED),
        left={"cards": 1, "running": 1},
        then=after(QUEUE_OPENED),
        left_then={"jobs": 1, "cards": 1, "card_known": False},
    ),
    Step(
        name="recovery: claim returned",
        is_between=True,
        kill=before(CARD_SAVED),
        left={"cards": 1, "running": 1},
        then=after(QUEUE_OPENED),
        left_then={"waiting": 1, "running": 0, "card_known": False},
    ),
    Step(
        name="recovery: card adopted",
        kill=before(CARD_SAVED),
        left={"cards": 1, "card_known": False},
        then=after(CARD_SAVED),
        left_then={"cards": 1, "card_known": True},
    ),
    Step(
        name="recovery: before the post",
        kill=after(INTENT),
        left={"intent": True, "replies": 0},
        then=before(POSTED),
        left_then={"intent": True, "replies": 0, "posted_known": False},
    ),
    Step(
        name="recovery: posted, not logged",
        kill=after(INTENT),
        left={"intent": True, "replies": 0},
        then=before(LOGGED),
        left_then={"intent": True, "replies": 1, "logged": 0},
    ),
    Step(
        name="recovery: found, not logged",
        kill=before(LOGGED),
        left={"replies": 1, "logged": 0},
        then=before(LOGGED),
        left_then={"replies": 1, "logged": 0, "status": "pending-user"},
    ),
    Step(
        name="recovery: found in the log",
        kill=after(LOGGED),
        left={"replies": 1, "logged": 1},
        then=before(CLOSED),
        left_then={"replies": 1, "logged": 1, "status": "pending-user"},
    ),
    Step(
        name="recovery: before the archive",
        kill=after(CLOSED),
        left={"status": "closed", "offered": True},
        then=before(ARCHIVED),
        left_then={"status": "closed", "offered": False, "archived": 0},
    ),
    Step(
        name="recovery: question queued again",
        is_between=True,
        kill=after(JOURNAL),
        left={"events": 1, "jobs": 0},
        then=after(ENQUEUED),
        left_then={"events": 1, "jobs": 1},
    ),
)
