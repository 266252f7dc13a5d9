"""One `/triage …` as it arrives: who typed what, and where. Whatever Slack sends is read as hostile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bot.domain.hidden import storable
from bot.domain.typed import Line, read_line

NAME_CHARS: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Typed:
    """A typed command; `channel_id` is where, which may be a channel the bot is not in."""

    line: Line
    user_id: str
    team_id: str
    user_name: str
    channel_id: str
    trigger_id: str

    @classmethod
    def of(cls, body: dict[str, Any]) -> Typed:
        """Return what a slash command's body says."""
        user = _text(body, "user_id")
        return cls(
            line=read_line(storable(_text(body, "text"))),
            user_id=user,
            team_id=_text(body, "team_id") or _text(body, "enterprise_id"),
            user_name=storable(_text(body, "user_name") or user or "somebody")[:NAME_CHARS],
            channel_id=_text(body, "channel_id"),
            trigger_id=_text(body, "trigger_id"),
        )

    @property
    def who(self) -> tuple[str, str]:
        """The user and their team."""
        return self.user_id, self.team_id


def _text(body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""
