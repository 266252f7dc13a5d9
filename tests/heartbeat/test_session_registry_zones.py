"""Whose clock counts: the owner's in the chat, the machine's, or the one that is named."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.adapters.clocks import local_zone
from bot.heartbeat.session_registry import Owners, Session, resolve_session
from bot.ports import Person
from tests.fakes import FakeClock, FakeWorkspace
from tests.heartbeat.clockwork import session_settings
from tests.tables import each_row


@pytest.fixture
def workspace() -> FakeWorkspace:
    """A chat that knows Ann's zone."""
    workspace = FakeWorkspace()
    workspace.people["U0ANN"] = Person(user_id="U0ANN", name="ann", timezone="Asia/Tokyo")
    return workspace


def session(tmp_path: Path, zone: str, owner: str | None = "U0ANN") -> Session:
    return resolve_session("shop", session_settings(tmp_path, owner=owner, active_hours={"timezone": zone}))


def zones(workspace: FakeWorkspace, *sessions: Session) -> Owners:
    found = Owners(workspace, FakeClock(), local="Europe/Berlin")
    found.refresh(sessions)
    return found


@each_row("zone, counts", [("user", "Asia/Tokyo"), ("local", "Europe/Berlin"), ("America/Lima", "America/Lima")])
def test_the_zone_that_is_meant_counts(tmp_path: Path, workspace: FakeWorkspace, zone: str, counts: str) -> None:
    """The owner's, the machine's, or the one that is named."""
    shop = session(tmp_path, zone)
    assert zones(workspace, shop).hours(shop).timezone == counts


@each_row("known", [None, "Nowhere/Land"])
def test_an_owner_without_a_usable_zone_has_the_machines(
    tmp_path: Path, workspace: FakeWorkspace, known: str | None
) -> None:
    """One the chat does not know, or this machine does not."""
    workspace.people["U0ANN"] = Person(user_id="U0ANN", name="ann", timezone=known)
    shop = session(tmp_path, "user")
    assert zones(workspace, shop).hours(shop).timezone == "Europe/Berlin"


def test_nobody_has_the_machines_zone(tmp_path: Path, workspace: FakeWorkspace) -> None:
    """A session without an owner has hours too."""
    shop = session(tmp_path, "user", owner=None)
    assert zones(workspace, shop).hours(shop).timezone == "Europe/Berlin"


def test_a_chat_that_is_away_changes_nothing(tmp_path: Path, workspace: FakeWorkspace) -> None:
    """What was heard before counts on."""
    shop, clock = session(tmp_path, "user"), FakeClock()
    known = Owners(workspace, clock, local="UTC")
    known.refresh([shop])
    workspace.down = True
    clock.advance(7_200)
    known.refresh([shop])
    assert known.hours(shop).timezone == "Asia/Tokyo"
    workspace.down = False
    workspace.people["U0ANN"] = Person(user_id="U0ANN", name="ann", timezone="America/Lima")
    known.refresh([shop])
    assert known.hours(shop).timezone == "Asia/Tokyo"
    clock.advance(3_601)
    known.refresh([shop])
    assert known.hours(shop).timezone == "America/Lima"


def test_the_zone_of_tz_goes_before_the_machines() -> None:
    """A colon before the name is POSIX; rules instead of a name count for nothing, and neither does what is no zone."""
    machine = local_zone({})
    assert ZoneInfo(machine).key == machine
    assert local_zone({"TZ": ":America/Lima"}) == "America/Lima"
    assert [local_zone({"TZ": name}) for name in ("EST5EDT,M3.2.0,M11.1.0", "../etc/passwd", "")] == [machine] * 3
