"""What came of a click is said where its person is: beside the card in the ops channel, or on top of their App Home."""

from __future__ import annotations

import logging
from typing import Any

from blocks import ids
from handlers.home import HomeTab
from handlers.messenger import Ephemeral, answer
from handlers.who import who

log = logging.getLogger(__name__)

Body = dict[str, Any]


class Answers:
    """Speaks to one person at a time; since a click may have changed what waits, all open pages follow at once."""

    def __init__(self, tell: Ephemeral, home: HomeTab, *, ops_channel: str) -> None:
        self._tell, self._home, self._ops_channel = tell, home, ops_channel

    def say(self, body: Body, text: str, about: str = "") -> None:
        """Answer a click or a submit; a chat that does not take the answer is logged.

        `about` is the question it is about, for who may approve; beside the card nobody has to be told.
        """
        user, team = who(body)
        if ids.is_from_home(body):
            self._home.say(user, team, text, about)
            return
        answer(self._tell, self._ops_channel, user, text)
        self._home.refresh()
