"""Offers the tools of every configured MCP server to a model's run.

Servers are connected at first use; one event loop in one thread serves all servers and runs. A server that is down is
offered as one tool that says so. Results are plain text, redacted, then cut; they are not neutralised, because the
prompt delimits them as data.
Source: the Messages API takes tool names that match ^[a-zA-Z0-9_-]{1,128}$.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ResourceLink, TextContent, TextResourceContents
from mcp_types import Tool as Offered

from bot.adapters.mcp_connection import ConnectionLost, McpServer, headers
from bot.agent.tools.base import Tool, ToolProblem
from bot.config.model_settings import McpServerSettings
from bot.domain.secrets import redact
from bot.errors import ConfigError, ProviderError

TIMEOUT_S: Final = 60.0
MAX_NAME_CHARS: Final = 128
SEPARATOR: Final = "__"

MAX_CHARS: Final = 24_000
MAX_REDACTED_CHARS: Final = 2_000_000
MAX_DESCRIPTION_CHARS: Final = 2_000
_SECRET_NAME: Final = re.compile(r"(?i)token|key|secret|pass|auth|cred|dsn")
_NO_ARGUMENTS: Final = {"type": "object", "properties": {}}
_log = logging.getLogger(__name__)


def _tool_names(server: str, tools: Sequence[str]) -> list[str]:
    """Return the name of each tool of a server, in their order; of two that would be alike each gets a mark of its own.

    >>> _tool_names("grafana", ["query", "list.alerts", "list/alerts"])
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


def _result_text(result: CallToolResult, known_secrets: Collection[str]) -> str:
    """Return the text of a result; what is no text is named as left out."""
    parts = [_block(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [_canonical(result.structured_content)]
    return capped("\n".join(parts) or "(no output)", known_secrets)


def capped(text: str, known_secrets: Collection[str]) -> str:
    """Return a text without credentials and within MAX_CHARS."""
    clean = redact(text[:MAX_REDACTED_CHARS], known_secrets)
    total = len(clean) + max(0, len(text) - MAX_REDACTED_CHARS)
    if total <= MAX_CHARS:
        return clean
    return f"{clean[:MAX_CHARS]}\ntruncated: {MAX_CHARS} of {total} characters shown; narrow the query"


def _canonical(value: Any) -> str:
    """Return one spelling of a JSON value.

    >>> _canonical({"b": 1, "a": "ü"})
    '{"a":"ü","b":1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _block(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource):
        inner = block.resource
        return inner.text if isinstance(inner, TextResourceContents) else f"[{inner.uri} left out: no text]"
    if isinstance(block, ResourceLink):
        return f"[link: {block.uri}]"
    return f"[{block.type} left out: {block.mime_type}]"


class McpServers:
    """The servers of `config` by name, their secrets taken from `environ`; safe to use from any thread.

    Connecting to a server, listing its tools and each call may take `timeout_s`.

    Raises:
        ConfigError: a header names a variable that is not set (at construction).
    """

    def __init__(
        self,
        config: Mapping[str, McpServerSettings],
        environ: Mapping[str, str] | None = None,
        *,
        known_secrets: Collection[str] = (),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._config = config
        self._environ = os.environ if environ is None else environ
        _check_variables(config, self._environ)
        self._known_secrets = frozenset(known_secrets) | self.secrets()
        self._servers = [
            McpServer(name, one, self._environ, self._open_portal, timeout_s=timeout_s) for name, one in config.items()
        ]
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._is_closed = False

    def secrets(self) -> frozenset[str]:
        """Return the secret values that servers are given, for scrubbing."""
        named = {name for one in self._config.values() for name in one.variables()}
        named |= {name for one in self._config.values() for name in one.env if _SECRET_NAME.search(name)}
        return frozenset(value for name in named if len(value := self._environ.get(name, "").strip()) >= 8)

    def tools(self) -> list[Tool]:
        """Return every tool a model may use, by name; connects where need be."""
        if not self._servers:
            return []
        with ThreadPoolExecutor(len(self._servers)) as pool:
            found = pool.map(lambda server: list(self._tools_of(server)), self._servers)
            return sorted((tool for tools in found for tool in tools), key=lambda tool: tool.name)

    def close(self) -> None:
        """End every connection and child process; calls after that are refused."""
        for server in self._servers:
            server.close()
        with self._lock:
            self._is_closed = True
        self._stack.close()

    def _open_portal(self) -> BlockingPortal:
        with self._lock:
            if self._is_closed:
                raise ConnectionLost("the bot is shutting down")
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal(name="mcp"))
            return self._portal

    def _tools_of(self, server: McpServer) -> Iterator[Tool]:
        try:
            offered = server.tools()
        except ProviderError as error:
            _log.warning(
                "An MCP server is down", extra={"action": "mcp_down", "server": server.name, "why": str(error)}
            )
            yield _unavailable(server.name, str(error))
            return
        for name, tool in zip(_tool_names(server.name, [one.name for one in offered]), offered, strict=True):
            yield self._tool(name, server, tool)

    def _tool(self, name: str, server: McpServer, offered: Offered) -> Tool:
        text = capped(offered.description or offered.title or offered.name, self._known_secrets)
        schema = {**offered.input_schema, "type": "object"}
        call = partial(self._answer, server, offered)
        return Tool(name=name, description=text[:MAX_DESCRIPTION_CHARS], call=call, schema=schema)

    def _answer(self, server: McpServer, offered: Offered, given: Mapping[str, Any]) -> str:
        try:
            result = server.call(offered, given)
        except ProviderError as error:
            raise ToolProblem(f"{server.name} does not answer: {capped(str(error), self._known_secrets)}") from error
        text = _result_text(result, self._known_secrets)
        if result.is_error:
            raise ToolProblem(f"{server.name} reports an error: {text}")
        return text


def _unavailable(server: str, why: str) -> Tool:
    """Return a stand-in for the tools of a server that is down, so that the model knows what it could not look at."""
    problem = f"{server} does not answer: {why}"

    def call(_: Any) -> str:
        raise ToolProblem(f"{problem}; say in the draft that {server} could not be consulted")

    name = f"{server}{SEPARATOR}unavailable"
    return Tool(
        name=name, description=f"{problem}. Its tools are missing from this run.", call=call, schema=_NO_ARGUMENTS
    )


def _check_variables(config: Mapping[str, McpServerSettings], environ: Mapping[str, str]) -> None:
    problems = [
        f"mcp_servers.{name}.headers: {variable} is not set; put it into the environment or .env"
        for name, one in config.items()
        for variable in sorted(one.variables())
        if not environ.get(variable, "").strip()
    ]
    problems += [
        f"mcp_servers.{name}.headers: the value of {header} cannot be sent; a variable of it holds a line end"
        for name, one in config.items()
        for header, value in headers(one, environ).items()
        if not value.isprintable()
    ]
    if problems:
        raise ConfigError(*problems)
