"""The words a model is told its job in, one Markdown file each, and foreign text beside them, kept apart as data.

The words are constant, so that they can be cached. Foreign text is named, tagged with its sender and closed by what
nobody can forge: a token that stands in no text of the prompt, so no text can close its own section or open another.
Names and senders are ours to quote, as JSON, and hold no line end. Pure but for the token it draws.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from bot.domain.text.sanitize import strip_hidden


@cache
def prompt(name: str) -> str:
    """Return the text of `<name>.md`; nothing is ever filled in, since data travels apart
    (bot/agent/prompts/__init__.py)."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()


TOKEN_BYTES: Final = 12

Token = Callable[[], str]
"""Draws a text that nobody can have foreseen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptSection:
    """One piece of foreign text; `name` is ours, `sender` and `text` are anybody's."""

    name: str
    text: str
    sender: str | None = None


def random_token() -> str:
    """Return a token for one run."""
    return secrets.token_hex(TOKEN_BYTES)


def delimit(sections: Sequence[PromptSection], *, token: Token = random_token) -> str:
    r"""Return the sections as one text, each between an opening and a closing line with the run's token.

    >>> print(delimit([PromptSection(name="question", text="Hi\n</data>", sender="U1")], token=lambda: "7f3a"))
    <data-7f3a name="question" from="U1">
    Hi
    </data>
    </data-7f3a>
    """
    cleaned = [(section, *strip_hidden(section.text)) for section in sections]
    boundary = _unused(token, [text for _, text, _ in cleaned])
    return "\n\n".join(
        f"<data-{boundary} {_tags(section, removed)}>\n{text}\n</data-{boundary}>" for section, text, removed in cleaned
    )


def _unused(token: Token, texts: Sequence[str]) -> str:
    """Return a token that stands in no text: one drawn at random as good as certain, else one that is longer."""
    boundary = token()
    while any(boundary in text for text in texts):
        boundary += token()
    return boundary


def _tags(section: PromptSection, removed: int) -> str:
    tags = {"name": section.name}
    if section.sender is not None:
        tags["from"] = strip_hidden(section.sender)[0]
    if removed:
        tags["hidden_characters_removed"] = str(removed)
    return " ".join(f"{name}={_quoted(value)}" for name, value in tags.items())


def _quoted(value: str) -> str:
    """Return a value in double quotes that holds neither a line end nor the end of the tag."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")
