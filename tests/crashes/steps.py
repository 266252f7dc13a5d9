"""The steps of a thread's life at which the bot is killed, in the order in which they happen.

Each says what the death must have left behind: a kill that came too early or too late fails its test. Patterns match
the descriptions of tests/crashes/victim.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

import pytest

from demo.workspace import HELP, OPS
from tests.crashes.victim import Moment


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
    left: dict[str, Any] = field(default_factory=dict)


def met(steps: Sequence[One], *sample: str, engine: str = "files") -> list[Any]:
    """Return an engine with each step, as parameters; those that are no sample are for `make test-full`."""
    return [
        pytest.param(engine, one, id=f"{engine}-{one.name}", marks=() if one.name in sample else pytest.mark.full)
        for one in steps
    ]


def before(pattern: str, nth: int = 1) -> Moment:
    """Return the moment just before an effect."""
    return Moment(pattern=pattern, nth=nth)


def after(pattern: str, nth: int = 1) -> Moment:
    """Return the moment just after an effect."""
    return Moment(pattern=pattern, nth=nth, after=True)


SAVED: Final = r"rename state/\S+ -> state/\S+\n.*"
JOURNAL, SORTED, LOGGED = "append events.ndjson", "append events-classified.ndjson", "append replies.ndjson"
ENQUEUED: Final = r"rename queue/\.tmp-\S+ -> queue/user_\S+\n.*\"attempts\": 0"
ATTEMPT: Final = r"rename queue/\.tmp-\S+ -> queue/user_\S+\n.*\"attempts\": [1-9]"
CLAIMED, JOB_GONE = r"rename queue/user_\S+ -> queue/running/", r"remove queue/running/"
OPENED: Final = SAVED + r'"card_ts": null'
CARD_SAVED: Final = SAVED + r'"card_ts": "'
ROUND_SAVED, DRAFT_SAVED = SAVED + '"status": "awaiting-validation"', SAVED + '"status": "pending-user"'
TRACED: Final = r"write runs/\S+-r1/trace.json"
CARD_POSTED: Final = rf'call chat.postMessage \{{"channel": "{OPS.channel_id}".*triage_card:'
CARD_UPDATED: Final = r"call chat.update "
DRAFT_SHOWN: Final = r"call chat.update .*triage_approve"
SETTLED_CARD: Final = r"call chat.update (?!.*triage_approve)(?!.*hourglass)"
CLICKED: Final = "call conversations.members "
INTENT: Final = SAVED + r'"post_intent": \{.*"posted_message_id": null'
POSTED: Final = rf'call chat.postMessage \{{"channel": "{HELP.channel_id}"'
POSTED_SAVED: Final = SAVED + r'"status": "pending-user".*"posted_message_id": "'
CLOSED: Final = SAVED + r'"status": "closed"'
ARCHIVED, STATE_GONE = r"rename state/\S+ -> closed/", r"remove state/"
TOLD: Final = "call chat.postEphemeral "
REACTED, UNREACTED = "call reactions.add ", "call reactions.remove "
EDITED: Final = SAVED + r'"draft_version": 2'

STEPS: Final = (
    Step(name="before the question is journaled", kill=before(JOURNAL), left={"events": 0, "jobs": 0}),
    Step(name="question journaled", kill=after(JOURNAL), left={"events": 1, "jobs": 0, "status": None}),
    Step(name="before the job", kill=before(ENQUEUED), left={"events": 1, "jobs": 0, "classified": 0}),
    Step(name="job queued, record not sorted", kill=after(ENQUEUED), left={"jobs": 1, "classified": 0}),
    Step(name="before the sorted record", kill=before(SORTED), left={"jobs": 1, "classified": 0}),
    Step(name="after the sorted record", kill=after(SORTED), left={"jobs": 1, "classified": 1}),
    Step(name="attempt counted, not claimed", kill=after(ATTEMPT), left={"waiting": 1, "status": None}),
    Step(name="job claimed", kill=after(CLAIMED), left={"running": 1, "status": None}),
    Step(name="before the state is opened", kill=before(OPENED), left={"running": 1, "status": None}),
    Step(name="state opened", kill=after(OPENED), left={"status": "investigating", "cards": 0}),
    Step(name="card posted, not answered", withheld=CARD_POSTED, left={"cards": 1, "card_known": False}),
    Step(name="card posted, ts not saved", kill=before(CARD_SAVED), left={"cards": 1, "card_known": False}),
    Step(name="card's ts saved", kill=after(CARD_SAVED), left={"cards": 1, "card_known": True}),
    Step(name="before the first reaction", kill=before(REACTED), left={"status": "investigating", "reactions": []}),
    Step(name="reaction set, not answered", withheld=REACTED, left={"status": "investigating", "reactions": ["eyes"]}),
    Step(name="mid-investigation", kill=before(TRACED), left={"status": "investigating", "rounds": 0}),
    Step(name="before the round is saved", kill=before(ROUND_SAVED), left={"status": "investigating", "rounds": 0}),
    Step(name="round saved", kill=after(ROUND_SAVED), left={"status": "awaiting-validation", "rounds": 1}),
    Step(name="before the verdict is saved", kill=before(DRAFT_SAVED), left={"status": "awaiting-validation"}),
    Step(name="verdict saved", kill=after(DRAFT_SAVED), left={"status": "pending-user", "offered": False}),
    Step(name="draft shown, not answered", withheld=DRAFT_SHOWN, left={"offered": True, "running": 1}),
    Step(name="before the job is removed", kill=before(JOB_GONE), left={"offered": True, "running": 1}),
    Step(name="job removed", kill=after(JOB_GONE), decision="none", left={"offered": True, "jobs": 0}),
    Step(name="click received", kill=before(CLICKED, nth=2), left={"intent": False, "replies": 0}),
    Step(name="before the intent", kill=before(INTENT), left={"intent": False, "replies": 0}),
    Step(name="intent saved", kill=after(INTENT), left={"intent": True, "replies": 0}),
    Step(name="before the post", kill=before(POSTED), left={"intent": True, "replies": 0}),
    Step(name="posted, not answered", withheld=POSTED, left={"intent": True, "replies": 1, "posted_known": False}),
    Step(name="posted, id not saved", kill=before(POSTED_SAVED), left={"replies": 1, "posted_known": False}),
    Step(name="posted id saved", kill=after(POSTED_SAVED), left={"posted_known": True, "logged": 0}),
    Step(name="before the reply log", kill=before(LOGGED), left={"posted_known": True, "logged": 0}),
    Step(name="reply logged", kill=after(LOGGED), left={"logged": 1, "status": "pending-user"}),
    Step(name="before it is closed", kill=before(CLOSED), left={"logged": 1, "status": "pending-user"}),
    Step(name="closed", kill=after(CLOSED), left={"status": "closed", "archived": 0, "offered": True}),
    Step(name="last card, not answered", withheld=SETTLED_CARD, left={"status": "closed", "offered": False}),
    Step(name="before the archive", kill=before(ARCHIVED), left={"status": "closed", "archived": 0}),
    Step(name="archived, state not forgotten", kill=after(ARCHIVED), left={"status": None, "archived": 1}),
    Step(name="before the answer to the click", kill=before(TOLD), left={"archived": 1, "replies": 1}),
    Step(name="dismissal saved, card not", decision="dismiss", kill=after(CLOSED), left={"status": "closed"}),
    Step(name="dismissed, card not answered", decision="dismiss", withheld=SETTLED_CARD, left={"offered": False}),
    Step(name="dismissed, before the archive", decision="dismiss", kill=before(ARCHIVED), left={"archived": 0}),
    Step(name="archived, reaction not removed", decision="dismiss", kill=before(UNREACTED), left={"archived": 1}),
    Step(name="reaction removed, not answered", decision="dismiss", withheld=UNREACTED, left={"reactions": []}),
    Step(name="answered, first reaction stands", kill=before(UNREACTED), left={"replies": 1}),
    Step(
        name="edit saved, before the intent", decision="edit", kill=after(EDITED), left={"intent": False, "version": 2}
    ),
    Step(name="edit posted, not answered", decision="edit", withheld=POSTED, left={"intent": True, "replies": 1}),
    Step(name="edit posted, not logged", decision="edit", kill=before(LOGGED), left={"replies": 1, "logged": 0}),
    Step(name="recovery: claim returned", kill=before(CARD_SAVED), then=before(JOB_GONE), left={"cards": 1}),
    Step(name="recovery: card adopted", kill=before(CARD_SAVED), then=after(CARD_SAVED), left={"cards": 1}),
    Step(name="recovery: before the post", kill=after(INTENT), then=before(POSTED), left={"intent": True}),
    Step(name="recovery: posted, id not saved", kill=after(INTENT), then=before(POSTED_SAVED), left={"replies": 0}),
    Step(name="recovery: posted id adopted", kill=before(POSTED_SAVED), then=after(POSTED_SAVED), left={"replies": 1}),
    Step(name="recovery: not logged", kill=before(LOGGED), then=before(LOGGED), left={"logged": 0}),
    Step(name="recovery: before the archive", kill=after(CLOSED), then=before(ARCHIVED), left={"archived": 0}),
    Step(name="recovery: question queued again", kill=after(JOURNAL), then=after(ENQUEUED), left={"jobs": 0}),
)

_ONE_WRITE: Final = (
    "question journaled",
    "before the job",
    "job queued, record not sorted",
    "before the sorted record",
    "attempt counted, not claimed",
    "recovery: question queued again",
)
"""Between two writes of files; a database does both in one statement."""
DATABASE_STEPS: Final = tuple(
    replace(step, kill=after(JOURNAL)) if step.name == "after the sorted record" else step
    for step in STEPS
    if step.name not in _ONE_WRITE
)
