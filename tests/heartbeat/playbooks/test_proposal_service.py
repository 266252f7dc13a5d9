"""From a mention to an edited playbook: once, whatever dies on the way, and only after a human's click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.domain.events import Event
from bot.domain.jobs import PlaybookRequested, QuestionAsked
from bot.domain.playbooks.proposals import Proposal, ProposalStatus, proposal_id
from bot.errors import Conflict, InputError, ProviderError, Unavailable, Unconfirmed
from bot.heartbeat.playbooks.playbook_file import Removals
from bot.heartbeat.playbooks.proposal_matching import ProposalMatcher
from bot.heartbeat.playbooks.proposal_service import ProposalService
from bot.ports import Person
from bot.ports.collections import PROPOSALS
from tests.builders import a_sorter, an_event
from tests.fakes import MemoryDocuments, MemorySingle, in_memory
from tests.heartbeat.clockwork import Clockwork
from tests.heartbeat.proposal_chat import FakeChat
from tests.tables import each_row

PLAYBOOK = (
    "## Quick\n- [ ] Tree\n## Hourly\n- [x] Dependency audit: `pip-audit`\n- Stale branches\n## Daily\n- Report\n"
)
TS = "1795165200.000100"
ID = proposal_id("T1", "C1", TS)


class World:
    """Two sessions and their playbooks; `restarted` is what a new process finds."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.folder = folder
        self.works = Clockwork(folder, "shop", "tooling")
        (folder / "home").mkdir()
        self.shop, self.tooling = (folder / name / "HEARTBEAT.md" for name in ("shop", "tooling"))
        self.shop.write_text(PLAYBOOK)
        self.chat, self.lines, self.documents = FakeChat(), [], MemoryDocuments()
        self.is_private = True
        self.restarted()

    def restarted(self) -> None:
        def require() -> None:
            if not self.is_private:
                raise Unavailable("not private")

        self.store = in_memory(PROPOSALS, self.documents)
        proposing = ProposalMatcher(
            sessions=self.works.sessions,
            workspace=self.works.workspace,
            clock=self.works.clock,
            allow_external=False,
            say=self.lines.append,
        )
        self.proposals = ProposalService(
            proposing,
            self.store,
            self.chat,
            self.works.clock,
            require_private=require,
            removals=Removals(MemorySingle()),
        )

    def hear(self, text: str, **changes: Any) -> bool:
        """Deliver a mention as a job; whether it was taken."""
        sorter = a_sorter(**self.works.sessions.names())
        event = an_event(f"<@U0BOT> {text}", TS, mentions=("U0BOT",), **changes)
        work = sorter.sort_question(QuestionAsked(event=event))
        if isinstance(work, PlaybookRequested):
            self.proposals.propose_change(work)
        return isinstance(work, PlaybookRequested)

    @property
    def proposal(self) -> Proposal:
        found = self.store.find(ID)
        assert found is not None
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("watch the CDN hourly in shop", lambda text: text.replace("branches\n", "branches\n- [ ] Watch the CDN\n")),
        ("stop checking stale branches", lambda text: text.replace("- Stale branches\n", "")),
        (
            "move the dependency audit to daily",
            lambda text: text.replace("- [x] Dependency audit: `pip-audit`\n", "").replace(
                "- Report\n", "- Report\n- [x] Dependency audit: `pip-audit`\n"
            ),
        ),
    ],
)
def test_a_wish_is_carried_out_after_a_click(world: World, text: str, after: Callable[[str], str]) -> None:
    """Nothing before it; once afterwards, and the asker hears of it once."""
    assert world.hear(text)
    assert world.hear(text)
    assert len(world.chat.cards) == 1
    assert world.shop.read_text() == PLAYBOOK
    assert world.proposals.accept(ID, "shop", "U2") == ""
    assert world.shop.read_text() == after(PLAYBOOK)
    with pytest.raises(Conflict, match="<@U2> decided this already: accepted"):
        world.proposals.accept(ID, "shop", "U3")
    world.proposals.settle()
    assert world.chat.said == [ID]
    assert next(iter(world.chat.cards.values())).standing is ProposalStatus.ACCEPTED


def test_a_rejection_changes_nothing_and_says_nothing(world: World) -> None:
    """The card shows who, and asked again in a new message it is a new proposal."""
    world.hear("stop checking stale branches")
    world.proposals.reject(ID, "U2")
    assert world.shop.read_text() == PLAYBOOK
    assert world.chat.said == []
    assert world.proposal.settled_at is not None
    with pytest.raises(Conflict):
        world.proposals.accept(ID, "shop", "U2")


