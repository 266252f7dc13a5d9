"""Killed while one approval posts to five threads: each has its reply, once, with its line in the log, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest

from blocks import ids
from bot.errors import InputError, ProviderError
from demo.headless import find_element, shown_text
from demo.workspace import ANA, BEN, CHLOE, OPS
from tests.crashes.life import Life
from tests.crashes.moments import Moment, after, before
from tests.crashes.steps import ARCHIVED, CLOSED, INTENT, LOGGED, POSTED, met
from tests.hands import Json
from tests.journeys.shop import SESSIONS

THREADS = 5


@dataclass(frozen=True, slots=True)
class TwinStep:
    """One place to die, and how many replies stand and are logged by then; `then`: where the next start dies."""

    name: str
    kill: Moment
    posted: int
    logged: int
    then: Moment | None = None


STEPS = (
    TwinStep("intent names the twins", after(INTENT), 0, 0),
    TwinStep("first logged, no twin claimed", after(LOGGED), 1, 1),
    TwinStep("two of four twins claimed", after(INTENT, nth=3), 1, 1),
    TwinStep("all claimed, first not closed", before(CLOSED), 1, 1),
    TwinStep("first closed, no twin posted", after(CLOSED), 1, 1),
    TwinStep("third post: before", before(POSTED, nth=3), 2, 2),
    TwinStep("third post: not logged", before(LOGGED, nth=3), 3, 2),
    TwinStep("third post: logged, not closed", before(CLOSED, nth=3), 3, 3),
    TwinStep("fourth not archived", before(ARCHIVED, nth=4), 4, 4),
    TwinStep("recovery: before the second post", after(INTENT, nth=5), 1, 1, then=before(POSTED)),
    TwinStep("recovery: third not logged", before(POSTED, nth=3), 2, 2, then=before(LOGGED)),
)
CHOSEN = met(STEPS) + met(STEPS, engine="postgres")

Record = Callable[[str, object], None]


@dataclass
class Five:
    """The same question in five threads; `first` has the card."""

    first: Life
    others: list[Life]

    def offer(self) -> Json | None:
        """Return the card once it lists the other threads and can be approved."""
        card = self.first.offer()
        return card if card is not None and f"{THREADS - 1} other threads" in shown_text(card) else None

    def approve(self) -> None:
        """Click "Answer there too", once."""
        card = self.first.control.wait_for(self.offer, "a card with the twins")
        button = find_element(card, ids.ANSWER_TOO)
        assert button is not None
        with suppress(ProviderError, InputError):  # the bot may die under the approver's hands
            self.first.control.click(OPS.channel_id, card["ts"], ANA.user_id, **button.click_fields())

    @property
    def all(self) -> list[Life]:
        """Every thread."""
        return [self.first, *self.others]

    def posted(self) -> list[int]:
        """Return how many replies stand in each thread."""
        return [len(life.replies()) for life in self.all]

    def logged(self) -> list[str]:
        """Return the threads of the log's lines."""
        return [str(line["thread_id"]) for line in self.first.kept.records("replies")]

    def settle(self) -> None:
        """Wait until every thread is archived and nothing waits."""
        try:
            self.first.control.wait_for(lambda: all(life.is_settled() for life in self.all), "all five to be settled")
        except ProviderError as error:
            raise AssertionError(f"{error}\n{[life.left() for life in self.all]}\n{self.first.log[-4000:]}") from error

    def ended_well(self) -> None:
        """Check what stands at Slack's end and on record."""
        assert self.posted() == [1] * THREADS
        assert sorted(self.logged()) == sorted(life.thread_id for life in self.all)
        assert [len(life.archived()) for life in self.all] == [1] * THREADS
        assert [len(life.cards()) for life in self.all] == [1, 0, 0, 0, 0]
        assert {life.archived()[0]["resolution"] for life in self.all} == {"approved"}
        assert [life.left()["reactions"] for life in self.all] == [["white_check_mark"]] * THREADS
        assert self.first.left()["corrupt"] == []


def five(life: Life) -> Five:
    """Let people ask the same in five threads."""
    life.ask(SESSIONS)
    life.control.wait_for(lambda: life.left()["status"], "the first to be taken up")
    return Five(life, [life.beside(SESSIONS, user=asker.user_id) for asker in (BEN, CHLOE) * 2])


@pytest.mark.parametrize(("engine", "step"), CHOSEN)
def test_a_bot_killed_while_it_answers_five_threads_answers_each_once(
    life: Life, engine: str, step: TwinStep, record_property: Record
) -> None:
    """One click, and whatever happened to the process: five replies, five lines, nobody clicks again."""
    record_property("crash_step", f"{engine}, twins: {step.name}")
    life.start(step.kill)
    threads = five(life)
    threads.approve()
    life.dies(step.name, decision="none")
    assert (sum(threads.posted()), len(threads.logged())) == (step.posted, step.logged)
    if step.then is not None:
        life.start(step.then)
        life.dies(f"{step.name}: {step.then}", decision="none")
    life.start()
    threads.settle()
    life.stop()
    threads.ended_well()


def test_a_twins_reply_that_slack_took_and_never_confirmed_is_not_posted_twice(life: Life) -> None:
    """The bot dies with the answer to its third post under way; the next one finds the reply and adopts it."""
    life.start()
    threads = five(life)
    life.control.wait_for(threads.offer, "a card with the twins")
    life.dies_without_the_answer(rf'{POSTED}.*"thread_ts": "{threads.others[1].ts}"')
    threads.approve()
    life.dies("the third post", decision="none")
    assert sum(threads.posted()) == 3
    life.start()
    threads.settle()
    life.stop()
    threads.ended_well()
