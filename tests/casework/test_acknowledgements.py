"""An asker sees that their question is being looked into, and whether it was answered, whatever dies or refuses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.casework.acknowledgements import LOOKING, RETRY_S, Acknowledgements, Turns
from bot.casework.recovery import CrashRecovery
from bot.domain.acknowledgement import Reaction, acknowledgement_id
from bot.domain.threads import PendingReason, Resolution
from bot.errors import ProviderError, Unavailable
from bot.ports.feature_collections import ACKNOWLEDGEMENTS
from tests.builders import QUESTION_TS, THREAD_ID, an_event
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import Crash, Faults, RecordingAskerChat, in_memory

EYES, CHECK = {"eyes"}, {"white_check_mark"}
BUSY = Unavailable("Slack could not set a reaction: ratelimited", retry_after_s=0)


def standing(office: Office, ts: str = QUESTION_TS) -> set[str]:
    return office.asker_chat.standing.get(ts, set())


def approve(office: Office) -> None:
    office.decisions.approve(office.click(), by=BEN)
    office.service.asker.tick()


def dismiss(office: Office) -> None:
    office.decisions.dismiss(office.click(), by=BEN, reason=None)
    office.service.asker.tick()


class SlowAskerChat(RecordingAskerChat):
    """A chat that takes so long for its first reaction that something happens meanwhile."""

    def __init__(self, standing: dict[str, set[str]], *, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self.standing, self._meanwhile = standing, [meanwhile]

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        while self._meanwhile:
            self._meanwhile.pop()()
        super().add_reaction(chat_id, message_id, reaction)


class TestReaction:
    """The default."""

    def test_a_posted_reply_puts_a_check_mark_in_their_place(self, tmp_path: Path) -> None:
        """And nothing is left on file."""
        office = Office(tmp_path).asked()
        approve(office)
        assert standing(office) == CHECK
        assert not office.acknowledged.texts

    def test_a_failed_investigation_takes_them_away_and_the_next_brings_them_back(self, tmp_path: Path) -> None:
        """What waits for a human because nothing was found out is not being looked into."""
        office = Office(tmp_path, ProviderError("the model refused")).asked()
        assert office.state.pending_reason is PendingReason.FAILED
        assert standing(office) == set()
        office.investigator.script = [office.investigator.script[0]]
        office.decisions.reinvestigate(office.click(), by=BEN)
        seen: list[set[str]] = []
        office.investigator.meanwhile = lambda: seen.append(set(standing(office)))
        office.work()
        assert seen == [EYES]

    def test_a_busy_slack_gets_it_later_and_the_work_goes_on(self, tmp_path: Path) -> None:
        """Neither the investigation nor the archive waits for a reaction."""
        office = Office(tmp_path)
        office.asker_chat.refuse = BUSY
        office.asked()
        assert office.state.draft_pending
        approve(office)
        assert office.ended.posted_message_id
        office.asker_chat.refuse = None
        office.service.asker.tick()
        assert standing(office) == CHECK
        assert not office.acknowledged.texts

    def test_a_missing_permission_is_said_once_and_breaks_nothing(self, tmp_path: Path) -> None:
        """An app that was installed before reactions existed goes on working; after a restart it is tried again."""
        office = Office(tmp_path)
        office.asker_chat.refuse = ProviderError("no", code="missing_scope")
        office.asked()
        office.arrive(an_event("And how long?", "1700000500.000100"))
        office.work()
        approve(office)
        [line] = office.messenger.told
        assert "reactions:write" in line
        assert office.asker_chat.calls == ["add eyes"]

    def test_reactions_of_an_earlier_setting_are_removed(self, tmp_path: Path) -> None:
        """`acknowledge: none` after a restart leaves none behind."""
        office = Office(tmp_path).asked()
        office.settings = office.settings.model_copy(update={"acknowledge": "none"})
        office.restart()
        assert standing(office) == set()

    @pytest.mark.parametrize("decide", [approve, dismiss])
    def test_a_death_at_any_moment_leads_to_the_right_one(self, tmp_path: Path, decide: Any) -> None:
        """After the restart exactly the reaction stands that the thread wants."""

        def story(office: Office) -> None:
            decide(office.asked())

        for where, office in crash_everywhere(lambda faults: Office(tmp_path, faults=faults), story):
            office.restart()
            state = office.store.get(office.messenger.cards[-1].thread_id) if office.messenger.cards else None
            expected = EYES if state is not None else (CHECK if office.messenger.posts else set())
            assert standing(office) == expected, where


def test_a_reaction_nobody_confirmed_is_removed_where_the_question_has_gone_meanwhile(tmp_path: Path) -> None:
    """The process died between Slack's answer and its record, and nobody works on the question again."""
    faults = Faults()
    Office(tmp_path, faults=faults).asked()
    office = Office(tmp_path, faults=Faults(faults.points.index("asker: after a reaction") + 1))
    with pytest.raises(Crash):
        office.asked()
    closed = office.state.close(Resolution.WITHDRAWN, at=office.clock.now(), why="the question was deleted")
    office.store.put(closed)
    assert standing(office) == EYES
    office.restart()
    assert standing(office) == set()


