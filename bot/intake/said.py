"""The words of a Slack message: its text, and for a bot's also what it puts into blocks and attachments. Pure.

Alert bots often leave the text empty and write everything into an attachment. Of a person's message the text alone
counts: what else hangs there is a preview or another person's message. Credentials are blacked out here, so that none
reaches a journal, a state, a card or a model.
Sources: https://docs.slack.dev/reference/objects/attachment-object, https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bot.domain.secrets import redact

MAX_READ_CHARS: Final = 100_000
MAX_CHARS: Final = 12_000
"""Of what a bot wrote beside its text."""
_PREVIEWS: Final = ("from_url", "original_url", "is_msg_unfurl", "is_app_unfurl", "is_share")
_NESTED: Final = ("text", "elements", "fields")
_ONE_LINE: Final = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote"})
_MAX_DEPTH: Final = 8


def words_of(message: Mapping[str, Any]) -> str:
    """Return what a message says, without credentials; half characters are replaced, which no file can hold.

    Raises:
        ValueError: its text is no text.

    >>> words_of({"bot_id": "B1", "text": "", "attachments": [{"title": "HighLatency", "text": "p99 over 2 s"}]})
    'HighLatency\\np99 over 2 s'
    """
    text = message.get("text")
    if not isinstance(text, str | None):
        raise ValueError("event with an unusable text")  # noqa: TRY004 - a wrong payload
    words = text or ""
    if message.get("bot_id"):
        blocks = [] if words.strip() else _lines(message.get("blocks"))
        beside = redact("\n".join([*blocks, *_attached(message)])[:MAX_READ_CHARS])
        words = "\n".join(filter(None, [words, beside[:MAX_CHARS]]))
    return redact(words.encode("utf-8", "replace").decode())


def is_edited(message: Mapping[str, Any], before: str | None) -> bool:
    """Whether its words are no longer those of `before` because its author changed them.

    Slack marks what was edited, but not where a bot changed its blocks; then the words have to be known from before.
    Source: https://docs.slack.dev/reference/methods/chat.update (`blocks`)
    """
    is_marked = bool(message.get("edited")) or (bool(message.get("bot_id")) and before is not None)
    return is_marked and words_of(message) != before


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the attachments that the bot itself wrote; previews of links come and go later."""
    attachments = message.get("attachments")
    for one in attachments if isinstance(attachments, list) else ():
        if not isinstance(one, Mapping) or any(one.get(mark) for mark in _PREVIEWS):
            continue
        written = [line for key in ("pretext", "title", "text") for line in _lines(one.get(key))]
        written += [": ".join(pair) for pair in _pairs(one.get("fields"))]
        written += _lines(one.get("blocks"))
        yield from written or _lines(one.get("fallback"))


def _pairs(fields: object) -> Iterator[list[str]]:
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, Mapping):
            yield [line for key in ("title", "value") for line in _lines(field.get(key))]


def _lines(content: object, depth: int = 0) -> list[str]:
    """Return the texts of a string, a block or a list of blocks, a line each; the pieces of a rich text are joined."""
    if isinstance(content, str):
        return [content] if content.strip() else []
    if depth > _MAX_DEPTH:
        return []
    if isinstance(content, list):
        return [line for each in content for line in _lines(each, depth + 1)]
    if not isinstance(content, Mapping):
        return []
    if content.get("type") == "actions":
        return []
    found = [line for key in _NESTED for line in _lines(content.get(key), depth + 1)]
    return ["".join(found)] if found and str(content.get("type")) in _ONE_LINE else found
