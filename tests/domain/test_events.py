"""A message as the bot sees it."""

from __future__ import annotations

from bot.domain.events import thread_key
from tests.builders import THREAD_ID, an_event


def test_threads_of_one_ts_in_two_channels_are_two() -> None:
    """A Slack ts is unique only in its channel; a reply belongs to its parent's thread."""
    assert thread_key(an_event()) == THREAD_ID
    assert thread_key(an_event(chat_id="C2")) != THREAD_ID
    assert thread_key(an_event(ts="1795165300.000200", thread_id="1795165200.000100")) == THREAD_ID
