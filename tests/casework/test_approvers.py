"""Who may decide."""

from __future__ import annotations

import pytest

from bot.casework.approvers import Approvers
from bot.ports import Person
from tests.fakes import FakeWorkspace


@pytest.fixture
def workspace() -> FakeWorkspace:
    """A workspace with two people in the ops channel and one in a group."""
    workspace = FakeWorkspace()
    workspace.groups = {"C0OPS": frozenset({"U1", "U2"}), "S0ONCALL": frozenset({"U3"})}
    return workspace


def approvers(workspace: FakeWorkspace, configured: tuple[str, ...] | None) -> Approvers:
    return Approvers(configured, ops_channel="C0OPS", team_id="T1", workspace=workspace)


def allowed(workspace: FakeWorkspace, configured: tuple[str, ...] | None) -> set[str]:
    who = approvers(workspace, configured)
    return {user for user in ("U1", "U2", "U3", "U4") if who.allow(user, "T1")}


@pytest.mark.parametrize(
    ("configured", "expected"),
    [
        (None, {"U1", "U2"}),
        ((), set()),
        (("U2",), {"U2"}),
        (("S0ONCALL",), {"U3"}),
        (("U4", "S0ONCALL"), {"U3", "U4"}),
    ],
)
def test_the_configured_may_and_else_the_ops_channel(
    workspace: FakeWorkspace, configured: tuple[str, ...] | None, expected: set[str]
) -> None:
    """Users, groups, both, nobody, or everybody in the channel if nothing is said."""
    assert allowed(workspace, configured) == expected


def test_another_team_may_never(workspace: FakeWorkspace) -> None:
    """The same id in another workspace is somebody else."""
    assert not approvers(workspace, ("U1",)).allow("U1", "T2")
    assert not approvers(workspace, ("U1",)).allow("U1", "")


@pytest.mark.parametrize("flaw", ["is_bot", "is_guest", "is_external"])
def test_bots_guests_and_partners_may_never(workspace: FakeWorkspace, flaw: str) -> None:
    """Not even when they are listed."""
    workspace.people["U1"] = Person(user_id="U1", name="x", **{flaw: True})  # type: ignore[arg-type]
    assert not approvers(workspace, ("U1",)).allow("U1", "T1")
    assert not approvers(workspace, None).allow("U1", "T1")


def test_a_chat_that_cannot_say_means_nobody(workspace: FakeWorkspace) -> None:
    """It fails closed, for users, channel and groups."""
    workspace.down = True
    assert allowed(workspace, ("U1",)) == allowed(workspace, None) == set()
    workspace.down = False
    assert allowed(workspace, ("U1", "S0GONE")) == set()


def test_permission_is_asked_anew_each_time_and_remembered_for_dialogues_only() -> None:
    """Whoever left the ops channel may no longer decide, at once; a dialogue may still open, its submit is refused."""
    workspace = FakeWorkspace()
    workspace.groups["C0OPS"] = frozenset({"U1"})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
    assert not approvers.probably("U1", "T1")
    assert approvers.allow("U1", "T1")
    workspace.groups["C0OPS"] = frozenset()
    assert approvers.probably("U1", "T1")
    assert not approvers.allow("U1", "T1")
    assert not approvers.probably("U1", "T1")
    assert not approvers.probably("U1", "T2")
