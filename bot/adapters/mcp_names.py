"""Names of MCP tools as a model may call them: the server's name first, letters the API allows, no two alike.

Pure. Source: the Messages API takes tool names that match ^[a-zA-Z0-9_-]{1,128}$.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

MAX_NAME_CHARS: Final = 128
SEPARATOR: Final = "__"


def tool_names(server: str, tools: Sequence[str]) -> list[str]:
    """Return the name of each tool of a server, in their order; of two that would be alike each gets a mark of its own.

    >>> tool_names("grafana", ["query", "list.alerts", "list/alerts"])
    ['grafana__query', 'grafana__list_alerts_48f3db', 'grafana__list_alerts_b209a9']
    """
    plain = [f"{server}{SEPARATOR}{re.sub('[^a-zA-Z0-9_-]', '_', tool)}" for tool in tools]
    times = Counter(name[:MAX_NAME_CHARS] for name in plain)
    return [
        name if len(name) <= MAX_NAME_CHARS and times[name] == 1 else _marked(name, tool)
        for name, tool in zip(plain, tools, strict=True)
    ]


def _marked(name: str, tool: str) -> str:
    mark = f"_{hashlib.sha256(tool.encode()).hexdigest()[:6]}"
    return name[: MAX_NAME_CHARS - len(mark)] + mark
