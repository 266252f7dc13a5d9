"""A run's progress reaches the card now and then, and never after what comes next."""

from __future__ import annotations

import threading
from pathlib import Path

from bot.agent.model_run import RunProgress, progress_line, report_progress
from bot.domain.threads import PendingReason, Resolution, ThreadStatus
from bot.errors import ProviderError
from tests.builders import THREAD_ID, in_status
from tests.casework.office import Office

WAIT_S = 120.0


def test_only_the_latest_is_shown_and_only_once() -> None:
    """However often a run reports."""
    shown: list[str] = []
    seen = threading.Event()

    def show(line: str) -> None:
        shown.append(line)
        if line.startswith("49 "):
            seen.set()

    with report_progress(show, every_s=0.05) as report:
        for calls in range(50):
            report(RunProgress(tool_calls=calls, thinking="x"))
        assert seen.wait(WAIT_S)
        threading.Event().wait(0.2)
    assert shown[-1] == "49 tool calls · thinking: x"
    assert len(set(shown)) == len(shown) < 50


def test_what_was_not_shown_is_shown_again() -> None:
    """Though nothing new happens meanwhile."""
    seen = threading.Event()
    answers = [False, True]

    def show(_: str) -> bool:
        if len(answers) == 1:
            seen.set()
        return answers.pop(0)

    with report_progress(show, every_s=0.05) as report:
        report(RunProgress(tool_calls=1))
        assert seen.wait(WAIT_S)
        threading.Event().wait(0.2)
    assert answers == []


def test_nothing_is_shown_after_the_run() -> None:
    """Leaving waits for an update under way and begins no other."""
    shown: list[str] = []
    with report_progress(shown.append, every_s=0.05) as report:
        report(RunProgress(tool_calls=1, thinking=""))
    count = len(shown)
    threading.Event().wait(0.2)
    assert len(shown) == count


def test_a_short_run_shows_nothing() -> None:
    """The first word comes after a pause."""
    shown: list[str] = []
    with report_progress(shown.append, every_s=600) as report:
        report(RunProgress(tool_calls=1, thinking="x"))
    assert shown == []


def test_the_end_of_long_thinking_is_what_is_shown() -> None:
    """The latest words, on one line, about 120 characters of them."""
    line = progress_line(RunProgress(tool_calls=2, thinking="a\n" * 400 + "the end"))
    assert line.startswith("2 tool calls · thinking: …")
    assert line.endswith("a the end")
    assert len(line) < 150


def test_the_card_shows_it(tmp_path: Path) -> None:
    """On the card that stands already."""
    office = Office(tmp_path).asked()
    office.service.cards.show_progress(THREAD_ID, "3 tool calls")
    assert office.messenger.cards[0].progress == ["3 tool calls"]
    assert len(office.messenger.cards) == 1


def test_a_chat_that_is_away_stops_no_run(tmp_path: Path) -> None:
    """It is logged."""
    office = Office(tmp_path).asked()

    def refuse(*_: object, **__: object) -> tuple[str, str]:
        raise ProviderError("Slack could not be reached")

    office.messenger.show_card = refuse  # type: ignore[method-assign]
    office.service.cards.show_progress(THREAD_ID, "3 tool calls")


def test_a_thread_without_a_card_or_without_life_gets_none(tmp_path: Path) -> None:
    """A card is opened by the orchestrator, and closed for good."""
    office = Office(tmp_path)
    office.service.cards.show_progress(THREAD_ID, "x")
    office.store.put(in_status(ThreadStatus.INVESTIGATING))
    office.service.cards.show_progress(THREAD_ID, "x")
    assert office.messenger.cards == []


def test_what_a_human_decided_meanwhile_is_shown_last(tmp_path: Path) -> None:
    """The update carries the state of a moment ago; the newer one follows it."""
    office = Office(tmp_path).asked()
    show_card = office.messenger.show_card

    def slow(*args: object, **kwargs: object) -> tuple[str, str]:
        if kwargs.get("progress"):
            state = office.store.get(THREAD_ID)
            assert state is not None
            closed = state.close(Resolution.DISMISSED, at=office.clock.now(), why="dismissed by <@U2>")
            office.store.put(closed)
            office.store.archive(THREAD_ID)
        return show_card(*args, **kwargs)  # type: ignore[arg-type]

    office.messenger.show_card = slow  # type: ignore[method-assign]
    office.service.cards.show_progress(THREAD_ID, "x")
    assert office.shown.status is ThreadStatus.CLOSED
    assert office.shown.pending_reason is not PendingReason.APPROVAL
