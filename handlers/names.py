"""Names of people and channels by Slack id, for readers outside Slack, such as the terminal.

The running bot writes a name when Slack tells it one anyway. Nothing but names is kept.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from bot.domain.text.sanitize import one_line
from bot.errors import StoreError
from bot.ports.collections import PEOPLE, SingleDocument
from bot.ports.storage import Documents

log = logging.getLogger(__name__)

MAX_NAMES: Final = 2_000
MAX_NAME_CHARS: Final = 40
_NAMES: Final = "names"
_MENTION: Final = re.compile(r"<(?:[@#]|!subteam\^)([A-Z0-9]{2,25})(?:\|[^<>|\n]{0,80})?>")


class Names:
    """Names by id, as they were last learned; an id without one stays an id."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}

    def name(self, slack_id: str) -> str:
        """Return `@name` of a person, `#name` of a channel, or the id.

        >>> Names({"U0ANA": "ana", "C0HELP": "help"}).name("U0ANA"), Names().name("U0ANA")
        ('@ana', 'U0ANA')
        """
        known = self._names.get(slack_id)
        return f"{'#' if slack_id[:1] in 'CG' else '@'}{known}" if known else slack_id

    def text(self, text: str) -> str:
        """Return text whose mentions are names.

        >>> Names({"U0ANA": "ana", "C0HELP": "help"}).text("<@U0ANA> in <#C0HELP|x> asked <@U9>")
        '@ana in #help asked U9'
        """
        return _MENTION.sub(lambda found: self.name(found[1]), text)


class NameBook:
    """The names that are stored: at most `MAX_NAMES`; the one that was learned first gives way."""

    def __init__(self, documents: Documents) -> None:
        self._stored = SingleDocument(documents, PEOPLE)
        self._known: dict[str, str] | None = None

    def names(self) -> Names:
        """Return what is stored; no names where it cannot be read."""
        try:
            return Names(_names_in(self._stored.read()))
        except StoreError:
            return Names()

    def learn(self, slack_id: str, name: object) -> None:
        """Store a name if it is new; a disk that refuses is logged, for names are only for reading."""
        short = one_line(name, MAX_NAME_CHARS) if isinstance(name, str) else ""
        try:
            if self._known is None:
                self._known = _names_in(self._stored.read())
            if not short or short == slack_id or self._known.get(slack_id) == short:
                return
            self._stored.change(lambda now: _with_name(now, slack_id, short))
            self._known = _names_in(self._stored.read())
        except StoreError as error:
            log.info("a name was not stored: %s", error, extra={"action": "name_unstored"})


def _names_in(stored: Mapping[str, Any]) -> dict[str, str]:
    names = stored.get(_NAMES)
    return {key: str(name) for key, name in names.items()} if isinstance(names, dict) else {}


def _with_name(stored: Mapping[str, Any], slack_id: str, name: str) -> dict[str, Any]:
    names = {**_names_in(stored), slack_id: name}
    return {**stored, _NAMES: dict(list(names.items())[-MAX_NAMES:])}