def test_a_session_that_is_gone_by_then_gets_no_proposal(world: World) -> None:
    """It was taken out of triage.yml while the job waited: another is asked for, and without any there is no card."""
    [work] = [a_sorter(gone="Gone").sort_question(QuestionAsked(event=_order("watch the CDN hourly in gone")))]
    assert isinstance(work, PlaybookRequested)
    world.proposals.propose_change(work)
    assert world.proposal.choices == ("shop", "tooling")
    world.works.sessions.replace({})
    later = work.model_copy(update={"event": _order("watch the CDN hourly in gone", "1795165299.000100")})
    world.proposals.propose_change(later)
    assert len(world.chat.cards) == 1


def _order(text: str, ts: str = TS) -> Event:
    return an_event(f"<@U0BOT> {text}", ts, mentions=("U0BOT",))


def test_the_card_asks_which_session_where_nobody_said(world: World) -> None:
    """Nothing can be accepted before, and only what was offered can be chosen."""
    world.hear("watch the CDN hourly")
    assert world.proposal.session is None
    assert world.proposal.choices == ("shop", "tooling")
    with pytest.raises(InputError):
        world.proposals.accept(ID, "shop", "U2")
    with pytest.raises(InputError):
        world.proposals.choose(ID, "nosuch")
    world.proposals.choose(ID, "tooling")
    with pytest.raises(InputError, match="shows another session"):
        world.proposals.accept(ID, "shop", "U2")
    world.proposals.accept(ID, "tooling", "U2")
    assert "Watch the CDN" in world.tooling.read_text()
    assert world.shop.read_text() == PLAYBOOK


def test_a_task_of_two_sessions_is_chosen_by_session(world: World) -> None:
    """Chosen again, it is the other session's task; a session without it is no choice."""
    world.tooling.write_text("## Quick\n- Stale branches of tooling\n")
    world.hear("move stale branches to daily")
    assert world.proposal.choices == ("shop", "tooling")
    both = {"tooling": "Stale branches of tooling", "shop": "Stale branches"}
    for session in ("tooling", "shop", "tooling"):
        world.proposals.choose(ID, session)
        assert world.proposal.task == both[session]
    world.proposals.accept(ID, "tooling", "U2")
    assert world.tooling.read_text() == "## Quick\n\n## Daily Tasks\n- Stale branches of tooling\n"
    assert world.shop.read_text() == PLAYBOOK


def test_a_task_that_stands_there_already_is_not_moved(world: World) -> None:
    """The ops channel is told."""
    world.hear("move the dependency audit to hourly")
    assert "or it is there already" in world.lines[-1]


def test_a_channel_of_a_session_means_that_session(world: World) -> None:
    """Unless the text names another one."""
    world.works.settings["tooling"] = world.works.settings["tooling"].model_copy(update={"channels": ("C1",)})
    world.works.sessions.replace(dict(world.works.settings))
    world.hear("watch the CDN hourly")
    assert world.proposal.session == "tooling"


def test_what_stands_nowhere_is_told_and_not_shown(world: World) -> None:
    """Never skipped in silence; neither is a wish that could mean two tasks."""
    assert world.hear("stop checking the moon")
    assert world.chat.cards == {}
    assert "name of U1 asked to remove “the moon”" in world.lines[-1]
    world.shop.write_text(PLAYBOOK + "- Old branches\n- New branches\n")
    assert world.hear("stop checking branches in shop")
    assert "several tasks of shop say that. Next: /triage tiers shop" in world.lines[-1]


def test_a_guest_proposes_nothing(world: World) -> None:
    """As a guest's question is none."""
    world.works.workspace.people["U1"] = Person(user_id="U1", name="g", team_id="T1", is_guest=True)
    assert world.hear("watch the CDN hourly in shop")
    assert world.chat.cards == {}


def test_a_public_ops_channel_is_told_nothing(world: World) -> None:
    """The job waits in the queue until it is private."""
    world.is_private = False
    with pytest.raises(Unavailable):
        world.hear("watch the CDN hourly in shop")
    world.is_private = True
    world.hear("watch the CDN hourly in shop")
    assert len(world.chat.cards) == 1


def test_a_card_that_was_posted_and_not_noted_is_found(world: World) -> None:
    """The bot died between the post and the record."""
    world.hear("watch the CDN hourly in shop")
    world.store.change(ID, lambda now: now.evolve(card_channel=None, card_ts=None))
    world.restarted()
    world.hear("watch the CDN hourly in shop")
    assert list(world.chat.cards) == ["card 0"]


