"""How a run is laid out for the provider: what never changes first, marked for caching; this run's data after it.

Tools, system and prefix blocks are the same bytes in every run of a kind: all but the first read them from the cache.
"""

from __future__ import annotations

import re
from typing import Any, Final

import anthropic

from bot.agent.cost import bare_model_id
from bot.agent.model_run import RunRequest

_EPHEMERAL: Final = {"type": "ephemeral"}
_NO_ADAPTIVE_THINKING: Final = re.compile(
    r"claude-(?:(?:instant|[123])\b|haiku-4|(?:sonnet|opus)-4(?:-[015])?(?:[-@]20|$))"
)
"""Families from before adaptive thinking; the API answers a request for it with 400."""

FINISH: Final = "Stop here: {why}. Answer now with what you have, as the one JSON object, without calling a tool."
REPAIR: Final = "That answer could not be read: {why}. Answer again with the one JSON object and nothing else."


def fixed_params(client: object, request: RunRequest) -> dict[str, Any]:
    """Return what every call of a run has in common, messages and tools aside.

    Args:
        client: The SDK's client; only the vendor's own API marks the growing history for caching by itself.
        request: The run; the provider holds its answer to the schema.
    """
    schema = anthropic.transform_schema(request.answer)
    system: list[dict[str, Any]] = [{"type": "text", "text": text} for text in (request.system, *request.prefix)]
    system[-1]["cache_control"] = _EPHEMERAL
    params: dict[str, Any] = {"model": request.model, "max_tokens": request.limits.max_tokens, "system": system}
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
