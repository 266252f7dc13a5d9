"""A page ends when who is answerable for it writes below its alert; nobody else's words end anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts import Severity
from bot.domain.events import MessageType, Sender
from bot.domain.heartbeats.alerts import OpenFinding
from bot.errors import ProviderError
from bot.heartbeat.pages import FindingResponses, PageThreads
from bot.heartbeat.session_registry import Owners, SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from tests.builders import an_event
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore, in_memory
from tests.heartbeat.builders import AT, alert_router
from tests.heartbeat.clockwork import session_settings
from tests.heartbeat.surface import FakeSurface
from tests.tables import each_row

DOWN = OpenFinding(
    key="shop/web/down",
    task="web",
    text="The shop is down.",
    severity=Severity.PAGE,
    first_at=AT,
    last_at=AT,
    place="D0ANN",
    reference="7.2",
    copies=(("C0WAR", "8.1"), ("D0BEN", "9.1")),
    earlier=(("D0ANN", "7.1"),),
)


class Thread:
    """The thread under a page of the group's session; Cy approves, the boss is told next, Eve is nobody."""

    def __init__(self, folder: Path, finding: OpenFinding = DOWN, **beat: Any) -> None:
        self.slack, self.store = FakeSurface(), SessionMemory(MemoryStore())
        self.store.save("shop", lambda state: state.with_findings(finding))
        workspace = FakeWorkspace()
        workspace.groups["S0ONCALL"] = frozenset({"U0ANN", "U0BEN"})
        settings = {"shop": session_settings(folder, owner="S0ONCALL", **{"then": "C0WAR", **beat})}
        sessions = SessionRegistry(settings, in_memory(OVERRIDES))
        responses = FindingResponses(
            self.store, alert_router({"slack": self.slack}, self.store, FakeClock(AT)), FakeClock(AT)
        )
        self.pages = PageThreads(
            sessions,
            self.store,
            Owners(workspace, FakeClock(), local="UTC"),
            responses,
            allows=lambda user, team, owner: team == "T1" and user in ("U0CY", owner),
        )

    def say(self, place: str, below: str, by: str = "U0ANN", **more: Any) -> str | None:
        """Write in a thread; return who has the page then."""
        said = {"sender": Sender(id=by), "content": "false alarm", **more}
        self.pages.hear(an_event(chat_id=place, thread_id=below, **said))
        return self.finding.acknowledged_by

    @property
    def finding(self) -> OpenFinding:
        return self.store.load("shop").findings[DOWN.key]


@each_row(
    "place, below, by",
    [
        ("D0ANN", "7.2", "U0ANN"),
        ("D0ANN", "7.1", "U0ANN"),
        ("D0BEN", "9.1", "U0BEN"),
        ("C0WAR", "8.1", "U0EVE"),
        ("C0WAR", "8.1", "U0CY"),
    ],
)
def test_an_owner_an_approver_and_whoever_was_told_next_end_it(tmp_path: Path, place: str, below: str, by: str) -> None:
    """Under whichever card, an earlier one or a copy too; every card says who has it, and it rings no more."""
    thread = Thread(tmp_path)
    assert thread.say(place, below, by) == by
    assert {channel for (channel, _), _ in thread.slack.updated} == {"D0ANN", "C0WAR", "D0BEN"}
    assert all(alert.finding.acknowledged_by == by for _, alert in thread.slack.updated)
    assert not thread.finding.waits(AT)
    thread.say(place, below, "U0BEN")
    assert (thread.finding.acknowledged_by, len(thread.slack.updated)) == (by, 3)


@each_row(
    "place, below, more",
    [
        ("D0ANN", "7.2", {"by": "U0EVE"}),
        ("D0ANN", "7.2", {"team_id": "T2"}),
        ("D0ANN", "7.2", {"sender": Sender(id="U0ANN", type="bot")}),
        ("D0ANN", "7.2", {"msg_type": MessageType.EDIT}),
        ("D0ANN", "6.9", {}),
        ("C0PUBLIC", "7.2", {}),
    ],
)
def test_nobody_elses_words_end_it(tmp_path: Path, place: str, below: str, more: dict[str, Any]) -> None:
    """A stranger's, a bot's, an edit, a message elsewhere."""
    thread = Thread(tmp_path)
    assert thread.say(place, below, **more) is None
    assert thread.slack.updated == []


@each_row(
    "changes", [{"severity": Severity.ACT}, {"resolved_at": AT}, {"fixed_by": "U0BEN"}, {"acknowledged_by": "U0BEN"}]
)
def test_what_is_no_page_that_waits_stays_as_it_is(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Only a page rings, so only a page is ended; the message is no question all the same."""
    thread = Thread(tmp_path, DOWN.evolve(**changes))
    before = thread.finding
    thread.say("D0ANN", "7.2")
    assert thread.finding == before
    assert thread.pages.holds(an_event(chat_id="D0ANN", thread_id="7.2"))


def test_of_a_list_every_page_on_it_ends_and_the_list_says_so(tmp_path: Path) -> None:
    """There is one thread for all of them."""
    thread = Thread(tmp_path, DOWN.evolve(is_listed=True))
    thread.say("D0ANN", "7.2")
    _, alert = thread.slack.updated[-1]
    assert "👀 <@U0ANN> has it: The shop is down." in alert.text


def test_a_card_that_cannot_be_changed_takes_nothing_back(tmp_path: Path) -> None:
    """It is acknowledged all the same."""
    thread = Thread(tmp_path)
    thread.slack.refuses = ProviderError("message_not_found")
    assert thread.say("D0ANN", "7.2") == "U0ANN"


def test_only_threads_below_alerts_are_held_and_only_where_pages_wait_is_read_back(tmp_path: Path) -> None:
    """Root messages and other threads go their own way."""
    pages = Thread(tmp_path).pages
    assert pages.chats() == {"D0ANN", "C0WAR", "D0BEN"}
    assert [pages.holds(an_event(chat_id="D0ANN", thread_id=ts)) for ts in ("7.2", "7.9", None)] == [True, False, False]
    assert Thread(tmp_path, DOWN.evolve(acknowledged_by="U0BEN")).pages.chats() == frozenset()


@pytest.mark.parametrize("channel", ["C0ENG", "C0PUBLIC"])
def test_a_channel_counts_where_alerts_are_sent(tmp_path: Path, channel: str) -> None:
    """Explicitly, or as the next one to be told."""
    deliver = {"mode": "explicit", "channel": "slack", "to": "C0ENG"}
    thread = Thread(tmp_path, DOWN.evolve(place=channel), deliver=deliver)
    assert (thread.say(channel, "7.2") == "U0ANN") is (channel == "C0ENG")
