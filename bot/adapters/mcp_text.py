"""What MCP servers say, as a model reads it: plain text, redacted, then cut, with an honest last line.

Pure. Nothing is neutralised: what a server says is data, and whoever builds the prompt delimits it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ResourceLink, TextContent, TextResourceContents

from bot.domain.secrets import redact

MAX_CHARS: Final = 24_000
MAX_REDACTED_CHARS: Final = 2_000_000
QUERY_KEYS: Final = ("query", "expr", "q", "sql", "logql", "promql", "filter", "search")
"""Arguments that hold what a person would call the query."""


def result_text(result: CallToolResult, known_secrets: Collection[str] = ()) -> str:
    """Return the text of a result; what is no text is named as left out."""
    parts = [_block(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [canonical(result.structured_content)]
    return capped("\n".join(parts) or "(no output)", known_secrets)


def capped(text: str, known_secrets: Collection[str] = ()) -> str:
    """Return a text without credentials and within MAX_CHARS."""
    clean = redact(text[:MAX_REDACTED_CHARS], known_secrets)
    total = len(clean) + max(0, len(text) - MAX_REDACTED_CHARS)
    if total <= MAX_CHARS:
        return clean
    return f"{clean[:MAX_CHARS]}\ntruncated: {MAX_CHARS} of {total} characters shown; narrow the query"


def canonical(value: Any) -> str:
    """Return one spelling of a JSON value.

    >>> canonical({"b": 1, "a": "ü"})
    '{"a":"ü","b":1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def citable_queries(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts under which a call may be cited: its arguments, and what is called a query among them.

    >>> citable_queries({"expr": "rate(errors[5m])", "step": 60})
    ['{"expr":"rate(errors[5m])","step":60}', 'rate(errors[5m])']
    """
    named = [value for key in QUERY_KEYS if isinstance(value := arguments.get(key), str) and value.strip()]
    return [canonical(arguments), *named]


def _block(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource):
        inner = block.resource
        return inner.text if isinstance(inner, TextResourceContents) else f"[{inner.uri} left out: no text]"
    if isinstance(block, ResourceLink):
        return f"[link: {block.uri}]"
    return f"[{block.type} left out: {block.mime_type}]"
