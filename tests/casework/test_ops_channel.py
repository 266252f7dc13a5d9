"""Lines for the ops channel wait out an outage."""

from __future__ import annotations

from bot.casework.ops_channel import MAX_WAITING, OpsLines, OpsOutbox
from bot.domain.threads import ThreadState
from bot.errors import Unavailable
from tests.fakes import FakeClock, RecordingMessenger


class MoodyMessenger(RecordingMessenger):
    """Refuses while `down`."""

    down = False

    def tell_ops(self, text: str) -> None:
        """Say a line, or raise as an unreachable chat does."""
        if self.down:
            raise Unavailable("Slack could not be reached")
        super().tell_ops(text)

    def show_card(self, state: ThreadState) -> tuple[str, str]:
        """Not asked for here."""
        raise AssertionError(state.thread_id)


def test_what_could_not_be_said_is_said_later_in_order() -> None:
    """Nothing is lost and nothing is said twice."""
    messenger = MoodyMessenger()
    lines = OpsOutbox(messenger, OpsLines(FakeClock()))
    messenger.down = True
    lines.say("one")
    lines.say("two")
    assert messenger.told == []
    messenger.down = False
    lines.flush()
    lines.say("three")
    lines.flush()
    assert messenger.told == ["one", "two", "three"]


def test_a_long_outage_keeps_the_newest_lines() -> None:
    """The memory is bounded; the log has everything."""
    messenger = MoodyMessenger()
    lines = OpsOutbox(messenger, OpsLines(FakeClock()))
    messenger.down = True
    for number in range(MAX_WAITING + 5):
        lines.say(str(number))
    messenger.down = False
    lines.flush()
    assert len(messenger.told) == MAX_WAITING
    assert messenger.told[-1] == str(MAX_WAITING + 4)


def test_what_comes_late_says_of_when_it_is() -> None:
    """A line of before the outage is not taken for one of now."""
    messenger, clock = MoodyMessenger(), FakeClock()
    lines = OpsOutbox(messenger, OpsLines(clock))
    messenger.down = True
    lines.say("the disk is full")
    clock.advance(4 * 60)
    lines.say("the disk has room")
    clock.advance(60)
    messenger.down = False
    lines.flush()
    assert messenger.told == ["From 2026-11-20 09:00 UTC, sent late: the disk is full", "the disk has room"]
