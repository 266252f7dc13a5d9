"""One `/triage …` as it arrives: who typed what, and where. Whatever Slack sends is read as hostile.

What every command does with its words: nothing by guess. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.commands.command_line import CommandLine, read_line
from bot.domain.commands.command_specs import MANUAL
from bot.domain.text.sanitize import storable
from bot.errors import InputError
from handlers.clicks import NAME_CHARS


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedCommand:
    """A typed command; `channel_id` is where, which may be a channel the bot is not in."""

    line: CommandLine
    user_id: str
    team_id: str
    user_name: str
    channel_id: str
    trigger_id: str

    @classmethod
    def from_payload(cls, body: dict[str, Any]) -> TypedCommand:
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


SHOWN_CHARS = 80


def reject_extra_words(path: str, given: Sequence[str]) -> None:
    """Refuse words that a command which changes something takes no notice of; `given` is what follows its path.

    Raises:
        InputError: there are more words than the manual names.

    >>> reject_extra_words("heartbeat off", ["shop"])
    """
    entry = MANUAL[path]
    if entry.extra_words is None or len(given) <= entry.extra_words:
        return
    extra = " ".join(given[entry.extra_words :])[:SHOWN_CHARS]
    raise InputError(
        f"Nothing was changed: this command does not accept “{extra}”.",
        next_step=f"Usage: /triage {entry.form}. More: /triage help {entry.path}",
    )
