"""Who may decide."""

from __future__ import annotations

import pytest

from bot.casework.approvers import Approvers
from bot.errors import InputError
from bot.ports import Person
from tests.fakes import FakeWorkspace
from tests.tables import each_row


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


@each_row(
    "configured, expected",
    [
        (None, {"U1", "U2"}),
        ((), set()),
        (("U2",), {"U2"}),
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


@pytest.mark.parametrize("flaw", ["is_bot", "is_guest", "is_external", "is_deactivated"])
@pytest.mark.parametrize("configured", [("U3",), ("S0ONCALL",), None], ids=["listed", "in a group", "in the channel"])
def test_bots_guests_partners_and_the_deactivated_may_never(
    workspace: FakeWorkspace, flaw: str, configured: tuple[str, ...] | None
) -> None:
    """Not even when they are listed, stand in a user group or sit in the ops channel (Slack Connect included)."""
    workspace.groups["C0OPS"] |= {"U3"}
    assert approvers(workspace, configured).allow("U3", "T1")
    workspace.people["U3"] = Person(user_id="U3", name="x", **{flaw: True})  # type: ignore[arg-type]
    assert not approvers(workspace, configured).allow("U3", "T1")


def test_a_colleague_of_a_sister_workspace_may_like_anybody(workspace: FakeWorkspace) -> None:
    """Their clicks name their own workspace, or the company; a team that is not theirs is somebody else's."""
    teams = frozenset({"T2", "E1"})
    workspace.people["U1"] = Person(user_id="U1", name="x", team_id="T2", team_ids=teams)
    who = approvers(workspace, None)
    for team in ("T1", "T2", "E1"):
        assert who.allow("U1", team)
        assert who.knows("U1", team)
    assert not who.allow("U1", "T9")
    assert not who.knows("U1", "T9")


@pytest.mark.parametrize("flaw", ["is_guest", "is_external", "is_deactivated"])
def test_only_full_members_are_known(workspace: FakeWorkspace, flaw: str) -> None:
    """They see counts; a chat that cannot say leaves it at the workspace, for nothing else is shown for it."""
    who = approvers(workspace, None)
    assert who.knows("U9", "T1")
    workspace.people["U9"] = Person(user_id="U9", name="x", **{flaw: True})  # type: ignore[arg-type]
    assert not who.knows("U9", "T1")
    workspace.down = True
    assert (who.knows("U9", "T1"), who.knows("U9", "T2")) == (True, False)


def test_the_right_is_asked_afresh_of_approvers_and_owners(workspace: FakeWorkspace) -> None:
    """Never from memory; an owner who became a guest may no more than any guest."""
    who = approvers(workspace, None)
    who.require("U1", "T1", "no")
    who.require("U4", "T1", "no", owner="U4")
    assert workspace.asked_fresh == ["U1", "U4"]
    workspace.people["U4"] = Person(user_id="U4", name="x", is_guest=True)
    with pytest.raises(InputError, match=r"^no$"):
        who.require("U4", "T1", "no", owner="U4")
    assert not who.probably("U4", "T1", owner="U4")


def test_a_partner_who_claims_our_team_is_known_by_their_own(workspace: FakeWorkspace) -> None:
    """The click says T1, Slack says that the person belongs elsewhere."""
    workspace.people["U1"] = Person(user_id="U1", name="x", team_id="T9", is_external=True)
    assert not approvers(workspace, None).allow("U1", "T1")


def test_a_group_that_was_emptied_leaves_nobody(workspace: FakeWorkspace) -> None:
    """An empty group is not an absent setting: the ops channel does not step in."""
    who = approvers(workspace, ("S0ONCALL",))
    assert who.allow("U3", "T1")
    workspace.groups["S0ONCALL"] = frozenset()
    assert not any(who.allow(user, "T1") for user in ("U1", "U2", "U3"))
    assert not who.probably("U3", "T1")


def test_one_group_that_cannot_be_listed_closes_to_all(workspace: FakeWorkspace) -> None:
    """Half an answer is none, for whoever stands in the other half, too."""
    who = approvers(workspace, ("U1", "S0ONCALL", "S0GONE"))
    assert not who.allow("U1", "T1")
    assert not who.allow("U3", "T1")


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


def test_the_list_of_who_may_names_nobody_who_never_may() -> None:
    """The bot is a member of its ops channel, and so may a guest be; one the chat cannot tell of stays on the list."""
    workspace = FakeWorkspace()
    workspace.groups["C0OPS"] = frozenset({"U1", "U0BOT", "U0GUEST", "B0UNKNOWN"})
    workspace.people["U0BOT"] = Person(user_id="U0BOT", name="triage", is_bot=True)
    workspace.people["U0GUEST"] = Person(user_id="U0GUEST", name="guest", is_guest=True)
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
    approvers.refresh()
    assert approvers.roll().people == {"U1", "B0UNKNOWN"}


def test_another_list_counts_at_once_and_fails_closed(workspace: FakeWorkspace) -> None:
    """Whoever was taken off decides nothing more and opens no dialogue, also where the chat cannot say who came."""
    who = approvers(workspace, ("U1", "U2"))
    who.refresh()
    who.replace(("U2", "S0ONCALL"))
    assert [user for user in ("U1", "U2", "U3") if who.probably(user, "T1")] == ["U2", "U3"]
    assert not who.allow("U1", "T1")
    assert who.allow("U3", "T1")
    assert who.paged() == ("U2", "S0ONCALL")
    workspace.down = True
    who.replace(("U1", "S0ONCALL"))
    assert not who.probably("U2", "T1")
    workspace.down = False
    assert who.allow("U1", "T1")


def test_an_outage_lets_dialogues_open_and_nothing_be_decided(workspace: FakeWorkspace) -> None:
    """What was known a moment ago opens a dialogue; its submit asks anew and is refused."""
    who = approvers(workspace, None)
    who.refresh()
    workspace.down = True
    who.refresh()
    assert who.probably("U1", "T1")
    assert not who.allow("U1", "T1")


def test_only_approvers_who_are_full_members_may_see_drafts(workspace: FakeWorkspace) -> None:
    """As of the last minute; nobody else, and nobody where the chat cannot say."""
    who = approvers(workspace, None)
    who.refresh()
    assert [user for user in ("U1", "U2", "U3") if who.may_see(user, "T1")] == ["U1", "U2"]
    workspace.people["U2"] = Person(user_id="U2", name="x", is_guest=True)
    assert not who.may_see("U2", "T1")
    workspace.down = True
    assert not who.may_see("U1", "T1")
