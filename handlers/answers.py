"""What came of a click is said where its person is: beside the card in the ops channel, or on top of their App Home."""

from __future__ import annotations

import logging
from typing import Any

from blocks import ids
from handlers.dialogues import give_back
from handlers.home import HomeTab
from handlers.messenger import Ephemeral
from handlers.who import who

log = logging.getLogger(__name__)

Body = dict[str, Any]


class Answers:
    """Speaks to one person at a time; since a click may have changed what waits, all open pages follow at once."""

    def __init__(self, tell: Ephemeral, home: HomeTab, *, ops_channel: str) -> None:
        self._tell, self._home, self._ops_channel = tell, home, ops_channel

    def say(self, body: Body, text: str, about: str = "", *, typed: str | None = None) -> None:
        """Answer a click or a submit; a chat that does not take the answer is logged.

        `about` is the question it is about, for who may approve; beside the card nobody has to be told. `typed` is what
        was submitted in vain: it is given back in the ops channel, or in private to who is not there.
        """
        user, team = who(body)
        at_home = ids.is_from_home(body)
        if at_home:
            self._home.say(user, team, text, about)
        if typed or not at_home:
            give_back(self._tell, self._ops_channel, user, text, typed)
        if not at_home:
            self._home.refresh()
