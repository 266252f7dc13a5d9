"""Names of people and channels in place of their Slack ids, for readers outside Slack. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

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
