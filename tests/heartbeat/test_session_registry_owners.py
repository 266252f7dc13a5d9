"""Who is told and who may act: a person, or the members of a user group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.heartbeat.session_registry import Owners, Session, resolve_session
from tests.fakes import FakeClock, FakeWorkspace
from tests.heartbeat.clockwork import session_settings


def of(cwd: Path, owner: str | None, **beat: Any) -> Session:
    return resolve_session("shop", session_settings(cwd, owner=owner, **beat))


@pytest.fixture
def owners() -> Owners:
    workspace = FakeWorkspace()
    workspace.groups["S0ONCALL"] = frozenset({"U0ANN", "U0BEN"})
    return Owners(workspace, FakeClock(), local="UTC")


def test_one_person_is_the_owner_and_alone_may_act(tmp_path: Path, owners: Owners) -> None:
    """As it always was."""
    session = of(tmp_path, "U0ANN")
    assert [owners.claim(session, who) for who in ("U0ANN", "U0BEN", "")] == ["U0ANN", "", ""]
    assert not owners.claim(of(tmp_path, None), "")


def test_of_a_group_each_member_may_act(tmp_path: Path, owners: Owners) -> None:
    """Where the chat cannot say who is in it, nobody may."""
    session = of(tmp_path, "S0ONCALL")
    assert [owners.claim(session, who) for who in ("U0ANN", "U0BEN", "U0CY")] == ["U0ANN", "U0BEN", ""]
    assert not owners.claim(of(tmp_path, "S0GONE"), "U0ANN")


def test_what_is_known_without_a_request_is_who_was_in_the_group_when_last_asked(tmp_path: Path) -> None:
    """A submit is acknowledged before Slack is asked anything; a person needs no asking."""
    workspace = FakeWorkspace()
    workspace.groups["S0ONCALL"] = frozenset({"U0ANN"})
    owners = Owners(workspace, FakeClock(), local="UTC")
    group = of(tmp_path, "S0ONCALL")
    assert owners.claim(group, "U0ANN", asks=False) == ""
    assert owners.claim(of(tmp_path, "U0ANN"), "U0ANN", asks=False) == "U0ANN"
    assert workspace.asked == []
    assert owners.claim(group, "U0ANN") == "U0ANN"
    assert owners.claim(group, "U0ANN", asks=False) == "U0ANN"
    assert owners.claim(group, "U0BEN", asks=False) == ""
    assert workspace.asked == ["S0ONCALL"]


def test_who_a_page_is_escalated_to_may_act(tmp_path: Path, owners: Owners) -> None:
    """A private channel stands for everybody in it."""
    assert owners.claim(of(tmp_path, "U0ANN", then="U0BOSS"), "U0BOSS", "D1")
    assert owners.claim(of(tmp_path, "U0ANN", then="S0ONCALL"), "U0BEN", "D1")
    assert owners.claim(of(tmp_path, "U0ANN", then="C0WAR"), "U0EVE", "C0WAR")
    assert not owners.claim(of(tmp_path, "U0ANN", then="C0WAR"), "U0EVE", "C0OTHER")
    assert not owners.claim(of(tmp_path, "U0ANN"), "", "")