@pytest.mark.parametrize("step", ["show", "say", "said"])
def test_what_could_not_be_finished_is_finished_later_once(world: World, step: str) -> None:
    """Chat down, post refused, or nobody can tell whether it took: the next process goes on from what is on disk."""
    world.hear("watch the CDN hourly in shop")
    world.chat.breaks[step] = Unconfirmed("?") if step == "said" else Unavailable("down")
    assert "tries again every minute" in world.proposals.accept(ID, "shop", "U2")
    assert world.shop.read_text().count("Watch the CDN") == 1
    world.chat.breaks.clear()
    world.restarted()
    world.proposals.settle()
    assert (world.chat.said == [ID]) == (step != "say")  # a line not found within 10 s may still be on its way
    world.works.clock.advance(60)
    world.proposals.settle()
    world.proposals.settle()
    assert world.chat.said == [ID]
    assert world.shop.read_text().count("Watch the CDN") == 1
    assert world.proposal.settled_at is not None


def test_a_line_that_comes_late_is_said_only_while_it_is_still_so(world: World) -> None:
    """The bot was away for a day: what stands is said with its time; that of what was taken back, the card says."""
    world.hear("watch the CDN hourly in shop")
    world.chat.breaks["say"] = Unavailable("down")
    world.proposals.accept(ID, "shop", "U2")
    world.chat.breaks.clear()
    world.works.clock.advance(86_400)
    carried_out = world.shop.read_text()
    world.shop.write_text(PLAYBOOK)
    world.restarted()
    world.proposals.settle()
    assert world.chat.said == []
    assert world.proposal.settled_at is not None
    assert "playbook was changed again" in (world.proposal.problem or "")
    assert world.chat.cards["card 0"].problem == world.proposal.problem
    world.store.change(ID, lambda now: now.evolve(settled_at=None, problem=None))
    world.shop.write_text(carried_out)
    world.proposals.settle()
    assert world.chat.said == [ID]
    assert world.proposal.is_said_late


def test_a_thread_that_takes_no_line_ends_the_matter(world: World) -> None:
    """Archived, or left by the bot: whoever clicked is told, and nobody asks Slack again."""
    world.hear("watch the CDN hourly in shop")
    world.chat.breaks["say"] = ProviderError("Slack could not tell the asker: is_archived")
    assert "Done, but the asker could not be told" in world.proposals.accept(ID, "shop", "U2")
    assert world.proposal.settled_at is not None
    assert world.shop.read_text().count("Watch the CDN") == 1


def test_an_edit_that_was_made_is_not_made_again(world: World) -> None:
    """Decided and edited, then killed: the task that is gone is gone."""
    world.hear("stop checking stale branches")
    world.store.change(ID, lambda now: now.decided(ProposalStatus.ACCEPTED, "U2", world.works.clock.now()))
    world.shop.write_text(PLAYBOOK.replace("- Stale branches\n", ""))
    world.restarted()
    world.proposals.settle()
    assert world.chat.said == [ID]
    assert world.proposal.standing is ProposalStatus.ACCEPTED


def test_a_task_that_a_human_took_away_meanwhile_is_not_accepted(world: World) -> None:
    """Said before the decision, which stays open."""
    world.hear("move stale branches to daily")
    world.shop.write_text(PLAYBOOK.replace("Stale branches", "Branches"))
    with pytest.raises(InputError, match="not in the playbook any more"):
        world.proposals.accept(ID, "shop", "U2")
    assert world.proposal.standing is ProposalStatus.OPEN


def test_what_the_playbook_refuses_is_said_and_the_asker_is_not_told_it_was_done(world: World) -> None:
    """Its tasks are written as a paragraph."""
    world.shop.write_text("## Hourly\nLook at everything.\n")
    world.hear("watch the CDN hourly in shop")
    assert "could not be done" in world.proposals.accept(ID, "shop", "U2")
    assert world.chat.said == []
    assert world.proposal.standing is ProposalStatus.FAILED


@each_row("given", ["", "../../x", "0" * 15, "G" * 16])
def test_what_is_no_id_is_refused(world: World, given: str) -> None:
    """No file of another folder is read."""
    with pytest.raises(InputError):
        world.proposals.accept(given, "shop", "U2")
    with pytest.raises(InputError):
        world.proposals.reject(given, "U2")
