"""One at a time, and later what could not be shown now: pure order, no chat, and time stands still."""

from __future__ import annotations

import threading

import pytest

from bot.casework.turns import LONGEST_S, RETRY_S, Turns
from bot.errors import ProviderError

WAIT_S = 120.0


def test_one_card_is_shown_by_one_at_a_time() -> None:
    """Whoever comes meanwhile is told so; other cards are not concerned."""
    turns = Turns()
    with turns.exclusive("a") as first, turns.exclusive("a") as second, turns.exclusive("b") as other:
        assert (first, second, other) == (True, False, True)
    with turns.exclusive("a") as again:
        assert again


def test_a_turn_is_given_back_whatever_happens() -> None:
    """An error in it included."""
    turns = Turns()
    with pytest.raises(ProviderError), turns.exclusive("a"):
        raise ProviderError("refused")
    with turns.exclusive("a") as mine:
        assert mine


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


def test_no_card_waits_longer_than_a_minute() -> None:
    """Whatever Slack asks; and at the end none waits."""
    now = [100.0]
    turns = Turns(lambda: now[0])
    turns.postpone("a", 86_400)
    now[0] += LONGEST_S
    assert turns.next() == "a"
    turns.postpone("a", 86_400)
    assert turns.next(at_once=True) == "a"
