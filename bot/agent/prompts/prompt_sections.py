"""How a run is laid out for the provider: what never changes first, marked for caching; this run's data after it.

Tools, system and prefix blocks are the same bytes in every run of a kind: all but the first read them from the cache.

Foreign text in a prompt, kept apart as data: named, tagged with its sender, closed by what nobody can forge.

Pure but for the token it draws. The token stands in no text of the prompt, so no text can close its own section or open
another; names and senders are ours to quote, as JSON, and hold no line end.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anthropic

from bot.agent.cost import bare_model_id
from bot.agent.model_run import RunRequest
from bot.domain.text.sanitize import strip_hidden

_EPHEMERAL: Final = {"type": "ephemeral"}
_NO_ADAPTIVE_THINKING: Final = re.compile(
    r"claude-(?:(?:instant|[123])\b|haiku-4|(?:sonnet|opus)-4(?:-[015])?(?:[-@]20|$))"
)
"""Families from before adaptive thinking; the API answers a request for it with 400."""
_SHAPE: Final = "Your last message is one JSON object and nothing else, valid under this JSON schema:\n"

FINISH: Final = "Stop here: {why}. Answer now with what you have, as the one JSON object, without calling a tool."
REPAIR: Final = "That answer could not be read: {why}. Answer again with the one JSON object and nothing else."


def fixed_params(client: object, request: RunRequest, *, structured: bool) -> dict[str, Any]:
    """Return what every call of a run has in common, messages and tools aside.

    Args:
        client: The SDK's client; only the vendor's own API marks the growing history for caching by itself.
        request: The run.
        structured: Have the provider hold the answer to its schema; otherwise the prompt asks for it.
    """
    schema = anthropic.transform_schema(request.answer)
    texts = [request.system, *request.prefix]
    if not structured:
        texts.append(_SHAPE + json.dumps(schema, ensure_ascii=False))
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    system[-1]["cache_control"] = _EPHEMERAL
    params: dict[str, Any] = {"model": request.model, "max_tokens": request.limits.max_tokens, "system": system}
    if structured:
        params["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if not _NO_ADAPTIVE_THINKING.match(bare_model_id(request.model)):
        params["thinking"] = {"type": "adaptive", "display": "summarized"}
    if isinstance(client, anthropic.Anthropic):
        params["cache_control"] = _EPHEMERAL
    return params


def build_first_message(request: RunRequest) -> dict[str, Any]:
    """Return the message that opens a run: its data, the end of the second cached stretch."""
    return {"role": "user", "content": [{"type": "text", "text": request.prompt, "cache_control": _EPHEMERAL}]}


def render_sections(history: list[Any], words: str) -> list[Any]:
    """Return the history with our words at its end, in the last message if that is ours already."""
    block = {"type": "text", "text": words}
    if history[-1]["role"] == "user":
        return [*history[:-1], {"role": "user", "content": [*history[-1]["content"], block]}]
    return [*history, {"role": "user", "content": [block]}]


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
