"""What people and channels are called, as Slack told it anyway, for readers outside Slack such as the terminal."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from bot.domain.text.humanize import Names
from bot.domain.text.sanitize import one_line
from bot.errors import StoreError
from bot.ports.collections import PEOPLE, SingleDocument
from bot.ports.storage import Documents

log = logging.getLogger(__name__)

MAX_NAMES: Final = 2_000
MAX_NAME_CHARS: Final = 40
_NAMES: Final = "names"


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
