"""Votes on posted replies: one of each person, the last one counts, and the approvers hear of one against once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.casework.card_marks import FeedbackCounts
from bot.casework.posting.feedback import AGAIN, FeedbackVotes
from bot.domain.questions.feedback import Feedback, Votes
from bot.domain.threads import REPLY_MARK, ThreadState, reply_mark
from bot.errors import InputError, Unconfirmed
from bot.ports.collections import FEEDBACK
from tests.builders import THREAD_ID
from tests.casework.office import BEN, Office
from tests.fakes import Crash, Faults, MemoryDocuments, in_memory

ANN, EVE = "U1", "U3"


class Below:
    """Port FeedbackChat over a list; `lost` loses the answer to the next post."""

    def __init__(self, faults: Faults) -> None:
        self.told: list[str] = []
        self.faults, self.lost = faults, False

    def is_told(self, state: ThreadState, feedback: Feedback) -> bool:
        return feedback.id in self.told

    def tell(self, state: ThreadState, feedback: Feedback) -> None:
        self.faults.point("before telling")
        self.told.append(feedback.id)
        self.faults.point("after telling")
        if self.lost:
            self.lost = False
            raise Unconfirmed("Slack did not answer")


class Votings:
    """An answered thread, and what counts the votes on it; `restart` is another process."""

    def __init__(self, folder: Path, keep: timedelta | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.office, self.keep = Office(folder), keep
        self.office.asked()
        self.office.decisions.approve(self.office.click(), by=BEN)
        self.reply_id = reply_mark(self.office.ended).removeprefix(REPLY_MARK)
        self.faults = Faults()
        self.documents = MemoryDocuments(faults=self.faults)
        self.chat = Below(self.faults)
        self.restart()

    def restart(self) -> None:
        self.store = in_memory(FEEDBACK, self.documents)
        self.votes = FeedbackVotes(self.office.service, self.store, self.chat, keep=self.keep)

    def say(self, user: str, *, helpful: bool) -> str:
        return self.votes.vote(THREAD_ID, self.reply_id, by=user, is_helpful=helpful)

    def wait(self) -> None:
        """Let the time pass in which a post may yet come."""
        for _ in range(2):
            self.office.clock.advance(60)
            self.votes.tick()

    @property
    def counts(self) -> Votes:
        return FeedbackCounts(self.store)(self.office.ended)


@pytest.fixture
def votings(tmp_path: Path) -> Votings:
    return Votings(tmp_path)


def test_nothing_is_told_below_a_card_in_the_ops_channel_of_before(votings: Votings) -> None:
    """Others may read there by now: the ops channel hears it in a line."""
    service = votings.office.service
    moved = replace(service, settings=service.settings.model_copy(update={"ops_channel": "C0NEW"}))
    votes = FeedbackVotes(moved, votings.store, votings.chat, keep=None)
    votings.say(ANN, helpful=False)
    votes.tick()
    assert votings.chat.told == []
    assert any("its card is gone" in line for line in votings.office.messenger.told)


def test_the_card_shows_the_votes(votings: Votings) -> None:
    """After each change, and not without one."""
    before = len(votings.office.messenger.cards[-1].shown)
    votings.say(ANN, helpful=True)
    votings.votes.tick()
    assert len(votings.office.messenger.cards[-1].shown) == before + 1
    votings.wait()
    assert len(votings.office.messenger.cards[-1].shown) == before + 1


def test_what_slack_did_not_confirm_is_looked_for(votings: Votings) -> None:
    """And not said twice."""
    votings.chat.lost = True
    votings.say(ANN, helpful=False)
    votings.votes.tick()
    votings.wait()
    assert votings.chat.told == [votings.reply_id]
    assert votings.store.get(votings.reply_id).is_told


def test_wherever_the_process_dies_the_vote_counts_once_and_is_told_once(tmp_path: Path) -> None:
    """At every write and every call; the one who clicked clicks again only if the vote was not on file."""
    crash_at = 0
    while True:
        crash_at += 1
        votings = Votings(tmp_path / str(crash_at))
        votings.faults.points.clear()
        votings.faults.crash_at = crash_at
        try:
            votings.say(ANN, helpful=False)
            votings.votes.tick()
        except Crash:
            pass
        else:
            break
        votings.faults.crash_at = None
        votings.restart()
        found = votings.store.find(votings.reply_id)
        if found is None or not found.votes:
            votings.say(ANN, helpful=False)
        votings.wait()
        assert (votings.counts, votings.chat.told) == (Votes(0, 1), [votings.reply_id]), crash_at
    assert crash_at > 6


def test_a_foreign_click_counts_nothing(votings: Votings) -> None:
    """A thread that is not on file, a user that is none."""
    with pytest.raises(InputError, match="nothing was counted"):
        votings.votes.vote("T1.C1.9.9", votings.reply_id, by=ANN, is_helpful=True)
    with pytest.raises(InputError, match="nothing was counted"):
        votings.say("<!channel>", helpful=True)
    with pytest.raises(InputError, match="another version"):
        votings.votes.vote(THREAD_ID, "../../x", by=ANN, is_helpful=True)
    assert votings.store.all() == []


def test_old_votes_are_removed_after_a_while(tmp_path: Path) -> None:
    """As records of runs are; null keeps them."""
    for keep, left in ((timedelta(days=90), 0), (None, 1)):
        votings = Votings(tmp_path / str(left), keep=keep)
        votings.say(ANN, helpful=True)
        votings.office.clock.advance(91 * 86_400)
        votings.votes.tick()
        assert len(votings.store.all()) == left


STEPS = st.lists(
    st.one_of(st.tuples(st.sampled_from([ANN, BEN, EVE, "U4"]), st.booleans()), st.sampled_from(["tick", "restart"])),
    max_size=20,
)


@given(steps=STEPS)
def test_any_order_of_votes_counts_the_last_of_each(tmp_path_factory: Any, steps: list[Any]) -> None:
    """Through restarts; told at most once, and at last if one stands against the reply."""
    votings = Votings(tmp_path_factory.mktemp("votes"))
    last: dict[str, bool] = {}
    actions: dict[str, Callable[[], None]] = {"tick": votings.votes.tick, "restart": votings.restart}
    was_against = False
    for step in steps:
        if isinstance(step, str):
            was_against |= step == "tick" and False in last.values()
            actions["tick"] = votings.votes.tick
            actions[step]()
        else:
            user, helpful = step
            said = votings.say(user, helpful=helpful)
            assert (said == AGAIN) == (last.get(user) is helpful)
            last[user] = helpful
    votings.wait()
    assert votings.counts == Votes(list(last.values()).count(True), list(last.values()).count(False))
    assert len(votings.chat.told) == (was_against or False in last.values())