def test_eyes_that_another_replica_set_late_do_not_stay_beside_the_check_mark(tmp_path: Path) -> None:
    """It began to set them, and before Slack did so the question was answered at this replica."""
    office = Office(tmp_path).asked()
    office.asker_chat.standing.clear()
    kept = in_memory(ACKNOWLEDGEMENTS, office.acknowledged)
    kept.remove(acknowledgement_id(office.state))
    chat = SlowAskerChat(office.asker_chat.standing, meanwhile=lambda: approve(office))
    other = Acknowledgements(office.store, kept, chat, office.clock, mode="reaction", say=office.messenger.tell_ops)
    other.begin(office.state)
    other.tick(at_once=True)
    assert standing(office) == CHECK
    assert not office.acknowledged.texts


def test_a_stop_does_not_wait_for_a_reaction_that_slack_is_at(tmp_path: Path) -> None:
    """It is left to the next start: asked for again and again, it kept the processor busy until Slack answered."""
    office = Office(tmp_path).asked()
    kept = in_memory(ACKNOWLEDGEMENTS)
    looks: list[bool] = []

    def stop() -> None:
        other.follow(office.state)
        other.tick(at_once=True)
        looks.append(True)

    chat = SlowAskerChat({}, meanwhile=stop)
    other = Acknowledgements(office.store, kept, chat, office.clock, mode="reaction", say=office.messenger.tell_ops)
    other.begin(office.state)
    assert (looks, chat.calls) == ([True], ["add eyes"])


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_reaction_that_a_dead_replica_left_is_mended_by_another_that_never_held_it(
    tmp_path: Path, is_answered: bool
) -> None:
    """Whether its thread is in the archive or still open; without a start, and without its card being behind."""
    office = Office(tmp_path).asked()
    (office.decisions.approve(office.click(), by=BEN) if is_answered else stop_quietly(office))
    other = Acknowledgements(
        office.store,
        in_memory(ACKNOWLEDGEMENTS, office.acknowledged),
        office.asker_chat,
        office.clock,
        mode="reaction",
        say=lambda _: None,
    )
    other.tick()
    assert standing(office) == EYES
    CrashRecovery(replace(office.service, asker=other), office.replies).reconcile()
    other.tick()
    assert standing(office) == (CHECK if is_answered else set())


def stop_quietly(office: Office) -> None:
    """Have the thread wait for a human, as a process does that dies before it shows that."""
    at = office.clock.now()
    office.store.amend(THREAD_ID, lambda now: now.reopened(at=at, why="again").failed(at=at, why="stopped"))


def test_nothing_is_asked_of_slack_at_a_start_where_all_stands(tmp_path: Path) -> None:
    """What was confirmed before is believed."""
    office = Office(tmp_path).asked()
    office.asker_chat.calls.clear()
    office.restart()
    assert office.asker_chat.calls == []


class TestEphemeral:
    """One line that only the asker sees."""

    def test_it_is_said_once_and_holds_no_word_of_the_answer(self, tmp_path: Path) -> None:
        """Also where the question is investigated again."""
        office = Office(tmp_path, acknowledge="ephemeral").asked()
        office.decisions.reinvestigate(office.click(), by=BEN)
        office.work()
        assert office.asker_chat.told == [(ANN, LOOKING)]
        assert standing(office) == set()
        dismiss(office)
        assert not office.acknowledged.texts

    def test_it_is_never_said_twice_whatever_dies(self, tmp_path: Path) -> None:
        """A line that only one person sees cannot be looked for, so rather none than two."""

        def story(office: Office) -> None:
            office.asked()

        for where, office in crash_everywhere(
            lambda faults: Office(tmp_path, faults=faults, acknowledge="ephemeral"), story
        ):
            office.restart()
            assert len(office.asker_chat.told) <= 1, where


def test_none_says_nothing(tmp_path: Path) -> None:
    """Neither a reaction nor a line."""
    office = Office(tmp_path, acknowledge="none").asked()
    approve(office)
    assert (office.asker_chat.calls, office.faults.points.count("acknowledgements: before a write")) == ([], 0)


def test_the_faults_are_met(tmp_path: Path) -> None:
    """The crash tests above pass the reactions' own moments."""
    faults = Faults()
    approve(Office(tmp_path, faults=faults).asked())
    assert {"asker: before a call", "asker: after a reaction", "asker: after a removal"} <= set(faults.points)


WAIT_S = 120.0


def test_who_is_willing_to_wait_gets_the_turn_when_it_is_free() -> None:
    """And not before."""
    turns, inside, free = Turns(), threading.Event(), threading.Event()

    def show() -> None:
        with turns.exclusive("a"):
            inside.set()
            free.wait(WAIT_S)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    assert inside.wait(WAIT_S)
    with turns.exclusive("a", wait_s=0.01) as too_early:
        assert not too_early
    free.set()
    with turns.exclusive("a", wait_s=WAIT_S) as mine:
        assert mine
    thread.join()


def test_a_card_is_behind_once_however_often_it_changed() -> None:
    """Only that it is behind is noted, and the last word on when to try."""
    now = [100.0]
    turns = Turns(lambda: now[0])
    for _ in range(50):
        turns.postpone("a", 2)
    turns.postpone("b")
    assert turns.next() is None
    now[0] += 2
    assert (turns.next(), turns.next()) == ("a", None)
    now[0] += RETRY_S
    assert (turns.next(), turns.next()) == ("b", None)


def test_one_card_is_shown_by_one_at_a_time() -> None:
    """Whoever comes meanwhile is told so; other cards are not concerned."""
    turns = Turns()
    with turns.exclusive("a") as first, turns.exclusive("a") as second, turns.exclusive("b") as other:
        assert (first, second, other) == (True, False, True)
    with turns.exclusive("a") as again:
        assert again
