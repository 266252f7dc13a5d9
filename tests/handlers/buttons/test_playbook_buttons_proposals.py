"""The card of a proposal: only the owner and approvers decide, and no click carries more than it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from blocks.cards.playbook_cards import done_text, proposal_blocks, proposal_text
from bot.casework.approvers import Approvers
from bot.domain.playbooks.playbook_requests import RequestVerb
from bot.domain.playbooks.proposals import Proposal, ProposalStatus
from bot.domain.tiers import Tier
from handlers.buttons.playbook_buttons import NO_PROPOSAL_OF_YOURS, ProposalButtons
from tests.blocks.limits import texts
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.clockwork import START
from tests.heartbeat.playbooks.test_proposal_service import ID, PLAYBOOK, World
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, OTHER = "U2", "U0ANN", "U0EVE"


class Edge:
    """The buttons over proposals that a mention made."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        workspace = self.world.works.workspace
        workspace.groups["C0OPS"] = frozenset({APPROVER})
        approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=workspace)
        self.told: list[str] = []
        self.buttons = ProposalButtons(
            self.world.proposals,
            self.world.works.sessions,
            OWNERS,
            approvers,
            say=lambda _click, text, **_: self.told.append(text),
        )

    def press(self, name: str, value: object, by: str = APPROVER, team: str = "T1") -> None:
        """Click a button, or choose from the menu."""
        body = payload("block_actions")
        body["user"] = {**body["user"], "id": by, "team_id": team}
        action = {"value": value, "selected_option": {"value": value}}
        self.buttons.actions[name](lambda **_: None, body, action, None)

    @property
    def standing(self) -> ProposalStatus:
        return self.world.proposal.standing


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    edge = Edge(tmp_path)
    edge.world.hear("watch the CDN hourly in shop")
    return edge


@pytest.mark.parametrize("by", [APPROVER, OWNER])
def test_the_owner_and_approvers_accept(edge: Edge, by: str) -> None:
    """And whoever comes second is told who was first."""
    edge.press(ids.ACCEPT_PROPOSAL, ids.encode_proposal(ID, "shop"), by)
    assert "Watch the CDN" in edge.world.shop.read_text()
    assert edge.told == []
    edge.press(ids.REJECT_PROPOSAL, ids.encode_proposal(ID, "shop"), APPROVER)
    assert edge.told == [f"<@{by}> decided this already: accepted. Nothing was changed."]


@each_row("name", [ids.ACCEPT_PROPOSAL, ids.REJECT_PROPOSAL, ids.CHOOSE_SESSION])
@each_row("by, team", [(OTHER, "T1"), (OWNER, "T0OTHER"), (APPROVER, "T0OTHER"), ("", "T1")])
def test_who_may_not_decides_nothing(edge: Edge, name: str, by: str, team: str) -> None:
    """Told so, and nothing is changed."""
    edge.told.clear()
    edge.press(name, ids.encode_proposal(ID, "shop"), by, team)
    assert edge.told == [NO_PROPOSAL_OF_YOURS]
    assert edge.standing is ProposalStatus.OPEN


@each_row(
    "value", [None, "", 7, ["x"], ID, "x|shop", f"{ID}|../x", f"{'0' * 16}|shop", f"{ID}|tooling", f"{ID}|nosuch"]
)
def test_a_hostile_value_edits_nothing(edge: Edge, value: object) -> None:
    """Whatever it names."""
    edge.press(ids.ACCEPT_PROPOSAL, value)
    assert edge.world.shop.read_text() == PLAYBOOK
    assert edge.world.tooling.read_text() == "# Quick\n- [ ] look\n"
    assert edge.standing is ProposalStatus.OPEN


def test_the_owner_of_another_session_rejects_nothing(edge: Edge) -> None:
    """The session on file counts, not the one in the value."""
    settings = dict(edge.world.works.settings)
    settings["tooling"] = settings["tooling"].model_copy(update={"owner": "U0BOB"})
    edge.world.works.sessions.replace(settings)
    edge.press(ids.REJECT_PROPOSAL, ids.encode_proposal(ID, "tooling"), "U0BOB")
    assert edge.told == [NO_PROPOSAL_OF_YOURS]


def a_proposal(**changes: Any) -> Proposal:
    fields: dict[str, Any] = {
        "id": ID,
        "verb": RequestVerb.ADD,
        "wanted": "watch",
        "task": "Watch <!channel> & `df -h`",
        "tier": Tier.HOURLY,
        "session": "shop",
        "choices": ("shop", "tooling"),
        "asked_by": "U1",
        "words": "<@U0BOT> watch <!channel> hourly",
        "chat_id": "C1",
        "thread_ts": "1795165200.000100",
        "at": START,
    }
    return Proposal(**{**fields, **changes})


def test_the_card_shows_what_would_be_written_and_notifies_nobody() -> None:
    """A stranger's words stand in it; so do commands that may not run."""
    blocks = proposal_blocks(a_proposal(words="<!channel> <@U9> " + "x" * 5_000), not_allowed=["df -h"])
    said = "\n".join(texts([block.to_dict() for block in blocks]))
    assert "<!channel>" not in said
    assert "<@U9>" not in said
    assert "- [ ] Watch" in said
    assert "does not run by itself: `df -h`" in said
    assert all(len(words) <= 3_000 for words in texts([block.to_dict() for block in blocks]))
    assert "<!channel>" not in proposal_text(a_proposal()) + done_text(a_proposal())


def test_without_a_session_there_is_no_accept() -> None:
    """Only the choice, and a no; a decided card has no buttons."""
    kinds = [element["action_id"] for element in proposal_blocks(a_proposal(session=None))[-1].to_dict()["elements"]]
    assert kinds == [ids.CHOOSE_SESSION, ids.REJECT_PROPOSAL]
    closed = proposal_blocks(a_proposal(standing=ProposalStatus.REJECTED, decided_by="U2"))
    assert all(block.type != "actions" for block in closed)
