"""One MCP server, for use from any thread: connected at first use, and connected again once if the connection broke.

One task of the portal's event loop holds the SDK's client from start to end (its scopes may not change tasks). A child
process gets PATH, HOME and the variables that its settings name. The SDK limits the time of every request; a server
that cannot be reached is not tried again for `REST_S`, so that not every run waits for it.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import anyio
import httpx2
from anyio.from_thread import BlockingPortal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult
from mcp_types import Tool as Offered

from bot.config.environment import NETWORK_VARIABLES
from bot.config.model_settings import VARIABLE, McpServerSettings
from bot.errors import ProviderError

_EVENTS_S: Final = 300.0  # how long a stream of server events may be silent
_T = TypeVar("_T")

REST_S: Final = 30.0
MAX_PAGES: Final = 20

_CANNOT_CONNECT: Final = (OSError, MCPError, httpx2.HTTPError, ExceptionGroup)


class ConnectionLost(ProviderError):
    """The connection is gone, or was never made; a new one may work."""


class ConnectionTimeout(ProviderError):
    """The server did not answer in time; the connection stands."""


class Refused(ProviderError):
    """The server answered that it will not; the message is the server's."""


class _Link(NamedTuple):
    """An open connection, which ends with `held`."""

    client: Client
    held: AbstractContextManager[Client]


def headers(settings: McpServerSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a server with the values of their variables; absent ones count as empty."""
    return {
        name: VARIABLE.sub(lambda match: environ.get(match[1], "").strip(), value)
        for name, value in settings.headers.items()
    }


def _process(settings: McpServerSettings, environ: Mapping[str, str]) -> StdioServerParameters:
    assert settings.command is not None
    program, *args = settings.command
    named = {name: environ[name] for name in NETWORK_VARIABLES.union(settings.env) if name in environ}
    return StdioServerParameters(command=program, args=args, env=named)


class McpServer:
    """The server `name`; `portal` returns the event loop that connections live in.

    Connecting, listing and each call may take `timeout_s`.
    """

    def __init__(
        self,
        name: str,
        settings: McpServerSettings,
        environ: Mapping[str, str],
        portal: Callable[[], BlockingPortal],
        *,
        timeout_s: float,
    ) -> None:
        self.name = name
        self._settings, self._environ, self._portal = settings, environ, portal
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._link: _Link | None = None
        self._tools: list[Offered] | None = None
        self._down: tuple[float, ConnectionLost] | None = None

    def tools(self) -> list[Offered]:
        """Return the tools a model may use, by name; raises ConnectionLost, ConnectionTimeout or Refused."""
        tools = self._tools
        if tools is None:
            listed = self._ask(_list_tools)
            tools = sorted((tool for tool in listed if self._is_allowed(tool)), key=lambda tool: tool.name)
            self._tools = tools
        return tools

    def call(self, tool: Offered, arguments: Mapping[str, Any]) -> CallToolResult:
        """Return what a tool answers; raises ConnectionLost, ConnectionTimeout or Refused.

        After a broken connection the call is made again, unless the tool may have changed something.
        """
        return self._ask(
            lambda client: client.call_tool(tool.name, dict(arguments), read_timeout_seconds=self._timeout_s),
            again=_is_read_only(tool),
        )

    def close(self) -> None:
        """End the connection and, with it, the child process; a later use would make a new one."""
        self._drop(self._link)

    def _ask(self, question: Callable[[Client], Awaitable[_T]], *, again: bool = True) -> _T:
        link = self._current()
        try:
            return self._answer(link, question)
        except ConnectionLost:
            self._drop(link)
            if not again:
                raise ConnectionLost("the connection broke off; whether the call took effect is unknown") from None
        return self._answer(self._current(), question)

    def _answer(self, link: _Link, question: Callable[[Client], Awaitable[_T]]) -> _T:
        try:
            return self._portal().call(question, link.client)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise ConnectionLost("the connection broke off") from error
            if error.code == REQUEST_TIMEOUT:
                raise ConnectionTimeout(self._late()) from error
            raise Refused(error.message) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise ConnectionLost("the connection is gone") from error

    def _late(self) -> str:
        return f"no answer within {self._timeout_s:g} s"

    def _current(self) -> _Link:
        """Return the open connection, made anew if need be; raises ConnectionLost."""
        with self._lock:
            if self._link is not None:
                return self._link
            if self._down is not None and time.monotonic() < self._down[0]:
                raise ConnectionLost(str(self._down[1]))
            try:
                held = self._portal().wrap_async_context_manager(self._connected())
                self._link, self._down = _Link(held.__enter__(), held), None
            except _CANNOT_CONNECT as error:
                is_late = isinstance(error, TimeoutError)
                lost = ConnectionLost(self._late() if is_late else "it cannot be started or reached")
                self._down = (time.monotonic() + REST_S, lost)
                raise lost from error
            return self._link

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        with anyio.fail_after(self._timeout_s) as connecting:
            async with Client(self._transport(), read_timeout_seconds=self._timeout_s) as client:
                connecting.deadline = math.inf
                yield client

    def _drop(self, link: _Link | None) -> None:
        with self._lock:
            if link is None or self._link is not link:
                return
            self._link = None
        with suppress(*_CANNOT_CONNECT):  # it broke; what is left of it is gone
            link.held.__exit__(None, None, None)

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        if self._settings.url is not None:
            limits = httpx2.Timeout(self._timeout_s, read=_EVENTS_S)
            async with (
                httpx2.AsyncClient(headers=headers(self._settings, self._environ), timeout=limits) as web,
                streamable_http_client(self._settings.url, http_client=web) as streams,
            ):
                yield streams
        else:
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
                async with stdio_client(_process(self._settings, self._environ), errlog=nowhere) as streams:
                    yield streams

    def _is_allowed(self, tool: Offered) -> bool:
        if self._settings.tools is not None:
            return tool.name in self._settings.tools
        return _is_read_only(tool)


def _is_read_only(tool: Offered) -> bool:
    hints = tool.annotations
    return hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True


async def _list_tools(client: Client) -> Sequence[Offered]:
    """Return every tool of a server, page by page."""
    found: list[Offered] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
